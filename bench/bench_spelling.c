/* bench_spelling.c: cost of correcting misspelt words in requests (retrieve/spelling.h).
 *
 *   bench_spelling CORPUS      a corpus.jsonl
 *
 * Measures the dictionary of the corpus, and a larger dictionary with as many terms as a million tools would have. The
 * number of terms is extrapolated: it grows roughly with the 2/3 power of the number of tools. For example, 1,419 tools
 * of ToolBench have 3,396 terms, and 13,242 tools have 15,158. The additional terms are terms of the corpus with two
 * letters replaced, so that a misspelt word has proportionally more neighbours. Times are processor times, since
 * machines are shared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/rng.h"
#include "retrieve/document.h"
#include "retrieve/spelling.h"
#include "support.h"

enum { ROUNDS = 101, MANY_TOOLS = 1000000 };

static void add_row(struct lexical_builder *builder, struct analyser *analyser, struct document *document,
                    struct str text)
{
    struct tool tool = {.name = STR("tool"), .description = text};
    if (wt__document_read(document, analyser, &tool, NULL) < 0 ||
        wt__lexical_builder_add(builder, document->fields, NULL) < 0)
        exit_with_message("out of memory");
}

static size_t add_corpus(struct lexical_builder *builder, struct analyser *analyser, struct document *document,
                         const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0, tools = 0;
    ssize_t len;
    if (!file)
        exit_with_message("the corpus cannot be read");
    while ((len = getline(&line, &capacity, file)) > 0) {
        json_t *tool = NULL;
        if (wt__json_parse(&tool, line, (size_t)len, NULL) == 0) {
            const char *text = json_string_value(json_object_get(tool, "text"));
            add_row(builder, analyser, document, wt__str(text ? text : ""));
            tools++;
        }
        json_decref(tool);
    }
    free(line);
    fclose(file);
    return tools;
}

/* Adds made-up terms up to a total of about `terms`, in rows of a thousand terms. */
static void add_made_up(struct lexical_builder *builder, struct analyser *analyser, struct document *document,
                        const struct lexical *known, size_t terms)
{
    struct rng rng;
    struct buffer text = {0};
    wt__rng_seed(&rng, 1);
    for (size_t made = 0; known->terms + made < terms; made++) {
        struct str term = wt__lexical_term(known, (uint32_t)wt__rng_below(&rng, known->terms));
        size_t at = text.len;
        wt__buffer_append(&text, term.ptr, term.len);
        for (int i = 0; i < 2 && term.len > 0; i++)
            text.ptr[at + wt__rng_below(&rng, term.len)] = (char)('a' + wt__rng_below(&rng, 26));
        wt__buffer_char(&text, ' ');
        if (made % 1000 == 999) {
            add_row(builder, analyser, document, wt__buffer_view(&text));
            wt__buffer_clear(&text);
        }
    }
    wt__buffer_dispose(&text);
}

static void *build_dictionary(struct lexical *out, const char *corpus, const struct lexical *known, size_t terms,
                              size_t *tools)
{
    struct lexical_builder *builder;
    struct analyser *analyser;
    struct document document = {0};
    void *block;
    size_t len;
    if (wt__analyser_open(&analyser, NULL) < 0 || wt__lexical_builder_new(&builder, &wt__lexical_settings, NULL) < 0)
        exit_with_message("out of memory");
    *tools = add_corpus(builder, analyser, &document, corpus);
    if (known)
        add_made_up(builder, analyser, &document, known, terms);
    if (wt__lexical_builder_finish(builder, &block, &len, NULL) < 0 || wt__lexical_view(out, block, len, NULL) < 0)
        exit_with_message("no index");
    wt__lexical_builder_free(builder);
    wt__document_dispose(&document);
    wt__analyser_close(analyser);
    return block;
}

static void measure_spelling(const struct lexical *index)
{
    static const struct {
        const char *name, *request;
    } cases[] = {
        {"no word misspelt", "schedule a message to the channel for tomorrow and list the invoices"},
        {"one word misspelt", "schedule a mesage to the channel for tomorrow and list the invoices"},
        {"four words misspelt", "shcedule a mesage to the chanel for tomorow and list the invoices"},
        {"a long word misspelt", "list the subscribtions"},
    };
    struct workspace *workspace;
    struct arena arena = {0};
    if (wt__workspace_open(&workspace, NULL) < 0)
        exit_with_message("out of memory");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double times[ROUNDS];
        for (size_t r = 0; r < ROUNDS; r++) {
            struct str read;
            wt__arena_reset(&arena);
            double begun = processor_ms();
            if (wt__spelling_read(&read, wt__str(cases[i].request), index, workspace, &arena, NULL) < 0)
                exit_with_message("out of memory");
            times[r] = processor_ms() - begun;
        }
        print_result(times, ROUNDS, "ms", "whichtool", "spelling, %u terms: %s", index->terms, cases[i].name);
    }
    wt__arena_dispose(&arena);
    wt__workspace_close(workspace);
}

int main(int argc, char **argv)
{
    struct lexical corpus, many;
    size_t tools;
    if (argc != 2)
        exit_with_message("usage: bench_spelling CORPUS");
    void *block = build_dictionary(&corpus, argv[1], NULL, 0, &tools);
    measure_spelling(&corpus);
    size_t terms = (size_t)(corpus.terms * pow((double)MANY_TOOLS / (double)tools, 2.0 / 3));
    void *larger = build_dictionary(&many, argv[1], &corpus, terms, &tools);
    measure_spelling(&many);
    free(larger);
    free(block);
    return 0;
}
