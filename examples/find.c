/* find.c: the library in forty lines. Imports a file of tools into a store in memory, and runs one request.
 *
 *   cc find.c $(pkg-config --cflags --libs whichtool) -o find
 *   ./find tools.json "book a table for two" */
#include <stdio.h>
#include <string.h>
#include <whichtool.h>

static int import_and_find(wt_engine *engine, const char *source, const char *request, wt_error *err)
{
    wt_add_report *report = NULL;
    if (wt_add_path(engine, source, NULL, &report, err) < 0)
        return -1;
    printf("%zu tools\n", report->added);
    wt_add_report_free(report);

    wt_hits *hits = NULL;
    if (wt_find(engine, request, strlen(request), NULL, &hits, err) < 0)
        return -1;
    for (size_t i = 0; i < hits->len; i++)
        printf("%.4f  %s  %s\n", hits->items[i]->score, hits->items[i]->tool->id, hits->items[i]->tool->description);
    wt_hits_free(hits);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: find TOOLS REQUEST\n");
        return 2;
    }
    wt_engine *engine = NULL;
    wt_error err;
    int rc = wt_open(&engine, ":memory:", NULL, &err);
    if (rc == 0)
        rc = import_and_find(engine, argv[1], argv[2], &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    wt_close(engine);
    return rc < 0;
}
