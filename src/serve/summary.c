#include "serve/summary.h"

#include <stdlib.h>

enum { SHOWN_MAX = 64 }; /* more than fit into SUMMARY_BYTES_MAX */

/* True for a short name of letters, digits and separators. Rejects whole sentences. */
static bool is_plain_provider_name(const char *name)
{
    size_t len = strlen(name), words = 1;
    if (len == 0 || len > SUMMARY_NAME_BYTES_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && (i == 0 || !strchr(" ._-/", c)))
            return false;
        words += !is_letter;
    }
    return words <= SUMMARY_NAME_WORDS_MAX;
}

static int compare_provider_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void wt__catalogue_summary(struct buffer *out, const char *const *names, size_t count, size_t bytes)
{
    static const char begin[] = "Tools of ", others[] = " and others.";
    const char *shown[SHOWN_MAX];
    size_t shown_count = 0, used = sizeof begin + sizeof others;
    for (size_t i = 0; i < count && shown_count < SHOWN_MAX; i++) {
        const char *name = names[i];
        size_t len = strlen(name) + 2;
        if (!is_plain_provider_name(name))
            continue;
        if (used + len > bytes)
            break;
        shown[shown_count++] = name;
        used += len;
    }
    if (shown_count == 0)
        return;
    qsort(shown, shown_count, sizeof *shown, compare_provider_names);
    wt__buffer_text(out, begin);
    for (size_t i = 0; i < shown_count; i++) {
        wt__buffer_text(out, i == 0 ? "" : ", ");
        wt__buffer_text(out, shown[i]);
    }
    wt__buffer_text(out, shown_count < count ? others : ".");
}
