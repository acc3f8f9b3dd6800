/* selection.c: lets a language model choose a tool. See language_model.h. Each step fills its part of the trace. If the
 * answer of a step is unusable, its part stays empty. */
#include "call/language_model.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/sha256.h"
#include "llm/plain_text.h"
#include "llm/prompt.h"

enum { VERIFIED_STEPS = 5, DIGEST_BYTES = 32 };

/* State of one selection; all members are borrowed. */
struct selection_run {
    struct selection_options options; /* with defaults filled in */
    const struct selection_candidate *candidates;
    const struct str *texts; /* [count] name and description of each candidate, for the prompts */
    size_t count;
    struct chat_model *model, *verifier;
    const struct call_request *request;
    struct arena *arena;
    struct selection_trace *trace;
};

/* --- questions ----------------------------------------------------------------------------------------------- */

static int keep_selection_exchange(const struct selection_run *s, const struct prompt *prompt,
                                   const struct chat_reply *reply, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    int rc = wt__chat_keep(&trace->exchanges[trace->exchange_count], &trace->cost, prompt, reply, s->arena, err);
    trace->exchange_count += rc == 0;
    return rc;
}

static int reject_selection_answer(const struct selection_run *s, const char *reason, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    return wt__chat_reject(&trace->exchanges[trace->exchange_count - 1], &trace->cost, reason, s->arena, err);
}

/* Asks the model one question and adds the exchange to the trace. */
static int ask_selection(const struct selection_run *s, struct chat_model *model, const struct prompt *prompt,
                         const struct prompt_value *values, size_t count, struct chat_question question,
                         struct chat_reply *reply, wt_error *err)
{
    question.progress = s->request->progress;
    wt__chat_put(reply, prompt, values, count, model, question);
    return keep_selection_exchange(s, prompt, reply, err);
}

/* The candidates listed in a question: item n of the prompt is candidate places[n - 1]. */
struct tool_listing {
    const size_t *places;
    struct str *items;
    size_t count;
};

/* Lists all candidates except `but`. If `but` is CALL_NO_CANDIDATE, lists all. */
static int list_other_candidates(const struct selection_run *s, size_t but, struct tool_listing *out, wt_error *err)
{
    size_t *places = wt__arena_array(s->arena, size_t, s->count);
    *out = (struct tool_listing){.places = places, .items = wt__arena_array(s->arena, struct str, s->count)};
    WT_CHECK_ALLOC(places && out->items, err);
    for (size_t i = 0; i < s->count; i++) {
        if (i == but)
            continue;
        places[out->count] = i;
        out->items[out->count++] = s->texts[i];
    }
    return 0;
}

/* Removes `prefix` from the start of the text. Returns false if the text starts differently. */
static bool skip_prefix(struct str *text, struct str prefix)
{
    if (!wt__str_starts(*text, prefix))
        return false;
    *text = (struct str){text->ptr + prefix.len, text->len - prefix.len};
    return true;
}

/* Returns the item of the tool with this name, alone or before ": DESCRIPTION". Returns 0 unless exactly one item has
 * the name; items are numbered from 1. */
static size_t find_named_item(const struct tool_listing *listing, struct str name)
{
    size_t found = 0, count = 0;
    for (size_t i = 0; i < listing->count; i++) {
        struct str rest = listing->items[i];
        if (!skip_prefix(&rest, name) || (rest.len > 0 && rest.ptr[0] != ':'))
            continue;
        found = i + 1;
        count++;
    }
    return count == 1 ? found : 0;
}

/* Reads an answer in the layout of ToolVerifier's data, to which a language model may be fine-tuned. The first line may
 * be missing. context: the listing. Returns NULL if the layout differs.
 *
 *   Thought: NOTE
 *   Act: CALLTOOL["NAME"] */
static json_t *read_calltool(const void *context, struct str text)
{
    struct str thought = STR(""), rest = wt__str_trim(text);
    if (skip_prefix(&rest, STR("Thought:"))) {
        const char *line = memchr(rest.ptr, '\n', rest.len);
        if (!line)
            return NULL;
        size_t len = (size_t)(line - rest.ptr);
        thought = wt__str_trim((struct str){rest.ptr, len});
        rest = wt__str_trim((struct str){line, rest.len - len});
    }
    if (!skip_prefix(&rest, STR("Act: CALLTOOL[")) || rest.len == 0 || rest.ptr[rest.len - 1] != ']')
        return NULL;
    json_auto_t *name = json_loadb(rest.ptr, rest.len - 1, JSON_DECODE_ANY, NULL);
    size_t item = json_string_length(name) > 0
                      ? find_named_item(context, (struct str){json_string_value(name), json_string_length(name)})
                      : 0;
    return item > 0 ? json_pack("{s:o, s:I}", "thought", wt__json_string(thought), "tool", (json_int_t)item) : NULL;
}

/* Reads the number of a listed tool. none: true if null is allowed. *out: the candidate, or CALL_NO_CANDIDATE. *said:
 * true if the answer is usable. */
static int read_tool_number(const struct selection_run *s, const json_t *answer, const struct tool_listing *listing,
                            bool none, size_t *out, bool *said, wt_error *err)
{
    size_t item = 0;
    enum numbered numbered = wt__numbered_read(answer, "tool", listing->count, none, &item);
    *out = numbered == NUMBERED_ITEM ? listing->places[item] : CALL_NO_CANDIDATE;
    *said = numbered != NUMBERED_UNUSABLE;
    return answer && !*said ? reject_selection_answer(s, "the answer is not the number of a listed tool", err) : 0;
}

/* --- the pick ----------------------------------------------------------------------------------------------------- */

/* The samples of a pick, asked concurrently. Only SELECTION_CONSISTENT has several samples. The other methods have
 * one sample at temperature 0. */
struct pick_samples {
    const struct selection_run *s;
    struct prompt prompt;
    json_t *schema;
    struct tool_listing listing;
    struct prompt_value values[3];
    size_t value_count;
    struct chat_reply *replies;
    size_t samples;
};

static int put_pick(void *context, size_t index, unsigned worker)
{
    struct pick_samples *p = context;
    const struct call_subject subject = {.step = CALL_PICK,
                                         .request = p->s->request,
                                         .sample = (unsigned)index,
                                         .listed = p->listing.places,
                                         .listed_count = p->listing.count};
    struct chat_question question = {.schema = p->schema,
                                     .subject = &subject,
                                     .progress = p->s->request->progress,
                                     .read_layout = read_calltool,
                                     .layout_context = &p->listing};
    (void)worker;
    if (p->s->options.method == SELECTION_CONSISTENT) {
        question.temperature = p->s->options.sampling.temperature;
        question.top_p = p->s->options.sampling.top_p;
        question.seed = (unsigned)index + 1;
    }
    return wt__chat_put(&p->replies[index], &p->prompt, p->values, p->value_count, p->s->model, question);
}

static int keep_step_arguments(const struct selection_run *s, const json_t *answer, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    const json_t *arguments = wt__json_object(answer, "arguments");
    if (!arguments)
        return 0;
    wt__json_write(&text, arguments);
    const char *copy = text.failed ? NULL : wt__arena_copy(s->arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(copy, err);
    s->trace->arguments = (struct str){copy, text.len};
    return 0;
}

/* Reads all picks, even if one of the questions failed. Returns the first error. */
static int read_picks(const struct pick_samples *p, wt_error *err)
{
    struct selection_trace *trace = p->s->trace;
    int rc = 0;
    for (size_t i = 0; i < p->samples; i++) {
        wt_error unused, *why = rc == 0 ? err : &unused;
        const struct chat_reply *reply = &p->replies[i];
        bool said = false;
        if (!reply->put)
            continue;
        int failed = keep_selection_exchange(p->s, &p->prompt, reply, why);
        if (failed == 0)
            failed = read_tool_number(p->s, reply->got.json, &p->listing, true, &trace->votes[trace->vote_count], &said,
                                      why);
        if (failed == 0 && said && p->s->options.method == SELECTION_SINGLE_STEP)
            failed = keep_step_arguments(p->s, reply->got.json, why);
        trace->vote_count += failed == 0 && said;
        rc = rc < 0 ? rc : failed;
    }
    return rc;
}

/* Returns the most frequent vote; at a tie, the vote that came first. CALL_NO_CANDIDATE counts as a vote. */
static size_t find_majority(const size_t *votes, size_t count)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += votes[j] == votes[i];
        if (same > most) {
            most = same;
            best = i;
        }
    }
    return votes[best];
}

/* Lists the demonstrations of the candidates; "-" if unknown. */
static int list_demonstrations(const struct selection_run *s, struct prompt_value *out, wt_error *err)
{
    struct str *items = wt__arena_array(s->arena, struct str, s->count);
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < s->count; i++)
        items[i] = wt__str_trim(s->candidates[i].demonstration).len > 0 ? s->candidates[i].demonstration : STR("-");
    *out = (struct prompt_value){.slot = "demonstrations", .items = items, .item_count = s->count};
    return 0;
}

static int run_selection_pick(const struct selection_run *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    bool one_shot = s->options.method == SELECTION_ONE_SHOT, single = s->options.method == SELECTION_SINGLE_STEP;
    struct pick_samples p = {.s = s, .samples = s->options.sampling.samples, .value_count = 2};
    p.replies = wt__arena_array(s->arena, struct chat_reply, p.samples);
    trace->votes = wt__arena_array(s->arena, size_t, p.samples);
    WT_CHECK_ALLOC(p.replies && trace->votes, err);
    int rc = list_other_candidates(s, CALL_NO_CANDIDATE, &p.listing, err);
    if (rc == 0 && (one_shot || single))
        rc = list_demonstrations(s, &p.values[p.value_count++], err);
    if (rc == 0)
        rc = wt__prompt_open(&p.prompt,
                             single     ? "call-single-step"
                             : one_shot ? "call-pick-one-shot"
                                        : "call-pick",
                             err);
    if (rc == 0)
        rc = wt__numbered_schema(&p.schema, p.prompt.schema, "tool", p.listing.count, err);
    p.values[0] = (struct prompt_value){.slot = "tools", .items = p.listing.items, .item_count = p.listing.count};
    p.values[1] = (struct prompt_value){.slot = "request", .text = s->request->text};
    if (rc == 0) {
        wt__pool_run(CALL_AT_ONCE, p.samples, put_pick, &p);
        rc = read_picks(&p, err);
    }
    for (size_t i = 0; i < p.samples; i++)
        wt__chat_reply_dispose(&p.replies[i]);
    json_decref(p.schema);
    wt__prompt_dispose(&p.prompt);
    if (rc < 0 || trace->vote_count == 0)
        return rc;
    trace->first = trace->chosen = find_majority(trace->votes, trace->vote_count);
    trace->end = trace->first == CALL_NO_CANDIDATE ? SELECTION_NONE : SELECTION_PICKED;
    return 0;
}

static int ask_choice(const struct selection_run *s, struct chat_model *model, const struct call_subject *subject,
                      const struct tool_listing *listing, struct str request, size_t *out, wt_error *err)
{
    const struct prompt_value values[] = {
        {.slot = "tools", .items = listing->items, .item_count = listing->count},
        {.slot = "request", .text = request},
    };
    WT_CLEANUP(wt__chat_reply_dispose) struct chat_reply reply = {0};
    WT_CLEANUP(wt__prompt_dispose) struct prompt prompt = {0};
    json_auto_t *schema = NULL;
    bool said;
    WT_TRY(wt__prompt_open(&prompt, "call-choose", err));
    WT_TRY(wt__numbered_schema(&schema, prompt.schema, "tool", listing->count, err));
    const struct chat_question question = {
        .schema = schema, .subject = subject, .read_layout = read_calltool, .layout_context = listing};
    WT_TRY(ask_selection(s, model, &prompt, values, sizeof values / sizeof *values, question, &reply, err));
    return read_tool_number(s, reply.got.json, listing, false, out, &said, err);
}

static int run_pick_again(const struct selection_run *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    struct tool_listing others;
    WT_TRY(list_other_candidates(s, trace->first, &others, err));
    if (others.count == 1) {
        trace->second = others.places[0];
        return 0;
    }
    const struct call_subject subject = {
        .step = CALL_PICK_AGAIN, .request = s->request, .listed = others.places, .listed_count = others.count};
    return ask_choice(s, s->model, &subject, &others, s->request->text, &trace->second, err);
}

/* Sets *out to the request followed by the contrastive question's answer. A long request is truncated; the answer is
 * not. */
static int append_contrast_answer(const struct selection_run *s, struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__plain_text(&text, s->request->text, SELECTION_MAX_REQUEST_BYTES);
    wt__buffer_char(&text, '\n');
    wt__buffer_str(&text, s->trace->answer);
    *out = (struct str){text.failed ? NULL : wt__arena_copy(s->arena, wt__buffer_view(&text)), text.len};
    return out->ptr ? 0 : wt__fail_nomem(err);
}

/* Lets the model decide between the two picked tools. They are listed in the order of the candidates, which does not
 * reveal the first pick. */
static int run_decision(const struct selection_run *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    bool answered = trace->answer.len > 0, ordered = trace->first < trace->second;
    const size_t places[] = {ordered ? trace->first : trace->second, ordered ? trace->second : trace->first};
    struct str items[] = {s->texts[places[0]], s->texts[places[1]]}, request = s->request->text;
    const struct tool_listing both = {places, items, 2};
    const struct call_subject subject = {
        .step = CALL_DECIDE, .request = s->request, .listed = places, .listed_count = 2, .answered = answered};
    size_t decided = CALL_NO_CANDIDATE;
    if (answered)
        WT_TRY(append_contrast_answer(s, &request, err));
    WT_TRY(ask_choice(s, s->verifier, &subject, &both, request, &decided, err));
    if (decided == CALL_NO_CANDIDATE)
        return 0;
    trace->chosen = decided;
    trace->end = decided == trace->first ? SELECTION_CONFIRMED : SELECTION_CORRECTED;
    return 0;
}

/* --- the contrastive question -------------------------------------------------------------------------------- */

static void hash_text(struct sha256 *sha, struct str text)
{
    char len[32]; /* the length is hashed first, so that a name and a description cannot be confused */
    wt__sha256_update(sha, len, (size_t)snprintf(len, sizeof len, "%zu:", text.len));
    wt__sha256_update(sha, text.ptr ? text.ptr : "", text.len);
}

static void hash_candidate(const struct selection_candidate *candidate, unsigned char digest[DIGEST_BYTES])
{
    struct sha256 sha;
    wt__sha256_begin(&sha);
    hash_text(&sha, candidate->name);
    hash_text(&sha, candidate->description);
    wt__sha256_end(&sha, digest);
}

/* The two picked tools, ordered by the hashes of their definitions. */
struct tool_pair {
    size_t places[2];
    char definitions[65]; /* as in struct contrast_key */
    bool alike;           /* same name and same description */
};

static struct tool_pair order_pair(const struct selection_run *s)
{
    const struct selection_trace *trace = s->trace;
    struct tool_pair pair = {.places = {trace->first, trace->second}};
    unsigned char digests[2][DIGEST_BYTES], both[DIGEST_BYTES];
    for (int i = 0; i < 2; i++)
        hash_candidate(&s->candidates[pair.places[i]], digests[i]);
    int order = memcmp(digests[0], digests[1], DIGEST_BYTES);
    pair.alike = order == 0;
    if (order > 0) {
        hash_candidate(&s->candidates[pair.places[0]], digests[1]);
        hash_candidate(&s->candidates[pair.places[1]], digests[0]);
        pair.places[0] = trace->second;
        pair.places[1] = trace->first;
    }
    wt__sha256(digests, sizeof digests, both);
    wt__sha256_hex(both, pair.definitions);
    return pair;
}

static int read_plain_words(const struct selection_run *s, const json_t *answer, const char *member, struct str *out,
                            wt_error *err)
{
    if (wt__plain_words(out, wt__json_str(answer, member), SELECTION_MAX_WORDS_BYTES, s->arena) < 0)
        return wt__fail_nomem(err);
    return answer && out->len == 0 ? reject_selection_answer(s, "the answer has no words", err) : 0;
}

static int ask_contrast(const struct selection_run *s, const struct tool_pair *pair, const struct prompt *prompt,
                        wt_error *err)
{
    bool conditioned = s->options.method == SELECTION_CONDITIONED;
    const struct str items[] = {s->texts[pair->places[0]], s->texts[pair->places[1]]};
    const struct prompt_value values[] = {
        {.slot = "tools", .items = items, .item_count = 2},
        {.slot = "request", .text = s->request->text},
    };
    const struct call_subject subject = {
        .step = CALL_CONTRAST, .request = s->request, .listed = pair->places, .listed_count = 2};
    WT_CLEANUP(wt__chat_reply_dispose) struct chat_reply reply = {0};
    const struct chat_question question = {.subject = &subject};
    WT_TRY(ask_selection(s, s->verifier, prompt, values, conditioned ? 2 : 1, question, &reply, err));
    return read_plain_words(s, reply.got.json, "question", &s->trace->question, err);
}

/* Gets the stored contrastive question, if any. A stored question is as untrusted as a new answer, and is sanitised in
 * the same way. */
static int find_contrast(const struct selection_run *s, const struct contrast_key *key, wt_error *err)
{
    const struct contrast_store *store = s->options.store;
    struct str kept = {0};
    WT_TRY(store->get(store->self, key, s->arena, &kept, err));
    if (wt__plain_words(&s->trace->question, kept, SELECTION_MAX_WORDS_BYTES, s->arena) < 0)
        return wt__fail_nomem(err);
    s->trace->stored = s->trace->question.len > 0;
    return 0;
}

static int run_contrast(const struct selection_run *s, const struct tool_pair *pair, wt_error *err)
{
    const struct contrast_store *store = s->options.store;
    bool conditioned = s->options.method == SELECTION_CONDITIONED, kept = store && !conditioned;
    WT_CLEANUP(wt__prompt_dispose) struct prompt prompt = {0};
    WT_TRY(wt__prompt_open(&prompt, conditioned ? "call-contrast-conditioned" : "call-contrast", err));
    struct contrast_key key = {.model = s->verifier->name, .task = prompt.task};
    memcpy(key.definitions, pair->definitions, sizeof key.definitions);
    if (kept)
        WT_TRY(find_contrast(s, &key, err));
    if (s->trace->stored)
        return 0;
    WT_TRY(ask_contrast(s, pair, &prompt, err));
    return kept && s->trace->question.len > 0 ? store->put(store->self, &key, s->trace->question, err) : 0;
}

static int answer_contrast(const struct selection_run *s, const struct tool_pair *pair, wt_error *err)
{
    const struct prompt_value values[] = {
        {.slot = "request", .text = s->request->text},
        {.slot = "question", .text = s->trace->question},
    };
    const struct call_subject subject = {
        .step = CALL_ANSWER, .request = s->request, .listed = pair->places, .listed_count = 2};
    WT_CLEANUP(wt__chat_reply_dispose) struct chat_reply reply = {0};
    WT_CLEANUP(wt__prompt_dispose) struct prompt prompt = {0};
    WT_TRY(wt__prompt_open(&prompt, "call-answer", err));
    const struct chat_question question = {.subject = &subject};
    WT_TRY(ask_selection(s, s->verifier, &prompt, values, sizeof values / sizeof *values, question, &reply, err));
    return read_plain_words(s, reply.got.json, "answer", &s->trace->answer, err);
}

/* --- the selection ------------------------------------------------------------------------------------------- */

/* Verifies the first pick. If a step has no usable answer, the first pick is used. */
static int verify_pick(const struct selection_run *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    WT_TRY(run_pick_again(s, err));
    if (trace->second == CALL_NO_CANDIDATE)
        return 0;
    struct tool_pair pair = order_pair(s);
    if (pair.alike)
        return 0;
    if (s->options.method == SELECTION_DIRECT)
        return run_decision(s, err);
    WT_TRY(run_contrast(s, &pair, err));
    if (trace->question.len > 0)
        WT_TRY(answer_contrast(s, &pair, err));
    return trace->answer.len > 0 ? run_decision(s, err) : 0;
}

static int check_selection_options(const struct selection_options *options, wt_error *err)
{
    if ((unsigned)options->method >= SELECTION_METHODS)
        return wt__fail(err, WT_EINVAL, "selection: unknown method %d", (int)options->method);
    return wt__call_sampling_check(&options->sampling, "selection", err);
}

/* Writes name and description for the prompts, and with SELECTION_SINGLE_STEP the parameters. */
static int write_candidate_text(const struct selection_run *s, const struct selection_candidate *candidate,
                                struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct str description = candidate->description;
    if (s->options.method == SELECTION_SINGLE_STEP && candidate->parameters.len > 0) {
        wt__buffer_str(&text, description);
        wt__buffer_text(&text, " Parameters: ");
        wt__buffer_str(&text, candidate->parameters);
        WT_CHECK_ALLOC(!text.failed, err);
        description = wt__buffer_view(&text);
    }
    *out = wt__prompt_tool(candidate->name, description, SELECTION_MAX_TOOL_BYTES, s->arena);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

static int begin_selection(struct selection_run *s, const struct selection_options *options, wt_error *err)
{
    size_t most = s->count < SELECTION_MOST_CANDIDATES ? s->count : SELECTION_MOST_CANDIDATES;
    struct str *texts = wt__arena_array(s->arena, struct str, most);
    s->options = *options;
    s->options.sampling = wt__call_sampling(&options->sampling);
    if (options->method != SELECTION_CONSISTENT)
        s->options.sampling.samples = 1;
    size_t samples = s->options.sampling.samples, exchanges = samples > VERIFIED_STEPS ? samples : VERIFIED_STEPS;
    s->trace->exchanges = wt__arena_array(s->arena, struct chat_exchange, exchanges);
    WT_CHECK_ALLOC(texts && s->trace->exchanges, err);
    s->texts = texts;
    s->count = most;
    for (size_t i = 0; i < most; i++) {
        const struct selection_candidate *candidate = &s->candidates[i];
        WT_TRY(write_candidate_text(s, candidate, &texts[i], err));
    }
    return 0;
}

int wt__prepare_contrast(const struct selection_candidate pair[2], struct chat_model *model,
                         const struct contrast_store *store, struct progress *progress, struct arena *arena,
                         struct selection_trace *out, wt_error *err)
{
    static const struct selection_options options = {.method = SELECTION_VERIFIED};
    const struct call_request request = {.progress = progress};
    struct selection_run s = {.candidates = pair,
                              .count = 2,
                              .model = model,
                              .verifier = model,
                              .request = &request,
                              .arena = arena,
                              .trace = out};
    *out = (struct selection_trace){.first = 0, .second = 1, .chosen = CALL_NO_CANDIDATE};
    WT_TRY(begin_selection(&s, &options, err));
    s.options.store = store;
    struct tool_pair ordered = order_pair(&s);
    return ordered.alike ? 0 : run_contrast(&s, &ordered, err);
}

int wt__select_tool(const struct selection_options *options, const struct selection_candidate *candidates, size_t count,
                    struct chat_model *model, const struct call_request *request, struct arena *arena,
                    struct selection_trace *out, wt_error *err)
{
    static const struct selection_options defaults = {0};
    struct selection_run s = {
        .candidates = candidates, .count = count, .model = model, .request = request, .arena = arena, .trace = out};
    options = options ? options : &defaults;
    s.verifier = options->verifier ? options->verifier : model;
    *out =
        (struct selection_trace){.first = CALL_NO_CANDIDATE, .second = CALL_NO_CANDIDATE, .chosen = CALL_NO_CANDIDATE};
    WT_TRY(check_selection_options(options, err));
    if (count == 0) {
        out->end = SELECTION_NONE;
        return 0;
    }
    bool verifies = options->method == SELECTION_VERIFIED || options->method == SELECTION_DIRECT ||
                    options->method == SELECTION_CONDITIONED;
    int rc = begin_selection(&s, options, err);
    if (rc == 0)
        rc = run_selection_pick(&s, err);
    if (rc == 0 && out->first != CALL_NO_CANDIDATE && s.count > 1 && verifies)
        rc = verify_pick(&s, err);
    if (rc < 0) {
        out->chosen = CALL_NO_CANDIDATE;
        out->end = SELECTION_UNSAID;
    }
    return rc;
}

bool wt__selection_method_named(struct str name, enum selection_method *out)
{
    static const char *const names[SELECTION_METHODS] = {"verified",    "once",       "one-shot",   "direct",
                                                         "conditioned", "consistent", "single-step"};
    for (enum selection_method method = 0; method < SELECTION_METHODS; method++) {
        if (!wt__str_equal(name, wt__str(names[method])))
            continue;
        *out = method;
        return true;
    }
    return false;
}

const char *wt__selection_end_name(enum selection_end end)
{
    static const char *const names[] = {"unsaid", "none", "picked", "confirmed", "corrected"};
    return names[end];
}
