/* searches.c: makes the requests of an audit, computes their vectors, and searches for them. */
#include "audit/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "query/search.h"
#include "retrieve/compose.h"
#include "index/snapshot.h"
#include "retrieve/document.h"
#include "retrieve/retrieve.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- voices */

/* Phrases that people put around a request: "I'm planning a party. Can you help me with this: ...". Floods
 * (search_checks.c) use such words, because requests often have them and honest descriptions do not. The phrases were
 * written for this audit. They contain the most frequent words of requests in the train split of MetaTool, a freely
 * licensed data set. Each phrase has its own topic, so no honest description matches many phrases. */

struct voice {
    const char *before, *after;
};
enum { VOICES = 40 };

static const struct voice voices[VOICES] = {
    {"Could you assist our choir, which is planning a trip in spring? ",
     " Suggestions and relevant details would help."},
    {"Hey, before my train leaves, tell me: ", " Current information, please, and the best options."},
    {"Research for a talk at the library: ", " List related articles and papers, the most recent ones first."},
    {"Our family is looking for this, specifically: ", " Recommend whatever is popular and good for children."},
    {"A bakery, that's our business, and it needs help with the market. ",
     " An analysis with data and insights, regarding price and quality, should do."},
    {"Learning for school again, so help me know this: ", " Retrieve detailed data, and show an example of each."},
    {"Hi! Would you kindly find something online? ", " Thanks, and let me know of various alternatives."},
    {"The event at our village hall needs planning, friends. ",
     " Provide a comprehensive list of ideas, within the day."},
    {"People talk about a new one, and I'm interested. ", " Do you recommend it, or should I wait for another?"},
    {"For users of our newsletter I create content. ", " Suggest an image, a video and links, preferably recent."},
    {"My company's team is currently stuck. ", " Additionally, keep us informed of the latest updates."},
    {"Six friends, one evening, nothing planned. ", " Which film or game is popular today? Including reviews, please."},
    {"For customers of our website we generate this: ", " Show options that are available in the city."},
    {"Looking to buy something good for a niece: ", " Compare price and quality, and tell me where to order."},
    {"A meeting at work is next, so be specific. ", " The top facts, in a list, including sources."},
    {"I'd like assistance with a topic that is new to me. ", " Give comprehensive information, well explained."},
    {"New in the city, with no car. ", " Recommendations for places nearby, with details such as opening time."},
    {"It has been a long week, and health comes first. ", " Suggest a way to sleep and eat well."},
    {"Do you know a tool that does this effectively? ", " Results within the day, if possible."},
    {"Our website and its code need a check. ", " Status of each, with potential errors."},
    {"A personal request, for our wedding day: ", " Planning, booking and price, as detailed as it gets."},
    {"No radio here, so search for me: ", " Recent news, including weather, from today."},
    {"Which way is best to find out? ", ""},
    {"An article regarding the old harbour is due. ", " Find its history, related documents and a pdf."},
    {"Tickets for tomorrow, and my brother knows nothing. ", " Date, time, location, and the way there."},
    {"My clients, runners mostly, are looking for help. ", " Generate a report on their performance, with insights."},
    {"Stock or savings, that's the question in our house. ",
     " Current market data, top companies, high and low of the year."},
    {"Grandpa's first computer! Assist him: ", " In user friendly words, and translated, please."},
    {"Colleagues come to dinner; suggest something. ", " Various recipes, including one without meat, would help."},
    {"Our club is interested in the season so far. ", " Results of recent games, the next match, players and score."},
    {"A trip to a conference, planning just begun. ", " Flight, hotel and travel options, with available dates."},
    {"Rain all day, so recommend: ", " The most popular books, music and games, top ten."},
    {"All my notes are lost, please help. ", " Retrieve the information that you have, step by step."},
    {"My channel has new content and few users. ", " Analyze views, comments and followers; suggest what's relevant."},
    {"The boss wants a comparison of different options. ", " A table, preferably, with number and name of each."},
    {"First day on the job: ", ""},
    {"The insurance contract, unsigned, lies here; check it. ", " Verify policy, number and potential costs."},
    {"In short, an overview, please. ", " Then recommend the one that is right for beginners."},
    {"Regarding my account: ", " Update it, apply the changes, and confirm by email."},
    {"My class has this for today. ", " Facts, a quote and an image would be of help, and a quiz online."},
};

/* ---------------------------------------------------------------- vectors of requests */

void wt__request_vectors_dispose(struct request_vectors *vectors)
{
    wt__map_dispose(&vectors->places);
    free(vectors->vectors);
    wt__arena_dispose(&vectors->texts);
    *vectors = (struct request_vectors){.encoder = vectors->encoder};
}

/* Writes the texts that have no vector yet to texts [count * TEXTS_MAX], and assigns their places. Returns the number
 * of these texts; SIZE_MAX if out of memory. */
static size_t list_new_texts(struct request_vectors *vectors, const struct str *requests, size_t count,
                             struct str *texts)
{
    size_t new = 0;
    for (size_t i = 0; i < count; i++) {
        struct retrieve_texts of;
        wt_error failed;
        if (wt__retrieve_texts(requests[i], &vectors->texts, &of, &failed) < 0)
            return SIZE_MAX;
        for (size_t t = 0; t < of.count; t++) {
            bool added;
            if (!wt__map_insert(&vectors->places, of.texts[t], (uint32_t)(vectors->count + new), &added))
                return SIZE_MAX;
            if (added)
                texts[new ++] = of.texts[t];
        }
    }
    return new;
}

static int encode_new_texts(struct request_vectors *vectors, const struct str *requests, size_t count,
                            struct str *texts, unsigned threads, wt_error *err)
{
    const size_t dim = wt__encoder_dim(vectors->encoder), new = list_new_texts(vectors, requests, count, texts);
    if (new == SIZE_MAX || wt__grow((void **)&vectors->vectors, &vectors->capacity, vectors->count + new,
                                    dim * sizeof *vectors->vectors) < 0)
        return wt__fail_nomem(err);
    WT_TRY(wt__encode_many(vectors->encoder, TEXT_REQUEST, texts, new, threads, vectors->vectors + vectors->count * dim,
                           NULL, err));
    vectors->count += new;
    return 0;
}

int wt__request_vectors_make(struct request_vectors *vectors, const struct str *requests, size_t count,
                             unsigned threads, wt_error *err)
{
    if (!vectors->encoder || count == 0)
        return 0;
    if (vectors->count + count * TEXTS_MAX > REQUEST_VECTORS_MAX)
        wt__request_vectors_dispose(vectors);
    struct str *texts = wt__alloc_array(count * TEXTS_MAX, sizeof *texts);
    int rc = texts ? encode_new_texts(vectors, requests, count, texts, threads, err) : wt__fail_nomem(err);
    free(texts);
    return rc;
}

const float *wt__request_vectors_of(const struct request_vectors *vectors, struct str request, struct arena *arena)
{
    struct retrieve_texts split;
    wt_error failed;
    if (!vectors->encoder || wt__retrieve_texts(request, arena, &split, &failed) < 0)
        return NULL;
    const size_t dim = wt__encoder_dim(vectors->encoder);
    float *out = wt__arena_array(arena, float, split.count *dim);
    for (size_t t = 0; out && t < split.count; t++) {
        const uint32_t *place = wt__map_get(&vectors->places, split.texts[t]);
        if (!place)
            return NULL;
        memcpy(out + t * dim, vectors->vectors + *place * dim, dim * sizeof *out);
    }
    return out;
}

/* ---------------------------------------------------------------- requests */

static size_t count_blank_words(struct str text)
{
    size_t words = 0;
    bool inside = false;
    for (size_t i = 0; i < text.len; i++) {
        bool blank = wt__is_blank(text.ptr[i]);
        words += !blank && !inside;
        inside = !blank;
    }
    return words;
}

void wt__first_sentences(struct str description, struct buffer *out)
{
    size_t begin = out->len;
    wt__document_head(description, out);
    if (out->failed)
        return;
    struct str head = {out->ptr + begin, out->len - begin};
    for (size_t i = 0; i + 1 < head.len; i++) {
        bool ends = head.ptr[i] == '.' || head.ptr[i] == '!' || head.ptr[i] == '?';
        if (!ends || !wt__is_blank(head.ptr[i + 1]) || count_blank_words((struct str){head.ptr, i + 1}) < SEARCH_WORDS)
            continue;
        wt__buffer_cut(out, begin + i + 1);
        break;
    }
}

static int make_plain_searches(struct audit_run *a, struct audit_searches *out, wt_error *err)
{
    size_t most = a->options.searches;
    struct rng rng;
    uint32_t *drawn = wt__arena_array(&a->scratch, uint32_t, a->count);
    bool *chosen = wt__arena_array(&a->scratch, bool, a->count);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_CHECK_ALLOC(drawn && chosen, err);
    if (most > a->count)
        most = a->count;
    wt__rng_seed(&rng, a->options.seed);
    wt__rng_draw(&rng, drawn, a->count, most);
    for (size_t i = 0; i < most; i++)
        chosen[drawn[i]] = true;
    out->plain = wt__arena_array(&a->scratch, struct audit_search, most);
    WT_CHECK_ALLOC(out->plain, err);
    for (size_t i = 0; i < a->count; i++) {
        wt__buffer_clear(&text);
        if (!chosen[i])
            continue;
        wt__first_sentences(a->tools[i].tool.description, &text);
        struct str request = wt__str_trim(wt__buffer_view(&text));
        if (!text.failed && !wt__has_word(request))
            continue;
        char *copy = text.failed ? NULL : wt__arena_copy(&a->scratch, request);
        out->plain[out->plain_count++] = (struct audit_search){.tool = (uint32_t)i, .request = {copy, request.len}};
        WT_CHECK_ALLOC(copy, err);
    }
    return 0;
}

/* Puts plain requests into voices, which are used in turn. Makes as many voiced requests as there are plain requests,
 * but at least SEARCH_VOICED_LEAST and at most SEARCH_VOICED_MOST. The options may limit the number further. A few
 * thousand requests suffice to measure a share of places. */
static int make_voiced_searches(struct audit_run *a, struct audit_searches *out, wt_error *err)
{
    size_t count = out->plain_count == 0                    ? 0
                   : out->plain_count < SEARCH_VOICED_LEAST ? SEARCH_VOICED_LEAST
                                                            : out->plain_count;
    if (count > SEARCH_VOICED_MOST)
        count = SEARCH_VOICED_MOST;
    if (count > a->options.searches)
        count = a->options.searches;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct rng rng;
    uint32_t *order = wt__arena_array(&a->scratch, uint32_t, out->plain_count);
    out->voiced = wt__arena_array(&a->scratch, struct audit_search, count);
    WT_CHECK_ALLOC(order && out->voiced, err);
    wt__rng_seed(&rng, a->options.seed + 1);
    wt__rng_draw(&rng, order, out->plain_count, out->plain_count > 0 ? out->plain_count - 1 : 0);
    for (size_t i = 0; i < count; i++) {
        const struct audit_search *plain = &out->plain[order[i % out->plain_count]];
        const struct voice *voice = &voices[(i + i / out->plain_count) % VOICES];
        wt__buffer_clear(&text);
        wt__buffer_text(&text, voice->before);
        wt__buffer_str(&text, plain->request);
        wt__buffer_text(&text, voice->after);
        char *copy = text.failed ? NULL : wt__arena_copy(&a->scratch, wt__buffer_view(&text));
        out->voiced[out->voiced_count++] = (struct audit_search){.tool = plain->tool, .request = {copy, text.len}};
        WT_CHECK_ALLOC(copy, err);
    }
    return 0;
}

/* ---------------------------------------------------------------- recorded requests */

/* Adds a recorded usage. Usages of the same request become one search, with the tools of all of them. */
static int merge_usage(struct audit_run *a, struct audit_searches *out, struct map *requests, const struct usage *usage,
                       wt_error *err)
{
    bool added;
    uint32_t *place = wt__map_insert(requests, usage->request, (uint32_t)out->recorded_count, &added);
    WT_CHECK_ALLOC(place, err);
    struct audit_search *of = &out->recorded[*place];
    if (added) {
        uint32_t *used = wt__arena_array(&a->scratch, uint32_t, SEARCH_USED);
        *of = (struct audit_search){.request = usage->request, .used = used, .tool = UINT32_MAX};
        out->recorded_count++;
        WT_CHECK_ALLOC(used, err);
    }
    uint32_t *used = (uint32_t *)of->used;
    for (size_t t = 0; t < usage->tool_count && of->used_count < SEARCH_USED; t++) {
        size_t tool = wt__audit_tool_index(a, usage->tools[t].tool);
        bool known = tool == a->count;
        for (size_t i = 0; i < of->used_count && !known; i++)
            known = used[i] == tool;
        if (!known)
            used[of->used_count++] = (uint32_t)tool;
    }
    return 0;
}

/* Reads recorded requests, the newest first, up to the limit of searches. */
static int read_used_requests(struct audit_run *a, struct audit_searches *out, wt_error *err)
{
    struct usage_query query = {.teaching = true};
    struct usage *usages = NULL;
    struct store *reader;
    WT_CLEANUP(wt__map_dispose) struct map requests = {0};
    size_t count = 0;
    WT_TRY(wt__engine_reader(a->engine, &reader, err));
    int rc = wt__store_usages(reader, &query, &a->scratch, &usages, &count, err);
    wt__engine_return_reader(a->engine, reader);
    if (rc < 0)
        return rc;
    size_t most = count < a->options.searches ? count : a->options.searches;
    out->recorded = wt__arena_array(&a->scratch, struct audit_search, most + 1);
    WT_CHECK_ALLOC(out->recorded, err);
    for (size_t i = count; i-- > 0 && out->recorded_count < most;)
        WT_TRY(merge_usage(a, out, &requests, &usages[i], err));
    return 0;
}

/* ---------------------------------------------------------------- searching */

enum { SEARCH_BLOCK = 256 /* requests per encoded batch; cancellation is checked between batches */ };

struct search_job {
    struct audit_run *a;
    const char *recipe;
    struct request_vectors vectors;
    struct audit_search *items;
    wt_error *errors; /* [threads] */
    unsigned threads;
    const char *encoder; /* name of the encoder, in the result's arena */
};

/* Sets rank, copy_of and word_for_word of the search for a tool's own description. */
static void place_tool(const struct search_job *s, const struct search *search, struct audit_search *of)
{
    const struct hit_list *hits = &search->hits;
    const struct snapshot *snapshot = search->index->snapshot;
    of->copy_of = UINT32_MAX;
    if (of->tool == UINT32_MAX)
        return;
    uint32_t own = (uint32_t)wt__snapshot_row(snapshot, s->a->tools[of->tool].key), stands_for = own;
    if (own >= snapshot->rows)
        return;
    for (size_t g = 0; g < hits->given_count; g++)
        if (hits->given[g].row == own)
            stands_for = hits->given[g].of;
    uint32_t group = snapshot->keys[own].group;
    for (size_t i = 0; i < hits->len && of->rank == 0; i++) {
        uint32_t row = hits->items[i].row;
        bool same = row == own, word = !same && group > 0 && snapshot->keys[row].group == group;
        if (!same && !word && row != stands_for)
            continue;
        of->rank = (uint8_t)(i + 1);
        of->word_for_word = word;
        size_t place = same ? s->a->count : wt__audit_tool_index(s->a, snapshot->keys[row].id);
        of->copy_of = place < s->a->count ? (uint32_t)place : UINT32_MAX;
    }
}

static int search_audit_request(void *context, size_t index, unsigned worker)
{
    struct search_job *s = context;
    struct audit_search *of = &s->items[index];
    struct arena arena = {0};
    wt_error *err = &s->errors[worker];
    struct search search = {.engine = s->a->engine,
                            .request = of->request,
                            .arena = &arena,
                            .recipe = s->recipe,
                            .k = SEARCH_DEPTH,
                            .copies = COPIES_SHARED,
                            .new_in_full = true,
                            .as_typed = true,
                            .encoded = wt__request_vectors_of(&s->vectors, of->request, &arena),
                            .encoded_by = s->vectors.encoder};
    int rc = wt__search_run(&search, err);
    for (size_t i = 0; rc == 0 && i < search.hits.len; i++) {
        const struct hit *hit = &search.hits.items[i];
        size_t place = wt__audit_tool_index(s->a, search.index->snapshot->keys[hit->row].id);
        if (place == s->a->count) /* added after the audit began */
            continue;
        of->hits[of->count] = (uint32_t)place;
        of->scores[of->count++] = hit->score;
    }
    if (rc == 0)
        place_tool(s, &search, of);
    wt__search_end(&search);
    wt__arena_dispose(&arena);
    if (rc == 0 && wt__progress_step(&s->a->progress, 1))
        rc = wt__fail_cancelled(err);
    return rc;
}

static int search_block(struct search_job *s, struct audit_search *items, size_t count, wt_error *err)
{
    struct str requests[SEARCH_BLOCK];
    for (size_t i = 0; i < count; i++)
        requests[i] = items[i].request;
    int rc = wt__request_vectors_make(&s->vectors, requests, count, s->threads, err);
    if (rc < 0)
        return rc;
    s->items = items;
    rc = wt__pool_run(s->threads, count, search_audit_request, s);
    for (unsigned t = 0; rc < 0 && err && t < s->threads; t++)
        if (s->errors[t].code == rc)
            *err = s->errors[t];
    return rc;
}

static int search_audit_requests(struct search_job *s, const char *phase, struct audit_search *items, size_t count,
                                 wt_error *err)
{
    if (wt__progress_phase(&s->a->progress, phase, count))
        return wt__fail_cancelled(err);
    for (size_t begin = 0; begin < count; begin += SEARCH_BLOCK)
        WT_TRY(search_block(s, items + begin, count - begin < SEARCH_BLOCK ? count - begin : SEARCH_BLOCK, err));
    return 0;
}

/* Loads the models and the index once, before several threads need them. */
static int warm_up_search(struct search_job *s, const struct encoder *encoder, struct audit_search *first,
                          wt_error *err)
{
    struct arena arena = {0};
    struct search search = {.engine = s->a->engine,
                            .request = first->request,
                            .arena = &arena,
                            .recipe = s->recipe,
                            .k = 1,
                            .as_typed = true,
                            .progress = &s->a->progress};
    int rc = wt__search_run(&search, err);
    if (rc == 0 && search.notice.text && !(s->a->notice = wt__arena_copy(s->a->arena, wt__str(search.notice.text))))
        rc = wt__fail_nomem(err);
    if (rc == 0 && search.plan.encoder == encoder) /* a different encoder may be freed with the plan */
        s->vectors.encoder = encoder;
    if (rc == 0 && !(s->encoder = wt__arena_copy(s->a->arena, wt__str(search.encoder))))
        rc = wt__fail_nomem(err);
    wt__search_end(&search);
    wt__arena_dispose(&arena);
    return rc;
}

static int run_searches(struct audit_run *a, struct audit_searches *out, wt_error *err)
{
    const struct encoder *encoder = NULL;
    struct search_job s = {.a = a, .threads = a->engine->threads ? a->engine->threads : wt__processor_count()};
    wt_error why = {0};
    int rc = wt__engine_load_encoder(a->engine, &a->progress, &encoder, &why);
    if (rc < 0 && rc != WT_EMODEL) {
        if (err)
            *err = why;
        return rc;
    }
    s.recipe = rc == 0 ? "hybrid" : "bm25";
    s.errors = wt__arena_array(&a->scratch, wt_error, s.threads);
    rc = s.errors ? 0 : wt__fail_nomem(err);
    if (rc == 0)
        rc = warm_up_search(&s, encoder, out->plain_count > 0 ? out->plain : out->recorded, err);
    if (rc == 0)
        rc = search_audit_requests(&s, "searching descriptions", out->plain, out->plain_count, err);
    if (rc == 0)
        rc = search_audit_requests(&s, "searching likely requests", out->voiced, out->voiced_count, err);
    if (rc == 0)
        rc = search_audit_requests(&s, "searching recorded requests", out->recorded, out->recorded_count, err);
    wt__request_vectors_dispose(&s.vectors);
    out->recipe = s.recipe;
    out->encoder = s.encoder ? s.encoder : "";
    return rc;
}

int wt__audit_search(struct audit_run *a, struct audit_searches *out, wt_error *err)
{
    *out = (struct audit_searches){.recipe = "", .encoder = ""};
    WT_TRY(make_plain_searches(a, out, err));
    if (a->wanted[RULE_CAPTURE])
        WT_TRY(make_voiced_searches(a, out, err));
    if (a->wanted[RULE_CAPTURE] || a->wanted[RULE_UNREACHED_BY_USE])
        WT_TRY(read_used_requests(a, out, err));
    if (out->plain_count + out->recorded_count > 0)
        WT_TRY(run_searches(a, out, err));
    return 0;
}

const struct audit_search *wt__find_own_search(const struct audit_searches *searches, uint32_t tool)
{
    size_t low = 0, high = searches->plain_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (searches->plain[middle].tool < tool)
            low = middle + 1;
        else
            high = middle;
    }
    return low < searches->plain_count && searches->plain[low].tool == tool ? &searches->plain[low] : NULL;
}
