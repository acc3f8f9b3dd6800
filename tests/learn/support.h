/* support.h: a temporary folder with a tiny model, a store of tools with words of its vocabulary, and their usages. */
#ifndef WT_TESTS_LEARN_SUPPORT_H
#define WT_TESTS_LEARN_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "encoder/tiny_model.h"
#include "whichtool.h"

struct learn_place {
    char folder[64];
    char model[80], store[80], out[80], data[80]; /* paths in the folder; out: folder of the trained models */
    wt_error err;                                 /* error of the last call */
};

/* Eight tools whose requests have words that are not in their descriptions, so that training has an effect. */
static const struct {
    const char *name, *description, *words[3];
} place_tools[] = {
    {"book_table", "book a table", {"hotel", "news", "price"}},
    {"train_times", "train in london", {"paris", "mail", "find"}},
    {"get_weather", "weather in paris", {"stock", "text", "play"}},
    {"send_mail", "send mail to", {"table", "music", "convert"}},
    {"play_music", "play the music", {"flight", "train", "weather"}},
    {"stock_price", "stock price of", {"send", "book", "translate"}},
    {"convert_money", "convert money", {"london", "the", "hotel"}},
    {"find_hotel", "find a hotel", {"money", "in", "flight"}},
};
enum { PLACE_TOOLS = sizeof place_tools / sizeof *place_tools };

static inline void make_learn_place(struct learn_place *place)
{
    *place = (struct learn_place){0};
    snprintf(place->folder, sizeof place->folder, "/tmp/whichtool-learn-XXXXXX");
    if (!mkdtemp(place->folder))
        abort();
    setenv("XDG_CACHE_HOME", place->folder, 1);
    snprintf(place->model, sizeof place->model, "%s/tiny", place->folder);
    snprintf(place->store, sizeof place->store, "%s/tools.wt", place->folder);
    snprintf(place->out, sizeof place->out, "%s/tools.wt-models", place->folder);
    snprintf(place->data, sizeof place->data, "%s/data", place->folder);
    tiny_model_write(place->model, TINY_BERT, 1);
}

static inline int place_set_up(void **state)
{
    struct learn_place *place = malloc(sizeof *place);
    if (!place)
        return -1;
    make_learn_place(place);
    *state = place;
    return 0;
}

static inline int place_tear_down(void **state)
{
    struct learn_place *place = *state;
    remove_model_folder(place->folder);
    free(place);
    return 0;
}

static inline void assert_train_ok(struct learn_place *place, long long result)
{
    if (result < 0)
        fail_msg("%s: %s", wt_code_name((int)result), place->err.message);
}

static inline void assert_train_refused(struct learn_place *place, long long result, int code, const char *text)
{
    if (result != code || place->err.code != code || !strstr(place->err.message, text))
        fail_msg("wanted %s with \"%s\", got %s: %s", wt_code_name(code), text, wt_code_name((int)result),
                 place->err.message);
}

static inline wt_engine *open_place_store(struct learn_place *place)
{
    wt_engine *engine = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = place->model;
    options.threads = 2;
    assert_train_ok(place, wt_open(&engine, place->store, &options, &place->err));
    return engine;
}

static inline void import_tool_lines(struct learn_place *place, wt_engine *engine, const char *jsonl)
{
    wt_add_report *report = NULL;
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "jsonl";
    options.no_vectors = 1;
    assert_train_ok(place, wt_add(engine, jsonl, strlen(jsonl), &options, &report, &place->err));
    wt_add_report_free(report);
}

static inline void import_place_tools(struct learn_place *place, wt_engine *engine)
{
    struct buffer jsonl = {0};
    for (size_t i = 0; i < PLACE_TOOLS; i++)
        wt__buffer_printf(&jsonl, "{\"name\": \"%s\", \"description\": \"%s\"}\n", place_tools[i].name,
                          place_tools[i].description);
    import_tool_lines(place, engine, jsonl.ptr);
    wt__buffer_dispose(&jsonl);
}

static inline void import_usages(struct learn_place *place, wt_engine *engine, const char *jsonl)
{
    wt_usage_report *report = NULL;
    wt_add_usage_options options;
    wt_add_usage_options_init(&options);
    options.no_vectors = 1;
    assert_train_ok(place, wt_add_usage(engine, jsonl, strlen(jsonl), &options, &report, &place->err));
    wt_usage_report_free(report);
}

/* Writes the n-th request for tool t: two of the tool's words and a random word. */
static inline void write_request_text(struct buffer *text, size_t t, size_t n, struct rng *rng)
{
    const char *const *words = place_tools[t].words;
    wt__buffer_printf(text, "%s %s %s", words[n % 3], words[(n + 1) % 3],
                      tiny_words[5 + wt__rng_below(rng, TINY_WORDS - 5)]);
}

/* Adds `count` usages, a third of them of two tools. */
static inline void import_synthetic_usages(struct learn_place *place, wt_engine *engine, size_t count)
{
    struct buffer jsonl = {0};
    struct rng rng;
    wt__rng_seed(&rng, 3);
    for (size_t i = 0; i < count; i++) {
        size_t t = i % PLACE_TOOLS, other = (t + 3) % PLACE_TOOLS;
        wt__buffer_text(&jsonl, "{\"request\": \"");
        write_request_text(&jsonl, t, i / PLACE_TOOLS, &rng);
        if (i % 3 == 0) {
            wt__buffer_text(&jsonl, " and ");
            write_request_text(&jsonl, other, i / PLACE_TOOLS, &rng);
            wt__buffer_printf(&jsonl, "\", \"tools\": [\"%s\", \"%s\"]}\n", place_tools[t].name,
                              place_tools[other].name);
        } else {
            wt__buffer_printf(&jsonl, "\", \"tools\": [\"%s\"]}\n", place_tools[t].name);
        }
    }
    import_usages(place, engine, jsonl.ptr);
    wt__buffer_dispose(&jsonl);
}

/* Makes place->data a BEIR folder; dev: NULL to omit that split. */
static inline void write_data_set(struct learn_place *place, const char *queries, const char *train, const char *dev)
{
    struct buffer corpus = {0};
    for (size_t i = 0; i < PLACE_TOOLS; i++)
        wt__buffer_printf(&corpus, "{\"_id\": \"t%zu\", \"title\": \"%s\", \"text\": \"%s\"}\n", i, place_tools[i].name,
                          place_tools[i].description);
    put_text(place->data, "corpus.jsonl", corpus.ptr);
    put_text(place->data, "queries.jsonl", queries);
    put_text(place->data, "qrels/train.tsv", train);
    if (dev)
        put_text(place->data, "qrels/dev.tsv", dev);
    wt__buffer_dispose(&corpus);
}

/* Sets hex to the SHA-256 of the weights of a trained model. out: folder of the trained models. */
static inline void hash_trained_model(const char *out, const char *model, char hex[65])
{
    char path[160];
    char *bytes = NULL;
    size_t len;
    unsigned char digest[32];
    snprintf(path, sizeof path, "%s/%s/model.safetensors", out, model);
    assert_int_equal(wt__file_read(&bytes, &len, path, 1 << 24, NULL), 0);
    wt__sha256(bytes, len, digest);
    wt__sha256_hex(digest, hex);
    free(bytes);
}

#endif
