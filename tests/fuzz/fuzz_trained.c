/* Fuzzes the files of trained models. An engine loads config.json and model.safetensors from STORE-models and runs
 * every recipe. The input is a sequence of files, separated by lines "== RECIPE/FILE" that name the next file. "@" in a
 * config is replaced by the hash of the encoder, which an attacker would know. */
#include <stdlib.h>
#include <string.h>

#include "encoder/encoder.h"
#include "encoder/support.h"
#include "whichtool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char mark[] = "\n== ";
static const char *const folders[] = {"dpr", "tool2vec",         "mlc",         "neighbours", "auto",
                                      "set", "tool2vec+refiner", "mlc+refiner", "toolrerank", "cross"};
static const char *const files[] = {"config.json", "model.safetensors"};
static const char tools[] = "{\"provider\": \"p\", \"name\": \"book\", \"description\": \"book a table for two\"}\n"
                            "{\"provider\": \"p\", \"name\": \"find\", \"description\": \"find the book\"}\n"
                            "{\"provider\": \"q\", \"name\": \"table\", \"description\": \"a table of tables\"}\n";

static char folder[64], model[80], store[96], models[96], hash[65];

static void check_result(long long rc, const wt_error *err)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s\n", err->message);
    abort();
}

static wt_engine *open_engine(int read_only, wt_error *err)
{
    wt_engine *engine = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = model;
    options.threads = 1;
    options.read_only = read_only;
    return wt_open(&engine, store, &options, err) == 0 ? engine : NULL;
}

static void clean_up(void)
{
    remove_model_folder(folder);
}

/* Creates an encoder, and a store of three tools. */
static void create_fuzz_store(void)
{
    struct encoder *encoder = NULL;
    wt_add_report *report = NULL;
    wt_add_options options;
    wt_error err;
    make_model(folder, model);
    atexit(clean_up);
    snprintf(store, sizeof store, "%s/tools.wt", folder);
    snprintf(models, sizeof models, "%s/tools.wt-models", folder);
    check_result(wt__encoder_open(&encoder, model, &err), &err);
    memcpy(hash, wt__encoder_hash(encoder), sizeof hash);
    wt__encoder_close(encoder);
    wt_engine *engine = open_engine(0, &err);
    check_result(engine ? 0 : -1, &err);
    wt_add_options_init(&options);
    options.format = "jsonl";
    check_result(wt_add(engine, tools, strlen(tools), &options, &report, &err), &err);
    wt_add_report_free(report);
    wt_close(engine);
}

static void write_trained_file(const char *name, const uint8_t *bytes, size_t len, bool config)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", models, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        abort();
    for (size_t i = 0; i < len; i++)
        if (config && bytes[i] == '@')
            fputs(hash, file);
        else
            putc(bytes[i], file);
    if (fclose(file) != 0)
        abort();
}

/* Writes the bytes to the file that the line names. Unknown names are ignored. */
static void write_named(const char *line, size_t line_len, const uint8_t *bytes, size_t len)
{
    for (size_t d = 0; d < sizeof folders / sizeof *folders; d++)
        for (size_t f = 0; f < 2; f++) {
            char name[64], path[256];
            snprintf(name, sizeof name, "%s/%s", folders[d], files[f]);
            if (strlen(name) != line_len || memcmp(name, line, line_len) != 0)
                continue;
            snprintf(path, sizeof path, "%s/%s", models, folders[d]);
            mkdir(path, 0700);
            write_trained_file(name, bytes, len, f == 0);
        }
}

static void write_all(const uint8_t *data, size_t size)
{
    mkdir(models, 0700);
    for (const uint8_t *at = data, *end = data + size; at < end;) {
        const uint8_t *next = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
        const uint8_t *stop = next ? next : end;
        const uint8_t *line_end = memchr(at, '\n', (size_t)(stop - at));
        if (line_end && stop - at > 3)
            write_named((const char *)at, (size_t)(line_end - at), line_end + 1, (size_t)(stop - line_end - 1));
        at = next ? next + sizeof mark - 1 : end;
    }
}

static void remove_all(void)
{
    for (size_t d = 0; d < sizeof folders / sizeof *folders; d++) {
        char path[256];
        for (size_t f = 0; f < 2; f++) {
            snprintf(path, sizeof path, "%s/%s/%s", models, folders[d], files[f]);
            unlink(path);
        }
        snprintf(path, sizeof path, "%s/%s", models, folders[d]);
        rmdir(path);
    }
}

static void run_find_and_pick(wt_engine *engine)
{
    static const char request[] = "book the table for two. find a book";
    const wt_recipe *recipe;
    wt_error err;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++) {
        wt_find_options find;
        wt_pick_options pick;
        wt_hits *hits = NULL;
        wt_picked *picked = NULL;
        if (strcmp(recipe->name, "joint") == 0) /* reads no trained model, and would take most of the time */
            continue;
        wt_find_options_init(&find);
        wt_pick_options_init(&pick);
        find.recipe = pick.recipe = recipe->name;
        find.explain = 1;
        int rc = recipe->picks ? wt_pick(engine, request, strlen(request), &pick, &picked, &err)
                               : wt_find(engine, request, strlen(request), &find, &hits, &err);
        if (rc < 0 && (err.code != rc || !err.message[0]))
            check_result(rc, &err);
        wt_hits_free(hits);
        wt_picked_free(picked);
    }
    wt_hits *hits = NULL;
    check_result(wt_find(engine, request, strlen(request), NULL, &hits, &err),
                 &err); /* must succeed with any trained models */
    wt_hits_free(hits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wt_error err;
    if (!folder[0])
        create_fuzz_store();
    write_all(data, size);
    wt_engine *engine = open_engine(1, &err);
    if (engine)
        run_find_and_pick(engine);
    wt_close(engine);
    remove_all();
    return 0;
}
