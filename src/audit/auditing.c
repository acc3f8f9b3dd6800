#include "audit/auditing.h"

#include <math.h>
#include <stdarg.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "catalog/names.h"
#include "text/unicode.h"

enum { EMOJI_SELECTOR = 0xFE0F /* follows a symbol; selects its coloured glyph */ };

/* True if an exception matches the finding's first tool. A finding about a provider matches by the id "PROVIDER/",
 * without a tool name. */
static bool matches_exception(const struct audit_run *a, const struct new_finding *found)
{
    struct buffer whole = {0};
    struct str id = found->removed, name = STR("");
    bool excepted = false;
    if (id.len > 0) {
        size_t skip = wt__str_starts(id, found->removed_provider) ? found->removed_provider.len : 0;
        skip += skip > 0 && skip < id.len; /* skip the slash, too */
        name = (struct str){id.ptr + skip, id.len - skip};
    } else if (found->count > 0) {
        id = wt__str(a->tools[found->tools[0]].id);
        name = a->tools[found->tools[0]].tool.name;
    } else {
        wt__tool_id(&whole, a->providers[found->provider].name, name);
        id = wt__buffer_view(&whole);
    }
    for (size_t e = 0; e < a->exception_count && !excepted; e++)
        excepted = a->exceptions[e].rule == found->rule && wt__pattern_fits(a->exceptions[e].pattern, id, name);
    wt__buffer_dispose(&whole);
    return excepted;
}

bool wt__audit_wants_finding(const struct audit_run *a, const struct new_finding *found)
{
    if (!a->wanted[found->rule] || matches_exception(a, found))
        return false;
    if (!a->scoped)
        return true;
    for (size_t i = 0; i < found->count; i++)
        if (a->tools[found->tools[i]].provider == a->scope)
            return true;
    if (found->removed.len > 0)
        return wt__str_equal(found->removed_provider, a->providers[a->scope].name);
    return found->count == 0 && found->provider == a->scope;
}

static struct str finding_provider(const struct audit_run *a, const struct new_finding *found)
{
    if (found->removed.len > 0)
        return found->removed_provider;
    return a->providers[found->count > 0 ? a->tools[found->tools[0]].provider : found->provider].name;
}

static const char **list_finding_tools(struct audit_run *a, const struct new_finding *found, size_t *count)
{
    bool removed = found->removed.len > 0;
    *count = removed ? 1 : found->count < AUDIT_LISTED ? found->count : AUDIT_LISTED;
    const char **tools = wt__arena_array(a->arena, const char *, *count);
    for (size_t i = 0; tools && i < *count; i++)
        if (!(tools[i] = wt__arena_copy(a->arena, removed ? found->removed : wt__str(a->tools[found->tools[i]].id))))
            return NULL;
    return tools;
}

/* Returns one origin per listed tool. The origin of a provider is that of its first tool; that of a removed tool is the
 * pins file. NULL if out of memory. */
static struct tool_origin *list_finding_origins(struct audit_run *a, const struct new_finding *found, size_t listed)
{
    struct tool_origin *origins = wt__arena_array(a->arena, struct tool_origin, listed > 0 ? listed : 1);
    size_t first = 0, count = listed < found->count ? listed : found->count;
    while (listed == 0 && first < a->count && a->tools[first].provider != found->provider)
        first++;
    if (listed == 0)
        count = first < a->count;
    if (origins && found->removed.len > 0)
        origins[0].source = a->pins;
    for (size_t i = 0; origins && i < count; i++) {
        size_t tool = listed > 0 ? found->tools[i] : first;
        if (!wt__make_origin(&origins[i], &a->tools[tool].tool, a->tools[tool].source, a->arena))
            return NULL;
    }
    return origins;
}

static int keep_finding(struct audit_run *a, const struct new_finding *found, struct str message, wt_error *err)
{
    const struct audit_rule_text *rule = &wt__audit_rules[found->rule];
    size_t listed;
    const char **tools = list_finding_tools(a, found, &listed);
    const struct tool_origin *origins = list_finding_origins(a, found, listed);
    const char *text = wt__arena_copy(a->arena, message),
               *provider = wt__arena_copy(a->arena, finding_provider(a, found));
    const char *advice = found->advice ? wt__arena_copy(a->arena, wt__str(found->advice)) : rule->advice;
    if (!tools || !origins || !text || !provider || !advice ||
        wt__grow((void **)&a->findings, &a->finding_capacity, a->finding_count + 1, sizeof *a->findings) < 0)
        return wt__fail_nomem(err);
    a->findings[a->finding_count] =
        (struct kept_finding){.rule = found->rule,
                              .order = a->finding_count,
                              .finding = {.origins = origins,
                                          .store = a->store,
                                          .line = a->pins ? found->line : 0,
                                          .public = {.rule = rule->id,
                                                     .level = rule->level,
                                                     .tool_count = listed,
                                                     .tools = tools,
                                                     .more_tools = found->count > listed ? found->count - listed : 0,
                                                     .provider = provider,
                                                     .message = text,
                                                     .advice = advice,
                                                     .figure = found->figure}}};
    a->finding_count++;
    return 0;
}

static int format_finding(struct audit_run *a, const struct new_finding *found, wt_error *err, const char *format,
                          va_list values)
{
    struct buffer message = {0};
    va_list again;
    va_copy(again, values);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = len < 0 ? NULL : malloc((size_t)len + 1);
    if (!text)
        return wt__fail_nomem(err);
    vsnprintf(text, (size_t)len + 1, format, values);
    wt__utf8_append(&message, (struct str){text, (size_t)len});
    free(text);
    int rc = message.failed ? wt__fail_nomem(err) : keep_finding(a, found, wt__buffer_view(&message), err);
    wt__buffer_dispose(&message);
    return rc;
}

int wt__audit_add_finding(struct audit_run *a, const struct new_finding *found, wt_error *err, const char *format, ...)
{
    va_list values;
    if (!wt__audit_wants_finding(a, found))
        return 0;
    va_start(values, format);
    int rc = format_finding(a, found, err, format, values);
    va_end(values);
    return rc;
}

int wt__audit_add_tool_finding(struct audit_run *a, enum audit_rule rule, size_t tool, wt_error *err,
                               const char *format, ...)
{
    uint32_t place = (uint32_t)tool;
    struct new_finding found = {.rule = rule, .tools = &place, .count = 1, .figure = NAN};
    va_list values;
    if (!wt__audit_wants_finding(a, &found))
        return 0;
    va_start(values, format);
    int rc = format_finding(a, &found, err, format, values);
    va_end(values);
    return rc;
}

const char *wt__audit_quote(struct audit_run *a, struct str text)
{
    struct buffer out = {0};
    bool blank = false;
    text = wt__str_trim(text);
    struct str head = wt__str_head(text, AUDIT_QUOTED);
    for (const char *at = head.ptr, *end = head.len > 0 ? head.ptr + head.len : at; at < end;) {
        const char *from = at;
        uint32_t c = wt__utf8_next(&at, end);
        bool is_blank = wt__unicode_blank(c) || c < ' ';
        if (is_blank && !blank)
            wt__buffer_char(&out, ' ');
        else if (!is_blank && c != EMOJI_SELECTOR && wt__unicode_unseen(c))
            wt__buffer_printf(&out, "[U+%04X]", (unsigned)c);
        else if (!is_blank)
            wt__buffer_append(&out, from, (size_t)(at - from));
        blank = is_blank;
    }
    if (head.len < text.len)
        wt__buffer_text(&out, "...");
    const char *copy = out.failed ? NULL : wt__arena_copy(&a->scratch, wt__buffer_view(&out));
    wt__buffer_dispose(&out);
    return copy ? copy : "";
}

size_t wt__audit_tool_index(const struct audit_run *a, int64_t key)
{
    size_t low = 0, high = a->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->tools[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->count && a->tools[low].key == key ? low : a->count;
}
