/* names.c: finds names that an API refuses, according to its documentation and error messages. Names in exports of
 * whichtool always fit (catalog/names.h), so this rule is for callers that send definitions unchanged. */
#include "audit/families.h"

#include "catalog/names.h"

struct api_name_limits {
    const char *name;
    size_t most;       /* maximum bytes */
    const char *marks; /* allowed in addition to letters and digits */
    bool begins;       /* true if the first character must be a letter or '_' */
};

static const struct api_name_limits apis[] = {
    {"OpenAI", 64, "_-", false},
    {"Anthropic", 128, "_-", false},
    {"Gemini", 64, "_-.:", true},
    {"MCP", 128, "_-.", false},
};
enum { APIS = sizeof apis / sizeof *apis };

static bool api_accepts(const struct api_name_limits *api, struct str name)
{
    if (name.len == 0 || name.len > api->most || (api->begins && !wt__is_letter(name.ptr[0]) && name.ptr[0] != '_'))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!wt__is_letter(c) && !wt__is_digit(c) && (c == 0 || !strchr(api->marks, c)))
            return false;
    }
    return true;
}

/* True if an import numbered the name because the provider already had *stem: "add~2" for a second "add". */
static bool is_numbered_copy(const struct audit_run *a, size_t tool, struct str *stem)
{
    const struct str name = a->tools[tool].tool.name;
    *stem = wt__name_without_number(name);
    for (size_t i = 0; stem->len < name.len && i < a->count; i++)
        if (a->tools[i].provider == a->tools[tool].provider && wt__str_equal(a->tools[i].tool.name, *stem))
            return true;
    return false;
}

int wt__audit_name(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    const struct tool *tool = &a->tools[at->tool].tool;
    struct buffer refusing = {0}, advice = {0};
    size_t count = 0;
    for (size_t i = 0; i < APIS; i++)
        if (!api_accepts(&apis[i], tool->name))
            wt__buffer_printf(&refusing, "%s%s", count++ > 0 ? ", " : "", apis[i].name);
    char name[EXPORT_NAME_MAX + 1];
    wt__export_name((struct str){0}, tool->name, 0, name);
    struct str stem;
    bool numbered = count > 0 && is_numbered_copy(a, at->tool, &stem);
    if (numbered)
        wt__buffer_text(&advice, "Rename one of the two. If they come from two files, give one file another provider: "
                                 "`whichtool add -p NAME FILE`.");
    else
        wt__buffer_printf(
            &advice,
            "Name it \"%s\", or send the definitions that `whichtool show` exports: every API accepts their names.",
            name);
    uint32_t place = (uint32_t)at->tool;
    const struct new_finding found = {
        .rule = RULE_REFUSED_NAME, .tools = &place, .count = 1, .figure = (double)count, .advice = advice.ptr};
    int rc = refusing.failed || advice.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && numbered)
        rc = wt__audit_add_finding(
            a, &found, err,
            "Another tool of this provider is also named \"%s\", so this one is called \"%s\", which %s %s.",
            wt__audit_quote(a, stem), wt__audit_quote(a, tool->name), refusing.ptr, count == 1 ? "rejects" : "reject");
    else if (rc == 0 && count > 0)
        rc = wt__audit_add_finding(a, &found, err, "The name \"%s\" is rejected by %s.", wt__audit_quote(a, tool->name),
                                   refusing.ptr);
    wt__buffer_dispose(&refusing);
    wt__buffer_dispose(&advice);
    return rc;
}
