/* pattern.c: a callout before each item of the pattern counts the work of a match. It makes matching about half as
 * fast, but is the only measure of PCRE2 for a whole match. Runs of one item (".*") are a single callout, so the
 * distance moved in the text counts too. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "schema/pattern.h"

#include <pcre2.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "schema/ecma.h"
#include "schema/limits.h"

struct schema_pattern {
    pcre2_code *code;
};

struct counter {
    uint64_t items;
    size_t at; /* position of the last callout */
};

/* As in ECMA-262, "$" means \z, "[]" and "[^]" are classes, and a reference to an unset group matches the empty text.
 */
static const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
                                PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_AUTO_CALLOUT;

static int compile_pcre(pcre2_code **out, struct str text, bool strict, wt_error *err)
{
    struct buffer translated = {.max = 16 * (size_t)PATTERN_BYTES};
    const char *why = NULL;
    *out = NULL;
    if (text.len > PATTERN_BYTES)
        return wt__fail(err, WT_ETOOLONG, "is longer than %d bytes", PATTERN_BYTES);
    if (!wt__ecma_translate(&translated, text, strict, &why)) {
        wt__buffer_dispose(&translated);
        return wt__fail(err, WT_EFORMAT, "is not a regular expression: %s", why);
    }
    if (translated.failed) {
        wt__buffer_dispose(&translated);
        return wt__fail_nomem(err);
    }
    int code = 0;
    PCRE2_SIZE at = 0;
    *out = pcre2_compile((PCRE2_SPTR)(translated.ptr ? translated.ptr : ""), translated.len, options, &code, &at, NULL);
    wt__buffer_dispose(&translated);
    if (*out)
        return 0;
    if (code == PCRE2_ERROR_HEAP_FAILED) /* out of memory during compilation */
        return wt__fail_nomem(err);
    PCRE2_UCHAR said[128] = "";
    pcre2_get_error_message(code, said, sizeof said);
    return wt__fail(err, WT_EFORMAT, "is not a regular expression: %s", (const char *)said);
}

int wt__pattern_compile(struct schema_pattern **out, struct str text, size_t *memory, wt_error *err)
{
    pcre2_code *code;
    size_t size = 0;
    *out = NULL;
    int rc = compile_pcre(&code, text, false, err);
    if (rc < 0)
        return rc;
    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    *memory += size;
    struct schema_pattern *pattern = *memory > PATTERN_MEMORY ? NULL : malloc(sizeof *pattern);
    if (!pattern) {
        pcre2_code_free(code);
        if (*memory > PATTERN_MEMORY)
            return wt__fail(err, WT_ETOOLONG, "makes the patterns of the schema exceed %d bytes", PATTERN_MEMORY);
        return wt__fail_nomem(err);
    }
    pattern->code = code;
    *out = pattern;
    return 0;
}

void wt__pattern_free(struct schema_pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    free(pattern);
}

enum pattern_answer wt__pattern_is_valid(struct str text)
{
    pcre2_code *code;
    int rc = compile_pcre(&code, text, true, NULL);
    pcre2_code_free(code);
    if (rc == WT_ENOMEM)
        return PATTERN_NO_MEMORY;
    return rc == 0 ? PATTERN_YES : PATTERN_NO;
}

static int count_tried_item(pcre2_callout_block *block, void *data)
{
    struct counter *counter = data;
    size_t at = block->current_position;
    size_t moved = at > counter->at ? at - counter->at : counter->at - at;
    counter->at = at;
    counter->items += 1 + moved / PATTERN_ITEMS_A_STEP;
    return counter->items > PATTERN_ITEMS ? PCRE2_ERROR_CALLOUT : 0;
}

static bool prepare_match(struct pattern_scratch *scratch)
{
    if (!scratch->context) {
        pcre2_match_context *context = pcre2_match_context_create(NULL);
        if (!context)
            return false;
        pcre2_set_match_limit(context, PATTERN_ITEMS);
        pcre2_set_depth_limit(context, PATTERN_DEPTH);
        pcre2_set_heap_limit(context, PATTERN_HEAP_KIB);
        scratch->context = context;
    }
    if (!scratch->data)
        scratch->data = pcre2_match_data_create(1, NULL);
    return scratch->data != NULL;
}

void wt__pattern_scratch_dispose(struct pattern_scratch *scratch)
{
    pcre2_match_data_free(scratch->data);
    pcre2_match_context_free(scratch->context);
    *scratch = (struct pattern_scratch){0};
}

enum pattern_answer wt__pattern_match(const struct schema_pattern *pattern, struct pattern_scratch *scratch,
                                      struct str text, uint64_t *steps)
{
    struct counter counter = {0};
    if (!prepare_match(scratch))
        return PATTERN_NO_MEMORY;
    pcre2_set_callout(scratch->context, count_tried_item, &counter);
    int rc = pcre2_match(pattern->code, (PCRE2_SPTR)(text.ptr ? text.ptr : ""), text.len, 0, 0, scratch->data,
                         scratch->context);
    *steps += 1 + (counter.items + text.len / PATTERN_ITEMS_A_STEP) / PATTERN_ITEMS_A_STEP;
    if (rc >= 0) /* 0 means more groups than the scratch holds, and the groups are not used. */
        return PATTERN_YES;
    if (rc == PCRE2_ERROR_NOMEMORY)
        return PATTERN_NO_MEMORY;
    bool limit = rc == PCRE2_ERROR_CALLOUT || rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT ||
                 rc == PCRE2_ERROR_HEAPLIMIT;
    return limit ? PATTERN_UNDECIDED : PATTERN_NO;
}
