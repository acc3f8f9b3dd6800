/* review.c: a program for test_review.sh, which injects faults into it. No whichtool command reviews a listing in a
 * file.
 *
 *   review -s STORE review FILE    reviews a server's listing; trusts the first listing of the server
 *   review -s STORE approve        approves all waiting items
 *   review -s STORE verify         checks that every tool has its approved definition and does not wait for approval;
 *                                  prints the numbers of tools and of waiting items */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "catalog/pins.h"
#include "whichtool/review.h"

static const char provider[] = "p";

/* Returns the exit code that whichtool has for the result rc. */
static int exit_code_of_result(int rc, const wt_error *err)
{
    if (rc >= 0)
        return 0;
    fprintf(stderr, "%s\n", err->message);
    return rc == WT_ENOMEM || rc == WT_EFULL ? 7 : rc == WT_EFORMAT || rc == WT_EINVAL ? 3 : 4;
}

static int review_listing_file(wt_engine *engine, const char *path, wt_error *err)
{
    wt_review_options options;
    wt_review_report *report = NULL;
    char *text = NULL;
    size_t len = 0;
    wt_review_options_init(&options);
    options.trust_first = 1;
    options.instructions = "Be kind";
    int rc = wt__file_read(&text, &len, path, 1 << 20, err);
    if (rc == 0)
        rc = wt_review(engine, provider, text, len, &options, &report, err);
    wt_review_report_free(report);
    free(text);
    return rc;
}

static int approve_waiting_items(wt_engine *engine, wt_error *err)
{
    wt_approve_options options;
    wt_review_report *report = NULL;
    wt_approve_options_init(&options);
    options.all = 1;
    int rc = wt_approve(engine, provider, &options, &report, err);
    wt_review_report_free(report);
    return rc;
}

/* Returns 1 if a tool's definition was not approved, or if a listed tool waits for approval. Otherwise prints the
 * numbers of tools and of waiting items. */
static int verify_approved_tools(wt_engine *engine, wt_error *err)
{
    wt_tools *tools = NULL;
    wt_waiting_list *waiting = NULL;
    char *pins = NULL;
    int rc = wt_list(engine, NULL, &tools, err);
    if (rc == 0)
        rc = wt_list_waiting(engine, NULL, &waiting, err);
    if (rc == 0)
        rc = wt_lock(engine, NULL, &pins, err);
    for (size_t i = 0; rc == 0 && i < tools->len; i++) {
        char hash[DEFINITION_DIGITS + 1], line[256];
        rc = wt__definition_hash(wt__str(tools->items[i]->definition), hash, NULL, err);
        snprintf(line, sizeof line, "{\"id\": \"%s\", \"provider\": \"p\", \"sha256\": \"%s\"", tools->items[i]->id,
                 hash);
        if (rc == 0 && !strstr(pins, line))
            rc = printf("%s was not approved\n", tools->items[i]->id) > 0;
        for (size_t w = 0; rc == 0 && w < waiting->len; w++)
            if (strcmp(waiting->items[w]->id, tools->items[i]->id) == 0)
                rc = printf("%s waits\n", tools->items[i]->id) > 0;
    }
    if (rc == 0)
        printf("%zu %zu\n", tools->len, waiting->len);
    wt_string_free(pins);
    wt_waiting_list_free(waiting);
    wt_tools_free(tools);
    return rc;
}

int main(int argc, char **argv)
{
    wt_engine *engine = NULL;
    wt_open_options options;
    wt_error err;
    if (argc < 4 || strcmp(argv[1], "-s") != 0)
        return 2;
    wt_open_options_init(&options);
    options.model = "";
    options.trained = "";
    int rc = wt_open(&engine, argv[2], &options, &err);
    if (rc == 0 && strcmp(argv[3], "review") == 0)
        rc = argc == 5 ? review_listing_file(engine, argv[4], &err) : 2;
    else if (rc == 0 && strcmp(argv[3], "approve") == 0)
        rc = approve_waiting_items(engine, &err);
    else if (rc == 0)
        rc = verify_approved_tools(engine, &err);
    wt_close(engine);
    return rc > 0 ? rc : exit_code_of_result(rc, &err);
}
