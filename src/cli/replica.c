#include "cli/replica.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "serve/metrics.h"

enum { KEY_FILE_BYTES_MAX = 4096 };

static void print_replica_line(void *context, const char *line)
{
    wt__cli_note(context, "whichtool: %s", line);
}

int wt__read_secret_file(struct cli *cli, enum option_id id, const char **out)
{
    const char *path = wt__option_text(cli, id);
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    wt_error err;
    *out = NULL;
    if (!path)
        return 0;
    if (wt__file_read(&text, &len, path, KEY_FILE_BYTES_MAX, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    *out = wt__arena_copy(&cli->arena, wt__str_trim((struct str){text, strcspn(text, "\n")}));
    return *out ? 0 : wt__cli_report(cli, END_SYSTEM, "out of memory");
}

/* Refuses options that need --follow. */
static int refuse_replica_options(const struct cli *cli)
{
    static const struct {
        enum option_id id;
        const char *name;
    } needing[] = {{OPT_CACHE, "cache"}, {OPT_POLL, "poll"}, {OPT_TOKEN, "token"}, {OPT_WRITER_KEY, "writer-key"}};
    for (size_t i = 0; i < sizeof needing / sizeof *needing; i++)
        if (wt__has_option(cli, needing[i].id))
            return wt__cli_usage(cli, "--%s needs --follow", needing[i].name);
    return 0;
}

int wt__replica_open(struct cli *cli, struct replica *replica)
{
    struct follow_options options = {.location = wt__option_text(cli, OPT_FOLLOW_PUBLICATION),
                                     .cache = wt__option_text(cli, OPT_CACHE),
                                     .poll_ms = (unsigned)cli->arguments.number[OPT_POLL],
                                     .say = print_replica_line,
                                     .say_context = cli};
    wt_error err;
    if (!options.location)
        return refuse_replica_options(cli);
    if (wt__has_option(cli, OPT_STORE))
        return wt__cli_usage(cli, "--follow brings its own store; leave -s out");
    WT_TRY(wt__read_secret_file(cli, OPT_TOKEN, &options.token));
    if (wt__follower_open(&replica->follower, &options, &err) < 0)
        return wt__cli_fail_input(cli, &err);
    cli->store = wt__follower_store(replica->follower);
    const char *policy = wt__follower_policy(replica->follower);
    if (policy && wt__has_option(cli, OPT_SERVERS) && !wt__has_option(cli, OPT_POLICY)) {
        cli->arguments.given[OPT_POLICY] = true;
        cli->arguments.text[OPT_POLICY] = policy;
    }
    return 0;
}

int wt__replica_check(const struct cli *cli, const struct replica *replica, wt_engine *engine)
{
    wt_error err;
    if (!replica->follower || wt__follower_check_encoder(replica->follower, engine, &err) == 0)
        return 0;
    return wt__cli_fail(cli, &err);
}

int wt__replica_start(struct cli *cli, struct replica *replica, wt_engine *engine)
{
    struct usage_spool_options options = {.say = print_replica_line, .say_context = cli};
    struct follower_info info;
    wt_error err;
    if (!replica->follower)
        return 0;
    WT_TRY(wt__read_secret_file(cli, OPT_WRITER_KEY, &options.key));
    wt__follower_info(replica->follower, &info);
    options.cache = wt__follower_cache(replica->follower);
    options.writer = info.writer;
    int rc = wt__usage_spool_open(&replica->spool, engine, &options, &err);
    if (rc == 0)
        rc = wt__follower_start(replica->follower, engine, &err);
    return rc < 0 ? wt__cli_fail(cli, &err) : 0;
}

void wt__replica_close(struct replica *replica)
{
    wt__follower_close(replica->follower);
    wt__usage_spool_close(replica->spool);
    *replica = (struct replica){.follower = NULL};
}

void wt__replica_metrics(void *context, struct buffer *out)
{
    struct replica *replica = context;
    struct follower_info info;
    struct usage_spool_counts counts;
    wt__follower_info(replica->follower, &info);
    wt__usage_spool_count(replica->spool, &counts);
    wt__metric_write(out, "whichtool_replica_generation", "gauge", "Generation of the replica's catalogue.",
                     (double)info.generation);
    wt__metric_write(out, "whichtool_replica_checked_seconds", "gauge",
                     "Time since the publication was last read without an error; -1 if never.",
                     info.checked_ms < 0 ? -1 : info.checked_ms / 1000);
    wt__metric_write(out, "whichtool_replica_applied_total", "counter", "Publications applied.", (double)info.applied);
    wt__metric_write(out, "whichtool_replica_refused_total", "counter", "Publications refused, or not reachable.",
                     (double)info.refused);
    wt__metric_write(out, "whichtool_replica_bytes_total", "counter", "Bytes read from the publication.",
                     (double)info.bytes);
    wt__metric_write(out, "whichtool_replica_usage_segments_waiting", "gauge",
                     "Segments of usage that wait for the writer.", (double)counts.waiting);
    wt__metric_write(out, "whichtool_replica_usage_segments_delivered_total", "counter",
                     "Segments of usage that the writer has confirmed.", (double)counts.delivered);
    wt__metric_write(out, "whichtool_replica_usage_segments_refused_total", "counter",
                     "Segments of usage that the writer has refused.", (double)counts.refused);
}
