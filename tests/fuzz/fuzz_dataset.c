/* Fuzzes the reader of BEIR data sets: the input up to the first NUL is queries.jsonl, the rest is the qrels file. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *nul = size ? memchr(text, '\0', size) : NULL;
    size_t len = nul ? (size_t)(nul - text) : size;
    struct str queries = {text, len};
    struct str qrels = nul ? (struct str){nul + 1, size - len - 1} : (struct str){"", 0};
    struct dataset set;
    if (wt__dataset_parse(&set, queries, "queries", qrels, "qrels", NULL) == 0) {
        for (size_t q = 0; q < set.len; q++)
            if (set.queries[q].judgement_count == 0 || set.queries[q].text.len > WT_MAX_REQUEST_BYTES)
                abort();
        wt__dataset_dispose(&set);
    }
    return 0;
}
