/* judge.h: a fake language model that writes requests, gives verdicts on them, and compares texts. Its requests read "I
 * want D1 and also D2, ...", where D1 and D2 are descriptions of tools, and the right verdict follows from the text. In
 * comparisons the model prefers texts beginning with "Well". The members of struct fake_judge make the model err, give
 * unusable answers, or fail. */
#ifndef WT_TESTS_GENERATE_JUDGE_H
#define WT_TESTS_GENERATE_JUDGE_H

#include "generate/writer.h"

struct fake_judge {
    struct chat_model model;
    double nonsense;          /* share of unusable answers */
    double over, partial;     /* shares of requests that do not need one of the tools, or need more than the tools */
    bool repeats_itself;      /* all requests for the same tools are the same */
    const char *always;       /* answer to every comparison: "one" or "other"; NULL for the right one */
    bool says_exact;          /* gives the verdict "exact" on every request */
    unsigned long fail_after; /* questions before it fails; 0 for never */
    int failure;              /* error code of the failure */
    atomic_ulong asked;       /* questions so far */
};

#define JUDGE_AND " and also " /* between two needs of a request */

/* Returns the description in the line "name: description" of a tool. */
static inline struct str judge_description(struct str line)
{
    const char *colon = memmem(line.ptr, line.len, ": ", 2);
    return colon ? (struct str){colon + 2, line.len - (size_t)(colon + 2 - line.ptr)} : (struct str){"", 0};
}

/* Writes a request for the tools in the prompt. */
static inline void judge_request(const struct fake_judge *judge, const struct chat_question *question, struct rng *rng,
                                 struct buffer *out)
{
    struct str tools[10];
    size_t count = writer_items(question->text, "tools", tools, 10);
    const double kind = wt__rng_unit(rng);
    const size_t first = kind < judge->over && count > 1 ? 1 : 0;
    wt__buffer_text(out, "{\"instruction\": \"I want ");
    for (size_t i = first; i < count; i++) {
        wt__buffer_text(out, i > first ? JUDGE_AND : "");
        wt__buffer_str(out, judge_description(tools[i]));
    }
    if (kind >= judge->over && kind < judge->over + judge->partial)
        wt__buffer_text(out, JUDGE_AND "something that there is nowhere");
    if (!judge->repeats_itself) {
        wt__buffer_text(out, ", for");
        for (int i = 0; i < 12; i++)
            wt__buffer_printf(out, " %s %llu", writer_pick(rng, writer_things, WRITER_THINGS),
                              (unsigned long long)wt__rng_below(rng, 1000));
    }
    wt__buffer_text(out, "\"}");
}

/* Writes the verdict: compares the needs in the request with the tools in the prompt. */
static inline void judge_set(const struct chat_question *question, struct buffer *out)
{
    struct str tools[32], request = writer_slot(question->text, "request");
    size_t count = writer_items(question->text, "tools", tools, 32), needed = 0, wishes = 1;
    for (size_t i = 0; i < count; i++) {
        const struct str said = judge_description(tools[i]);
        needed += said.len > 0 && memmem(request.ptr, request.len, said.ptr, said.len) != NULL;
    }
    for (const char *at = request.ptr;
         (at = memmem(at, (size_t)(request.ptr + request.len - at), JUDGE_AND, strlen(JUDGE_AND))); at++)
        wishes++;
    wt__buffer_printf(out, "{\"reason\": \"It is so.\", \"verdict\": \"%s\"}",
                      needed < wishes  ? "partial"
                      : count > needed ? "over"
                                       : "exact");
}

/* Writes a comparison of the two texts in the prompt. */
static inline void judge_pair(const struct fake_judge *judge, const struct chat_question *question, struct buffer *out)
{
    const bool one = wt__str_starts(writer_slot(question->text, "one"), STR("Well")),
               other = wt__str_starts(writer_slot(question->text, "other"), STR("Well"));
    const char *said = judge->always ? judge->always : one == other ? "tie" : one ? "one" : "other";
    wt__buffer_printf(out, "{\"naturalness\": \"%s\", \"fluency\": \"%s\", \"coherence\": \"tie\"}", said, said);
}

static inline int judge_ask(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                            struct chat_answer *out, wt_error *err)
{
    struct fake_judge *judge = (struct fake_judge *)model;
    const struct stage_subject *subject = question->subject;
    unsigned char digest[32];
    uint64_t seed;
    struct rng rng;
    struct buffer text = {0};
    unsigned long asked = atomic_fetch_add(&judge->asked, 1);
    if (judge->fail_after && asked >= judge->fail_after)
        return wt__fail(err, judge->failure, "it fails after %lu questions", judge->fail_after);
    wt__sha256(question->text.ptr, question->text.len, digest);
    memcpy(&seed, digest, sizeof seed);
    wt__rng_seed(&rng, seed ^ question->seed);
    *out = (struct chat_answer){.prompt_tokens = 100, .completion_tokens = 20, .attempts = 1, .ms = 1};
    if (wt__rng_unit(&rng) < judge->nonsense)
        wt__buffer_text(&text, writer_pick(&rng, writer_nonsense, WRITER_NONSENSE));
    else if (subject->stage == STAGE_REQUESTS)
        judge_request(judge, question, &rng, &text);
    else if (subject->stage == STAGE_COMPARISONS)
        judge_pair(judge, question, &text);
    else if (judge->says_exact)
        wt__buffer_text(&text, "{\"verdict\": \"exact\"}");
    else
        judge_set(question, &text);
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    wt__buffer_dispose(&text);
    return wt__answer_parse(&out->json, out->text, question->schema, err);
}

static inline struct fake_judge make_judge(void)
{
    return (struct fake_judge){.model = {"judge", judge_ask}};
}

#endif
