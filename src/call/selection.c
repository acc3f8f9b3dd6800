/* selection.c: see selection.h. Each step fills its part of the trace. An empty part means an unusable answer. */
#include "call/selection.h"

#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "base/sha256.h"
#include "call/numbered.h"
#include "llm/plain_text.h"
#include "llm/prompt.h"

enum { VERIFIED_STEPS = 5, DIGEST_BYTES = 32 };

/* State of one selection; everything is borrowed. */
struct selecting {
    struct selection_options options; /* with defaults filled in */
    const struct selection_candidate *candidates;
    const struct str *texts; /* [count] texts for the prompts */
    size_t count;
    struct chat_model *model;
    const struct call_request *request;
    struct arena *arena;
    struct selection_trace *trace;
};

/* --- questions ----------------------------------------------------------------------------------------------- */

static int keep(const struct selecting *s, const struct prompt *prompt, const struct chat_reply *reply, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    int rc = wt__chat_keep(&trace->exchanges[trace->exchange_count], &trace->cost, prompt, reply, s->arena, err);
    trace->exchange_count += rc == 0;
    return rc;
}

static int reject(const struct selecting *s, const char *reason, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    return wt__chat_reject(&trace->exchanges[trace->exchange_count - 1], &trace->cost, reason, s->arena, err);
}

/* Asks one question and keeps the exchange. schema: NULL for the prompt's schema. */
static int ask(const struct selecting *s, const struct prompt *prompt, const struct prompt_value *values, size_t count,
               const struct call_subject *subject, const json_t *schema, struct chat_reply *reply, wt_error *err)
{
    const struct chat_question question = {.schema = schema, .subject = subject, .progress = s->request->progress};
    wt__chat_put(reply, prompt, values, count, s->model, question);
    return keep(s, prompt, reply, err);
}

/* The candidates listed in a question. */
struct listing {
    const size_t *places;
    struct str *items;
    size_t count;
};

/* Lists the first `count` candidates without `but` (CALL_NOBODY lists all). */
static int list_candidates(const struct selecting *s, size_t but, struct listing *out, wt_error *err)
{
    size_t *places = wt__arena_array(s->arena, size_t, s->count);
    *out = (struct listing){.places = places, .items = wt__arena_array(s->arena, struct str, s->count)};
    if (!places || !out->items)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) {
        if (i == but)
            continue;
        places[out->count] = i;
        out->items[out->count++] = s->texts[i];
    }
    return 0;
}

/* Reads a tool number. *out: candidate or CALL_NOBODY. *said: the answer is usable. none: "none" is a usable answer. */
static int read_choice(const struct selecting *s, const json_t *answer, const struct listing *listing, bool none,
                       size_t *out, bool *said, wt_error *err)
{
    size_t item = 0;
    enum numbered numbered = wt__numbered_read(answer, "tool", listing->count, none, &item);
    *out = numbered == NUMBERED_ITEM ? listing->places[item] : CALL_NOBODY;
    *said = numbered != NUMBERED_UNUSABLE;
    return answer && !*said ? reject(s, "the answer is not the number of a listed tool", err) : 0;
}

/* --- the pick ----------------------------------------------------------------------------------------------------- */

/* Samples of a pick, asked in parallel; a single one at temperature 0 for other methods. */
struct picking {
    const struct selecting *s;
    struct prompt prompt;
    json_t *schema;
    struct listing listing;
    struct prompt_value values[3];
    size_t value_count;
    struct chat_reply *replies;
    size_t samples;
};

static int put_pick(void *context, size_t index, unsigned worker)
{
    struct picking *p = context;
    const struct call_subject subject = {.step = CALL_PICK,
                                         .request = p->s->request,
                                         .sample = (unsigned)index,
                                         .listed = p->listing.places,
                                         .listed_count = p->listing.count};
    struct chat_question question = {.schema = p->schema, .subject = &subject, .progress = p->s->request->progress};
    (void)worker;
    if (p->s->options.method == SELECTION_CONSISTENT) {
        question.temperature = p->s->options.temperature;
        question.seed = (unsigned)index + 1;
    }
    return wt__chat_put(&p->replies[index], &p->prompt, p->values, p->value_count, p->s->model, question);
}

/* Reads all picks, also if another question failed. */
static int read_picks(const struct picking *p, wt_error *err)
{
    struct selection_trace *trace = p->s->trace;
    int rc = 0;
    for (size_t i = 0; i < p->samples; i++) {
        wt_error unused, *why = rc == 0 ? err : &unused;
        const struct chat_reply *reply = &p->replies[i];
        bool said = false;
        if (!reply->put)
            continue;
        int failed = keep(p->s, &p->prompt, reply, why);
        if (failed == 0)
            failed =
                read_choice(p->s, reply->got.json, &p->listing, true, &trace->votes[trace->vote_count], &said, why);
        trace->vote_count += failed == 0 && said;
        rc = rc < 0 ? rc : failed;
    }
    return rc;
}

/* Returns the most frequent vote, or the first of equals. CALL_NOBODY counts as a vote. */
static size_t majority(const size_t *votes, size_t count)
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

/* Lists the demonstrations of the candidates; "-" for unknown ones. */
static int list_demonstrations(const struct selecting *s, struct prompt_value *out, wt_error *err)
{
    struct str *items = wt__arena_array(s->arena, struct str, s->count);
    if (!items)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < s->count; i++)
        items[i] = wt__str_trim(s->candidates[i].demonstration).len > 0 ? s->candidates[i].demonstration : STR("-");
    *out = (struct prompt_value){.slot = "demonstrations", .items = items, .item_count = s->count};
    return 0;
}

static int pick(const struct selecting *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    bool one_shot = s->options.method == SELECTION_ONE_SHOT;
    struct picking p = {.s = s, .samples = s->options.samples, .value_count = 2};
    p.replies = wt__arena_array(s->arena, struct chat_reply, p.samples);
    trace->votes = wt__arena_array(s->arena, size_t, p.samples);
    if (!p.replies || !trace->votes)
        return wt__fail_nomem(err);
    int rc = list_candidates(s, CALL_NOBODY, &p.listing, err);
    if (rc == 0 && one_shot)
        rc = list_demonstrations(s, &p.values[p.value_count++], err);
    if (rc == 0)
        rc = wt__prompt_open(&p.prompt, one_shot ? "call-pick-one-shot" : "call-pick", err);
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
    trace->first = trace->chosen = majority(trace->votes, trace->vote_count);
    trace->end = trace->first == CALL_NOBODY ? SELECTION_NONE : SELECTION_PICKED;
    return 0;
}

/* --- a choice without "none" -------------------------------------------------------------------------------------- */

static int choose(const struct selecting *s, const struct call_subject *subject, const struct listing *listing,
                  struct str request, size_t *out, wt_error *err)
{
    const struct prompt_value values[] = {
        {.slot = "tools", .items = listing->items, .item_count = listing->count},
        {.slot = "request", .text = request},
    };
    struct chat_reply reply = {0};
    struct prompt prompt;
    json_t *schema = NULL;
    bool said;
    int rc = wt__prompt_open(&prompt, "call-choose", err);
    if (rc == 0)
        rc = wt__numbered_schema(&schema, prompt.schema, "tool", listing->count, err);
    if (rc == 0)
        rc = ask(s, &prompt, values, sizeof values / sizeof *values, subject, schema, &reply, err);
    if (rc == 0)
        rc = read_choice(s, reply.got.json, listing, false, out, &said, err);
    wt__chat_reply_dispose(&reply);
    json_decref(schema);
    wt__prompt_dispose(&prompt);
    return rc;
}

static int pick_again(const struct selecting *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    struct listing others;
    int rc = list_candidates(s, trace->first, &others, err);
    if (rc < 0)
        return rc;
    if (others.count == 1) {
        trace->second = others.places[0];
        return 0;
    }
    const struct call_subject subject = {
        .step = CALL_PICK_AGAIN, .request = s->request, .listed = others.places, .listed_count = others.count};
    return choose(s, &subject, &others, s->request->text, &trace->second, err);
}

/* Appends the answer to the request. A long request is cut, the answer is not. */
static int append_answer(const struct selecting *s, struct str *out, wt_error *err)
{
    struct buffer text = {0};
    wt__plain_text(&text, s->request->text, SELECTION_MAX_REQUEST_BYTES);
    wt__buffer_char(&text, '\n');
    wt__buffer_str(&text, s->trace->answer);
    *out = (struct str){text.failed ? NULL : wt__arena_copy(s->arena, wt__buffer_view(&text)), text.len};
    wt__buffer_dispose(&text);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

/* Lets the model decide between two tools. Their order is that of the candidates, so that it does not reveal the first
 * pick. */
static int decide(const struct selecting *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    bool answered = trace->answer.len > 0, ordered = trace->first < trace->second;
    const size_t places[] = {ordered ? trace->first : trace->second, ordered ? trace->second : trace->first};
    struct str items[] = {s->texts[places[0]], s->texts[places[1]]}, request = s->request->text;
    const struct listing both = {places, items, 2};
    const struct call_subject subject = {
        .step = CALL_DECIDE, .request = s->request, .listed = places, .listed_count = 2, .answered = answered};
    size_t decided = CALL_NOBODY;
    int rc = answered ? append_answer(s, &request, err) : 0;
    if (rc == 0)
        rc = choose(s, &subject, &both, request, &decided, err);
    if (rc < 0 || decided == CALL_NOBODY)
        return rc;
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

static void hash_definition(const struct selection_candidate *candidate, unsigned char digest[DIGEST_BYTES])
{
    struct sha256 sha;
    wt__sha256_begin(&sha);
    hash_text(&sha, candidate->name);
    hash_text(&sha, candidate->description);
    wt__sha256_end(&sha, digest);
}

/* The two picked tools, ordered by the hashes of their definitions. */
struct pair {
    size_t places[2];
    char definitions[65];
    bool alike; /* same name and same description */
};

static struct pair pair_up(const struct selecting *s)
{
    const struct selection_trace *trace = s->trace;
    struct pair pair = {.places = {trace->first, trace->second}};
    unsigned char digests[2][DIGEST_BYTES], both[DIGEST_BYTES];
    for (int i = 0; i < 2; i++)
        hash_definition(&s->candidates[pair.places[i]], digests[i]);
    int order = memcmp(digests[0], digests[1], DIGEST_BYTES);
    pair.alike = order == 0;
    if (order > 0) {
        unsigned char swapped[DIGEST_BYTES];
        memcpy(swapped, digests[0], DIGEST_BYTES);
        memcpy(digests[0], digests[1], DIGEST_BYTES);
        memcpy(digests[1], swapped, DIGEST_BYTES);
        pair.places[0] = trace->second;
        pair.places[1] = trace->first;
    }
    wt__sha256(digests, sizeof digests, both);
    wt__sha256_hex(both, pair.definitions);
    return pair;
}

static int read_words(const struct selecting *s, const json_t *answer, const char *member, struct str *out,
                      wt_error *err)
{
    if (wt__plain_words(out, wt__json_str(answer, member), SELECTION_MAX_WORDS_BYTES, s->arena) < 0)
        return wt__fail_nomem(err);
    return answer && out->len == 0 ? reject(s, "the answer has no words", err) : 0;
}

static int ask_contrast(const struct selecting *s, const struct pair *pair, const struct prompt *prompt, wt_error *err)
{
    bool conditioned = s->options.method == SELECTION_CONDITIONED;
    const struct str items[] = {s->texts[pair->places[0]], s->texts[pair->places[1]]};
    const struct prompt_value values[] = {
        {.slot = "tools", .items = items, .item_count = 2},
        {.slot = "request", .text = s->request->text},
    };
    const struct call_subject subject = {
        .step = CALL_CONTRAST, .request = s->request, .listed = pair->places, .listed_count = 2};
    struct chat_reply reply = {0};
    int rc = ask(s, prompt, values, conditioned ? 2 : 1, &subject, NULL, &reply, err);
    if (rc == 0)
        rc = read_words(s, reply.got.json, "question", &s->trace->question, err);
    wt__chat_reply_dispose(&reply);
    return rc;
}

/* Gets a stored question. It is as hostile as a new answer, and is sanitised in the same way. */
static int find_contrast(const struct selecting *s, const struct contrast_key *key, wt_error *err)
{
    const struct contrast_store *store = s->options.store;
    struct str kept = {0};
    int rc = store->get(store->self, key, s->arena, &kept, err);
    if (rc < 0)
        return rc;
    if (wt__plain_words(&s->trace->question, kept, SELECTION_MAX_WORDS_BYTES, s->arena) < 0)
        return wt__fail_nomem(err);
    s->trace->stored = s->trace->question.len > 0;
    return 0;
}

static int contrast(const struct selecting *s, const struct pair *pair, wt_error *err)
{
    const struct contrast_store *store = s->options.store;
    bool conditioned = s->options.method == SELECTION_CONDITIONED, kept = store && !conditioned;
    struct prompt prompt;
    int rc = wt__prompt_open(&prompt, conditioned ? "call-contrast-conditioned" : "call-contrast", err);
    if (rc < 0)
        return rc;
    struct contrast_key key = {.model = s->model->name, .task = prompt.task};
    memcpy(key.definitions, pair->definitions, sizeof key.definitions);
    if (kept)
        rc = find_contrast(s, &key, err);
    if (rc == 0 && !s->trace->stored) {
        rc = ask_contrast(s, pair, &prompt, err);
        if (rc == 0 && kept && s->trace->question.len > 0)
            rc = store->put(store->self, &key, s->trace->question, err);
    }
    wt__prompt_dispose(&prompt);
    return rc;
}

static int answer_contrast(const struct selecting *s, const struct pair *pair, wt_error *err)
{
    const struct prompt_value values[] = {
        {.slot = "request", .text = s->request->text},
        {.slot = "question", .text = s->trace->question},
    };
    const struct call_subject subject = {
        .step = CALL_ANSWER, .request = s->request, .listed = pair->places, .listed_count = 2};
    struct chat_reply reply = {0};
    struct prompt prompt;
    int rc = wt__prompt_open(&prompt, "call-answer", err);
    if (rc < 0)
        return rc;
    rc = ask(s, &prompt, values, sizeof values / sizeof *values, &subject, NULL, &reply, err);
    if (rc == 0)
        rc = read_words(s, reply.got.json, "answer", &s->trace->answer, err);
    wt__chat_reply_dispose(&reply);
    wt__prompt_dispose(&prompt);
    return rc;
}

/* --- the selection ------------------------------------------------------------------------------------------- */

static bool verifies(enum selection_method method)
{
    return method == SELECTION_VERIFIED || method == SELECTION_DIRECT || method == SELECTION_CONDITIONED;
}

/* Verifies the pick; the pick stands if a step has no usable answer. */
static int verify(const struct selecting *s, wt_error *err)
{
    struct selection_trace *trace = s->trace;
    int rc = pick_again(s, err);
    if (rc < 0 || trace->second == CALL_NOBODY)
        return rc;
    struct pair pair = pair_up(s);
    if (pair.alike)
        return 0;
    if (s->options.method == SELECTION_DIRECT)
        return decide(s, err);
    rc = contrast(s, &pair, err);
    if (rc == 0 && trace->question.len > 0)
        rc = answer_contrast(s, &pair, err);
    return rc == 0 && trace->answer.len > 0 ? decide(s, err) : rc;
}

static int check_options(const struct selection_options *options, wt_error *err)
{
    if ((unsigned)options->method >= SELECTION_METHODS)
        return wt__fail(err, WT_EINVAL, "selection: unknown method %d", (int)options->method);
    if (options->samples > SELECTION_MOST_SAMPLES)
        return wt__fail(err, WT_EINVAL, "selection: samples must be at most %d, not %u", SELECTION_MOST_SAMPLES,
                        options->samples);
    if (!(options->temperature >= 0 && options->temperature <= CHAT_TEMPERATURE_MAX))
        return wt__fail(err, WT_EINVAL, "selection: temperature must be from 0 to %d, not %g", CHAT_TEMPERATURE_MAX,
                        options->temperature);
    return 0;
}

static int begin(struct selecting *s, const struct selection_options *options, wt_error *err)
{
    size_t most = s->count < SELECTION_MOST_CANDIDATES ? s->count : SELECTION_MOST_CANDIDATES;
    struct str *texts = wt__arena_array(s->arena, struct str, most);
    s->options = *options;
    if (options->method != SELECTION_CONSISTENT)
        s->options.samples = 1;
    else if (options->samples == 0)
        s->options.samples = SELECTION_SAMPLES;
    if (options->temperature == 0)
        s->options.temperature = CALL_TEMPERATURE;
    size_t exchanges = s->options.samples > VERIFIED_STEPS ? s->options.samples : VERIFIED_STEPS;
    s->trace->exchanges = wt__arena_array(s->arena, struct chat_exchange, exchanges);
    if (!texts || !s->trace->exchanges)
        return wt__fail_nomem(err);
    s->texts = texts;
    s->count = most;
    for (size_t i = 0; i < most; i++) {
        const struct selection_candidate *candidate = &s->candidates[i];
        texts[i] = wt__prompt_tool(candidate->name, candidate->description, SELECTION_MAX_TOOL_BYTES, s->arena);
        if (!texts[i].ptr)
            return wt__fail_nomem(err);
    }
    return 0;
}

int wt__select_tool(const struct selection_options *options, const struct selection_candidate *candidates, size_t count,
                    struct chat_model *model, const struct call_request *request, struct arena *arena,
                    struct selection_trace *out, wt_error *err)
{
    static const struct selection_options defaults = {0};
    struct selecting s = {
        .candidates = candidates, .count = count, .model = model, .request = request, .arena = arena, .trace = out};
    options = options ? options : &defaults;
    *out = (struct selection_trace){.first = CALL_NOBODY, .second = CALL_NOBODY, .chosen = CALL_NOBODY};
    int rc = check_options(options, err);
    if (rc == 0 && count == 0)
        out->end = SELECTION_NONE;
    if (rc < 0 || count == 0)
        return rc;
    rc = begin(&s, options, err);
    if (rc == 0)
        rc = pick(&s, err);
    if (rc == 0 && out->first != CALL_NOBODY && s.count > 1 && verifies(options->method))
        rc = verify(&s, err);
    if (rc < 0) {
        out->chosen = CALL_NOBODY;
        out->end = SELECTION_UNSAID;
    }
    return rc;
}

static const char *const method_names[SELECTION_METHODS] = {"verified", "once",        "one-shot",
                                                            "direct",   "conditioned", "consistent"};

const char *wt__selection_method_name(enum selection_method method)
{
    return method_names[method];
}

bool wt__selection_method_named(struct str name, enum selection_method *out)
{
    for (enum selection_method method = 0; method < SELECTION_METHODS; method++) {
        if (!wt__str_equal(name, wt__str(method_names[method])))
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
