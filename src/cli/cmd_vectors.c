/* cmd_vectors.c: computes missing vectors of tools and of recorded requests. Each batch is stored when it is ready, so
 * that an interrupted run loses little and the next one continues. */
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/text.h"

struct vectors_outcome {
    wt_catalog_info before, after;
    int64_t learned; /* number of requests */
    double seconds;
};

static int print_vectors_outcome(const struct cli *cli, const struct vectors_outcome *o)
{
    struct buffer line = {0}, out = {0};
    uint64_t made = o->after.embedded - o->before.embedded;
    if (cli->json) {
        wt__buffer_char(&line, '{');
        wt__json_text(&line, "model", o->after.model);
        wt__json_count(&line, "made", made);
        wt__json_count(&line, "requests", (uint64_t)o->learned);
        wt__json_count(&line, "tools", o->after.tools);
        wt__json_count(&line, "embedded", o->after.embedded);
        wt__json_number(&line, "seconds", o->seconds);
        wt__buffer_text(&line, "}");
    } else if (made == 0 && o->learned == 0) {
        wt__buffer_text(&line, "All ");
        wt__put_grouped(&line, o->after.tools);
        wt__buffer_printf(&line, " tools have vectors of %s.", o->after.model);
    } else {
        wt__buffer_text(&line, "new vectors: ");
        wt__put_grouped(&line, made);
        wt__buffer_text(&line, " of tools, ");
        wt__put_grouped(&line, (uint64_t)o->learned);
        wt__buffer_printf(&line, " of requests; %.2f s", o->seconds);
    }
    wt__text_escape(&out, wt__buffer_view(&line), TEXT_LINE);
    wt__buffer_char(&out, '\n');
    out.failed |= line.failed;
    wt__buffer_dispose(&line);
    return wt__cli_print(&out) ? 0 : END_SYSTEM;
}

/* Computes the missing vectors. Returns 0 or the first error; finished vectors are stored in either case. */
static int compute_vectors(wt_engine *engine, struct progress_line *line, struct vectors_outcome *o, wt_error *err)
{
    int64_t made = wt_embed_missing(engine, wt__progress_show, line, err);
    o->learned = made < 0 ? 0 : wt_learn_usage(engine, wt__progress_show, line, err);
    wt__progress_clear();
    return made < 0 ? (int)made : o->learned < 0 ? (int)o->learned : 0;
}

static int report_stopped_vectors(struct cli *cli, wt_engine *engine, struct vectors_outcome *o)
{
    wt_error err;
    if (wt_info(engine, &o->after, &err) < 0)
        return wt__cli_fail(cli, &err);
    return wt__cli_report(cli, END_INTERRUPTED,
                          "stopped; %llu new vectors are stored, and %llu of %llu tools have one. The next `whichtool "
                          "vectors` continues",
                          (unsigned long long)(o->after.embedded - o->before.embedded),
                          (unsigned long long)o->after.embedded, (unsigned long long)o->after.tools);
}

int wt__cmd_vectors(struct cli *cli)
{
    struct vectors_outcome o = {0};
    struct progress_line line;
    wt_engine *engine;
    wt_error err;
    wt_catalog_info_init(&o.before);
    wt_catalog_info_init(&o.after);
    wt__watch_interrupt();
    int code = wt__cli_open(cli, OPEN_EXISTING, NULL, &engine);
    if (code != 0)
        return code;
    double begin = wt__now_ms();
    int rc = wt_info(engine, &o.before, &err);
    bool empty = rc == 0 && o.before.tools == 0;
    if (rc == 0 && !empty) {
        wt__progress_begin(&line, cli);
        rc = compute_vectors(engine, &line, &o, &err);
    }
    if (rc == 0 && !empty)
        rc = wt_info(engine, &o.after, &err);
    o.seconds = (wt__now_ms() - begin) / 1000;
    if (rc == WT_ECANCELLED)
        code = report_stopped_vectors(cli, engine, &o);
    else if (rc < 0)
        code = wt__cli_fail(cli, &err);
    else
        code = empty ? wt__cli_fail_empty(cli) : print_vectors_outcome(cli, &o);
    wt_close(engine);
    return code;
}
