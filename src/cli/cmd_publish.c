/* cmd_publish.c: `whichtool publish`: writes the store to a folder that replicas follow, once or on each change. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/replica.h"
#include "replica/publish.h"
#include "replica/upload.h"

enum { WATCH_SLEEP_MS = 50, WATCH_RETRY_MS = 2000 };

static void close_publisher(struct publisher **publisher)
{
    wt__publisher_close(*publisher);
}

static void close_upload(struct upload **upload)
{
    wt__upload_close(*upload);
}

static int print_publication(struct cli *cli, const struct publish_report *report, const char *where)
{
    struct buffer out = {0};
    if (cli->json) {
        wt__buffer_char(&out, '{');
        wt__json_text(&out, "published", where);
        wt__json_count(&out, "generation", report->generation);
        wt__json_count(&out, "rows", report->put);
        wt__json_count(&out, "deleted", report->deleted);
        wt__json_count(&out, "bytes", report->bytes);
        wt__json_flag(&out, "whole", report->whole);
        wt__buffer_text(&out, "}\n");
    } else if (!report->changed) {
        wt__buffer_printf(&out, "%s is up to date: generation %" PRIu64 ".\n", where, report->generation);
    } else {
        wt__buffer_printf(&out, "Published generation %" PRIu64 " to %s: %" PRIu64 " row%s", report->generation, where,
                          report->put, report->put == 1 ? "" : "s");
        wt__buffer_printf(&out, " written, %" PRIu64 " removed, %" PRIu64 " bytes.\n", report->deleted, report->bytes);
    }
    return wt__cli_print(&out) && wt__cli_finish() == 0 ? 0 : END_SYSTEM;
}

static int stop_if_interrupted(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return wt__interrupted();
}

/* Publishes once. Uploads also what an earlier attempt could not upload. */
static int publish_once(struct publisher *publisher, struct upload *upload, struct publish_report *report,
                        wt_error *err)
{
    struct progress progress;
    WT_TRY(wt__publisher_publish(publisher, report, err));
    wt__progress_init(&progress, stop_if_interrupted, NULL);
    int rc = upload ? wt__upload_run(upload, &progress, err) : 0;
    wt__progress_dispose(&progress);
    return rc;
}

/* Sleeps until the time, or until Ctrl-C or SIGTERM. */
static void sleep_until(double until_ms)
{
    while (!wt__interrupted() && wt__now_ms() < until_ms)
        nanosleep(&(struct timespec){.tv_nsec = WATCH_SLEEP_MS * 1000000L}, NULL);
}

/* Publishes on each change until the process is stopped. An error is reported, and the next attempt follows later. */
static int watch_store(struct cli *cli, struct publisher *publisher, struct upload *upload, const char *where)
{
    struct publish_report report;
    wt_error err;
    double poll_ms = cli->arguments.number[OPT_POLL] ? (double)cli->arguments.number[OPT_POLL] : PUBLISH_POLL_MS;
    while (!wt__interrupted()) {
        double begun = wt__now_ms();
        int rc = publish_once(publisher, upload, &report, &err);
        if (rc == WT_ECANCELLED)
            break;
        if (rc < 0)
            wt__cli_fail(cli, &err);
        else if (report.changed && print_publication(cli, &report, where) != 0)
            return END_SYSTEM;
        sleep_until(begun + (rc < 0 ? WATCH_RETRY_MS : poll_ms));
    }
    return END_DONE;
}

static int run_publisher(struct cli *cli, const struct publish_options *options, const char *where, bool is_address)
{
    WT_CLEANUP(wt__close_engine) wt_engine *engine = NULL;
    WT_CLEANUP(close_publisher) struct publisher *publisher = NULL;
    WT_CLEANUP(close_upload) struct upload *upload = NULL;
    struct publish_report report;
    const char *token;
    wt_error err;
    WT_TRY(wt__read_secret_file(cli, OPT_TOKEN, &token));
    WT_TRY(wt__cli_open(cli, OPEN_EXISTING, NULL, &engine));
    int rc = wt__publisher_open(&publisher, engine, options, &err);
    if (rc == 0 && is_address)
        rc = wt__upload_open(&upload, options->folder, where, token, &err);
    if (rc < 0)
        return wt__cli_fail(cli, &err);
    if (wt__has_option(cli, OPT_WATCH))
        return watch_store(cli, publisher, upload, where);
    if (publish_once(publisher, upload, &report, &err) < 0)
        return wt__cli_fail(cli, &err);
    return print_publication(cli, &report, where);
}

int wt__cmd_publish(struct cli *cli)
{
    const char *where = cli->arguments.words[0];
    bool is_address = strncmp(where, "http://", 7) == 0 || strncmp(where, "https://", 8) == 0;
    struct publish_options options = {.folder = where,
                                      .writer = wt__option_text(cli, OPT_WRITER),
                                      .policy = wt__option_text(cli, OPT_POLICY),
                                      .grace_ms = 1000 * (unsigned)cli->arguments.number[OPT_GRACE],
                                      .vectors_wait_ms = wt__has_option(cli, OPT_WATCH) ? PUBLISH_VECTORS_WAIT_MS : 0};
    if (wt__has_option(cli, OPT_POLL) && !wt__has_option(cli, OPT_WATCH))
        return wt__cli_usage(cli, "--poll needs --watch");
    WT_TRY(wt__cli_find_store(cli));
    if (is_address) {
        struct buffer folder = {0};
        wt__buffer_printf(&folder, "%s-published", cli->store);
        options.folder = folder.failed ? NULL : wt__arena_copy(&cli->arena, wt__buffer_view(&folder));
        wt__buffer_dispose(&folder);
        if (!options.folder)
            return wt__cli_report(cli, END_SYSTEM, "out of memory");
    }
    wt__watch_end_signals();
    wt__watch_interrupt();
    return run_publisher(cli, &options, where, is_address);
}
