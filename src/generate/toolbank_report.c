/* toolbank_report.c: report.json of wt_generate_toolbank. Two runs with the same answers write the same report. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "generate/report.h"
#include "generate/toolbank.h"

/* Results of the paper's own run (Tool2Vec, section 3 and appendix C.4). */
static const char paper[] =
    "{\"from\":\"Tool2Vec, ToolBank\",\"sets\":["
    "{\"set\":\"NumpyBank\",\"tools\":511,\"requests\":20000,\"combinations\":19530},"
    "{\"set\":\"PandasBank\",\"tools\":1655,\"requests\":70000,\"combinations\":69550},"
    "{\"set\":\"AWSBank\",\"tools\":1002,\"requests\":73000,\"combinations\":70816}],"
    "\"requests_are\":\"rounded\",\"drawn\":10,\"picked\":\"2 to 5\",\"examples\":\"5; 3 in the released script\","
    "\"temperature\":0.9,\"writer\":\"Llama-3-70B-Instruct\"}";

/* Counts requests by their number of tools and by what the tools have in common. */
static void write_request_kinds(const struct toolbank *t, struct buffer *out)
{
    size_t sizes[REQUEST_TOOLS_MAX + 1] = {0}, kinds[WITHINS] = {0}, tools = 0;
    const char *comma = "";
    for (size_t i = 0; i < t->set.count; i++) {
        const struct generated_request *request = &t->set.requests[i];
        sizes[request->tool_count]++;
        tools += request->tool_count;
        kinds[wt__tool_draw_within(&t->draw, request->tools, request->tool_count)]++;
    }
    wt__buffer_text(out, "\"sizes\":{");
    for (size_t size = 1; size <= REQUEST_TOOLS_MAX; size++) {
        if (sizes[size] == 0)
            continue;
        wt__buffer_printf(out, "%s\"%zu\":%zu", comma, size, sizes[size]);
        comma = ",";
    }
    wt__buffer_printf(out, "},\"mean_tools\":%.2f,\"within\":{",
                      (double)tools / (double)(t->set.count ? t->set.count : 1));
    for (enum draw_within within = 0; within < WITHINS; within++)
        wt__buffer_printf(out, "%s\"%s\":%zu", within ? "," : "", wt__within_name(within), kinds[within]);
    wt__buffer_char(out, '}');
}

/* Writes how similar the tools of a request are: the mean cosine over all pairs of all requests. */
static void write_coherence(const struct toolbank *t, struct buffer *out)
{
    double sum = 0;
    size_t pairs = 0;
    for (size_t i = 0; i < t->set.count; i++) {
        const struct generated_request *request = &t->set.requests[i];
        for (size_t a = 0; a < request->tool_count; a++)
            for (size_t b = a + 1; b < request->tool_count; b++, pairs++)
                sum += wt__tool_draw_cosine(&t->draw, request->tools[a], request->tools[b]);
    }
    wt__buffer_printf(out, ",\"mean_cosine_of_pairs\":%.3f", pairs ? sum / (double)pairs : 0);
}

/* Writes the distribution of train requests over the able tools of the corpus. */
static void write_usage_counts(const struct toolbank *t, struct buffer *out)
{
    size_t count = 0, *used = wt__alloc_array(t->draw.count + 1, sizeof *used);
    if (!used) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < t->draw.count; i++)
        if (t->draw.tools[i].is_able && !t->draw.tools[i].is_out)
            used[count++] = t->draw.tools[i].used;
    wt__sort_sizes(used, count);
    wt__buffer_printf(out, ",\"usages\":{\"wanted\":%zu,\"least\":%zu,\"median\":%zu,\"most\":%zu,\"tools_short\":%zu}",
                      t->options.usages, count ? used[0] : 0, count ? used[count / 2] : 0, count ? used[count - 1] : 0,
                      wt__tool_draw_count_short(&t->draw));
    free(used);
}

static void write_trial(const struct toolbank *t, struct buffer *out)
{
    const struct toolbank_trial *trial = &t->trial;
    wt__buffer_printf(out,
                      ",\"trial\":{\"answers\":%" PRIu64 ",\"repeat_the_prompt\":%" PRIu64
                      ",\"break_the_schema\":%" PRIu64 ",\"name_unknown_tools\":%" PRIu64
                      ",\"lead_to_none_of_their_tools\":%" PRIu64 ",\"refused\":%s}",
                      trial->answers, trial->repeating, trial->broken, trial->unknown, trial->astray_requests,
                      trial->is_refused ? "true" : "false");
}

void wt__toolbank_report(const struct toolbank *t, bool complete, struct buffer *out)
{
    const struct request_set *set = &t->set;
    wt__buffer_printf(out, "{\"settings\":%s,\"complete\":%s,\"model\":", t->session.settings.ptr,
                      complete ? "true" : "false");
    wt__buffer_json(out, wt__str(t->session.model->name));
    wt__buffer_printf(out,
                      ",\"tools\":%zu,\"able\":%zu,\"left_out\":%zu,\"taken_out\":%zu,\"asked\":%zu,\"requests\":%zu",
                      t->draw.count - t->draw.taken_out, t->draw.able_count, t->draw.left_out, t->draw.taken_out,
                      t->asked, set->count);
    wt__buffer_printf(out, ",\"train\":%zu,\"dev\":%zu,\"test\":%zu,\"unanswerable\":%zu", set->splits[SPLIT_TRAIN],
                      set->splits[SPLIT_DEV], set->splits[SPLIT_TEST], set->unanswerable);
    wt__buffer_printf(out, ",\"combinations\":%zu,\"combinations_share\":%.4f,\"combinations_in_two_splits\":%zu,",
                      set->combinations.len, (double)set->combinations.len / (double)(set->count ? set->count : 1),
                      set->in_two_splits);
    write_request_kinds(t, out);
    write_coherence(t, out);
    write_usage_counts(t, out);
    wt__buffer_printf(out, ",\"polish\":{\"good\":%zu,\"rewritten\":%zu}", t->good, t->rewritten);
    write_trial(t, out);
    wt__buffer_char(out, ',');
    wt__stages_report(&t->session.asker, out);
    wt__buffer_printf(out, ",\"paper\":%s}", paper);
}
