#include "wire/results.h"

#include <math.h>

#include "base/memory.h"

/* Members with the same name in wt_hits and wt_picked. */
#define COMMON_MEMBERS(result, own_request)                                                                            \
    .hits = (result)->items, .len = (result)->len,                                                                     \
    .request = (result)->last_turn ? (result)->last_turn : (own_request), .read_as = (result)->read_as,                \
    .unknown_words = (result)->unknown_words, .unknown_count = (result)->unknown_count, .recipe = (result)->recipe,    \
    .encoder = (result)->encoder, .notice = (result)->notice, .notice_codes = (result)->notice_codes,                  \
    .no_tool = (result)->no_answer_probability, .tokens = (result)->tokens, .over_budget = (result)->over_budget,      \
    .encode_ms = (result)->encode_ms, .search_ms = (result)->search_ms, .total_ms = (result)->total_ms,                \
    .kept = (result)->kept

struct search_result wt__found_by_find(const wt_hits *hits, const char *request)
{
    return (struct search_result){COMMON_MEMBERS(hits, request), .reason = hits->why,
                                  .several_providers = hits->multi_provider_probability, .complete = NAN,
                                  .expected_match = NAN};
}

struct search_result wt__found_by_pick(const wt_picked *picked, const char *request)
{
    return (struct search_result){
        COMMON_MEMBERS(picked, request),
        .trace = picked->trace,
        .several_providers = NAN,
        .complete = picked->complete,
        .expected_match = picked->tracc,
        .language_model = {picked->questions, picked->prompt_tokens, picked->completion_tokens, picked->model_ms}};
}

static void put_stages(struct buffer *out, const wt_hit *hit)
{
    wt__json_open(out, "stages", '[');
    for (size_t i = 0; i < hit->stage_count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "stage", hit->stages[i]->stage);
        wt__json_count(out, "rank", hit->stages[i]->rank);
        wt__json_number(out, "score", hit->stages[i]->score);
        wt__json_number(out, "share", hit->stages[i]->share);
        wt__json_number(out, "weight", hit->stages[i]->weight);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_matches(struct buffer *out, const wt_hit *hit)
{
    wt__json_open(out, "matches", '[');
    for (size_t i = 0; i < hit->match_count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "word", hit->matches[i]->word);
        wt__json_text(out, "fields", hit->matches[i]->fields);
        wt__json_number(out, "score", hit->matches[i]->score);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_features(struct buffer *out, const wt_hit *hit)
{
    wt__json_open(out, "features", '[');
    for (size_t i = 0; i < hit->feature_count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "feature", hit->features[i]->feature);
        wt__json_number(out, "value", hit->features[i]->value);
        wt__json_number(out, "share", hit->features[i]->share);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_found_hit(struct buffer *out, const wt_hit *hit, size_t rank, const struct found_form *form)
{
    wt__buffer_char(out, '{');
    wt__json_count(out, "rank", rank);
    wt__json_number(out, "score", hit->score);
    wt__json_number(out, "probability", hit->probability);
    wt__json_number(out, "tokens", form->counted ? (double)hit->tokens : NAN);
    wt__json_flag(out, "weak", hit->weak != 0);
    wt__json_flag(out, "kept", hit->kept != 0);
    wt__json_texts(out, "more_like_it", hit->more_like_it, hit->more_listed);
    wt__json_count(out, "more_like_it_count", hit->more_count);
    wt__json_tool(out, hit->tool);
    if (form->explained) {
        put_stages(out, hit);
        put_matches(out, hit);
        put_features(out, hit);
    }
    wt__buffer_char(out, '}');
}

void wt__json_found(struct buffer *out, const struct search_result *found, const struct found_form *form)
{
    enum { USUAL_BYTES = 8000 }; /* typical size of a result with five hits */
    size_t copies = 0;
    wt__buffer_reserve(out, USUAL_BYTES);
    for (size_t i = 0; i < found->len; i++)
        copies += found->hits[i]->more_count;
    wt__buffer_char(out, '{');
    wt__json_text(out, "request", found->request);
    wt__json_text_or_null(out, "read_as", found->read_as);
    wt__json_texts(out, "unknown_words", found->unknown_words, found->unknown_count);
    wt__json_text(out, "recipe", found->recipe);
    wt__json_text(out, "encoder", found->encoder);
    wt__json_text_or_null(out, "reason", found->reason);
    wt__json_text_or_null(out, "notice", found->notice);
    wt__json_notice_codes(out, found->notice_codes);
    wt__json_number(out, "no_tool_probability", found->no_tool);
    wt__json_number(out, "several_providers_probability", found->several_providers);
    wt__json_number(out, "complete_probability", found->complete);
    wt__json_number(out, "expected_match", found->expected_match);
    wt__json_count(out, "copies", copies);
    wt__json_number(out, "tokens", form->counted ? (double)found->tokens : NAN);
    wt__json_number(out, "over_budget", form->counted ? (double)found->over_budget : NAN);
    wt__json_count(out, "kept", found->kept);
    wt__json_number(out, "encode_ms", found->encode_ms);
    wt__json_number(out, "search_ms", found->search_ms);
    wt__json_number(out, "total_ms", found->total_ms);
    wt__json_language_model(out, &found->language_model);
    if (found->trace)
        wt__json_raw(out, "trace", found->trace);
    if (form->definitions)
        wt__json_as_written(out, "definitions", form->definitions);
    wt__json_open(out, "hits", '[');
    for (size_t i = 0; i < found->len; i++) {
        wt__buffer_text(out, i ? "," : "");
        put_found_hit(out, found->hits[i], i + 1, form);
    }
    wt__buffer_text(out, "]}");
}

static void put_verified(struct buffer *out, const wt_called *called)
{
    wt__json_open(out, "verified", '[');
    for (size_t i = 0; i < called->verified_count; i++) {
        wt__buffer_text(out, i > 0 ? ",{" : "{");
        wt__json_text(out, "what", called->verified[i]->what);
        wt__json_text(out, "by", called->verified[i]->by);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_notices(struct buffer *out, const wt_called *called)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer all = {0};
    wt__buffer_printf(&all, "%s%s%s", called->notice ? called->notice : "",
                      called->notice && called->chances ? "; " : "", called->chances ? called->chances : "");
    wt__json_text_or_null(out, "notice", all.len > 0 ? all.ptr : NULL);
    out->failed |= all.failed;
}

void wt__json_called(struct buffer *out, const wt_called *called, const char *request, const struct called_form *form)
{
    const struct model_cost cost = {called->questions, called->prompt_tokens, called->completion_tokens,
                                    called->model_ms};
    wt__buffer_char(out, '{');
    wt__json_text(out, "request", request);
    wt__json_text_or_null(out, "tool", called->tool ? called->tool->id : NULL);
    wt__json_as_written(out, "arguments", called->arguments);
    wt__json_flag(out, "valid", called->valid != 0);
    wt__json_texts(out, "missing", called->missing, called->missing_count);
    wt__json_text_or_null(out, "question", called->question);
    wt__json_flag(out, "asks_tool", called->asks_tool != 0);
    wt__json_text_or_null(out, "doubt", called->doubt);
    wt__json_texts(out, "violations", called->violations, called->violation_count);
    put_verified(out, called);
    wt__json_number(out, "probability", called->probability);
    wt__json_text(out, "recipe", called->recipe);
    wt__json_text(out, "encoder", called->encoder);
    put_notices(out, called);
    wt__json_notice_codes(out, called->notice_codes);
    wt__json_number(out, "total_ms", called->total_ms);
    wt__json_language_model(out, &cost);
    if (form->call)
        wt__json_as_written(out, "call", called->call);
    if (form->explained)
        wt__json_as_written(out, "steps", called->steps);
    wt__buffer_char(out, '}');
}

/* ---------------------------------------------------------------- status */

static void put_status_providers(struct buffer *out, const wt_status *status)
{
    wt__json_open(out, "providers", '[');
    for (size_t i = 0; i < status->provider_count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "provider", status->providers[i]->name);
        wt__json_count(out, "tools", status->providers[i]->tools);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_trained(struct buffer *out, const wt_trained_status *model)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "model", model->lesson);
    wt__json_time(out, "time", model->time);
    wt__json_text(out, "data", model->data);
    wt__json_flag(out, "recorded_use", model->recorded_use != 0);
    wt__json_count(out, "requests", model->requests);
    wt__json_count(out, "dev_requests", model->dev_requests);
    wt__json_text(out, "figure", model->figure);
    wt__json_number(out, "before", model->before);
    wt__json_number(out, "after", model->after);
    if (model->stale)
        wt__json_text(out, "stale", model->stale);
    wt__buffer_char(out, '}');
}

void wt__json_status(struct buffer *out, const wt_status *status)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "store", status->store);
    wt__json_count(out, "store_version", (uint64_t)status->store_version);
    wt__json_text(out, "version", wt_version());
    wt__json_count(out, "tools", status->tools);
    put_status_providers(out, status);
    wt__json_text(out, "model", status->model);
    wt__json_flag(out, "model_installed", status->model_installed != 0);
    wt__json_flag(out, "model_included", status->model_included != 0);
    wt__json_count(out, "embedded", status->embedded);
    wt__json_text(out, "encoder", status->encoder);
    wt__json_count(out, "encoder_embedded", status->encoder_embedded);
    wt__json_text_or_null(out, "better", status->better);
    wt__json_count(out, "usages", status->usages);
    wt__json_count(out, "teaching", status->teaching);
    wt__json_count(out, "untrained", status->untrained);
    wt__json_open(out, "trained", '[');
    for (size_t i = 0; i < status->trained_count; i++) {
        wt__buffer_text(out, i ? "," : "");
        put_trained(out, status->trained[i]);
    }
    wt__buffer_char(out, ']');
    wt__json_text(out, "recipe", status->recipe);
    wt__json_text(out, "why", status->why);
    wt__json_count(out, "store_bytes", status->store_bytes);
    wt__json_count(out, "index_bytes", status->index_bytes);
    wt__json_count(out, "trained_bytes", status->trained_bytes);
    wt__json_count(out, "model_bytes", status->model_bytes);
    wt__json_count(out, "cache_bytes", status->cache_bytes);
    wt__buffer_char(out, '}');
}

/* ---------------------------------------------------------------- imports and recorded usages */

void wt__json_added(struct buffer *out, const char *source, const wt_add_report *report)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "source", source);
    wt__json_text(out, "format", report->format ? report->format : "");
    wt__json_changes(out, report);
    wt__json_count(out, "embedded", report->embedded);
    wt__json_count(out, "collisions", report->collisions);
    wt__json_open(out, "collided", '[');
    for (size_t i = 0; i < report->collided_count; i++) {
        const wt_add_collision *one = report->collided[i];
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "id", one->id);
        wt__json_text(out, "taken", one->taken);
        wt__json_text(out, "source", one->source);
        wt__json_text(out, "other", one->other);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

void wt__json_usage_added(struct buffer *out, const char *source, const wt_usage_report *report)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "source", source);
    wt__json_count(out, "added", report->added);
    wt__json_count(out, "skipped", report->skipped);
    wt__json_count(out, "unknown_tools", report->unknown_tools);
    wt__json_count(out, "repeated", report->repeated);
    wt__json_count(out, "outcomes", report->outcomes);
    wt__json_count(out, "missing", report->missing);
    wt__json_count(out, "learned", report->learned);
}

bool wt__is_invalid_usage(const struct reported_usage *usage, bool policed)
{
    return usage->code != 0 && !(policed && usage->none_known);
}

/* Appends the invalid usages, numbered from 1 by their place in the body. */
static void put_invalid_usages(struct buffer *out, struct reported_usage *const *usages, size_t count, bool policed)
{
    bool any = false;
    wt__json_open(out, "refused", '[');
    for (size_t i = 0; i < count; i++) {
        if (!wt__is_invalid_usage(usages[i], policed))
            continue;
        wt__buffer_text(out, any ? ",{" : "{");
        wt__json_count(out, "usage", i + 1);
        wt__json_text(out, "message", usages[i]->message);
        wt__buffer_char(out, '}');
        any = true;
    }
    wt__buffer_char(out, ']');
}

void wt__json_usage_segment(struct buffer *out, const char *id, const struct usage_segment *segment)
{
    wt__buffer_char(out, '{');
    wt__json_text(out, "segment", id);
    wt__json_flag(out, "applied", segment->applied);
    wt__json_count(out, "recorded", segment->recorded);
    wt__json_count(out, "repeated", segment->repeated);
    wt__json_count(out, "refused", segment->refused);
    wt__buffer_char(out, '}');
}

void wt__json_usage_result(struct buffer *out, struct reported_usage *const *usages, size_t count, bool policed)
{
    static const char *const fates[] = {[USAGE_ADDED] = "recorded",
                                        [USAGE_REPEATED] = "repeated",
                                        [USAGE_CHANGED] = "outcomes",
                                        [USAGE_MISSING] = "missing"};
    size_t counts[sizeof fates / sizeof *fates] = {0}, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        if (wt__is_invalid_usage(usages[i], policed))
            continue;
        counts[policed ? USAGE_ADDED : usages[i]->fate]++;
        unknown += usages[i]->unknown_tools;
    }
    wt__buffer_char(out, '{');
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++)
        wt__json_count(out, fates[i], counts[i]);
    if (!policed)
        wt__json_count(out, "unknown_tools", unknown);
    put_invalid_usages(out, usages, count, policed);
    wt__buffer_char(out, '}');
}
