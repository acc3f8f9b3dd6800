/* pinned.c: finds definitions that changed since they were pinned. */
#include <math.h>

#include "audit/families.h"
#include "catalog/pins.h"

/* Appends the names of changed members: "description, inputSchema (new)". */
static void append_changed_members(const json_t *was, const json_t *now, struct buffer *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        const json_t *before = json_object_get(was, key);
        if (!before || !json_equal(before, value))
            wt__buffer_printf(out, "%s%s%s", out->len > 0 ? ", " : "", key, before ? "" : " (new)");
    }
    json_object_foreach((json_t *)was, key, value) if (!json_object_get(now, key))
        wt__buffer_printf(out, "%s%s (removed)", out->len > 0 ? ", " : "", key);
}

static int compare_with_pin(struct audit_run *a, struct pin *pin, size_t tool, wt_error *err)
{
    char sha256[DEFINITION_DIGITS + 1];
    struct buffer changes = {0};
    json_t *members;
    if (!pin)
        return wt__audit_add_tool_finding(a, RULE_PIN_NEW, tool, err, "The tool is not in the pins.");
    pin->met = true;
    if (wt__is_partial_hash(&a->tools[tool].tool, pin->members))
        return wt__audit_add_tool_finding(a, RULE_PIN_CHANGED, tool, err,
                                          "The pin is from an earlier version of whichtool, which left out the "
                                          "definitions it refers to and the route of its calls.");
    int rc = wt__tool_hash(&a->tools[tool].tool, sha256, &members, err);
    if (rc < 0)
        return rc;
    if (strcmp(sha256, pin->sha256) != 0) {
        append_changed_members(pin->members, members, &changes);
        rc = changes.failed ? wt__fail_nomem(err)
                            : wt__audit_add_tool_finding(
                                  a, RULE_PIN_CHANGED, tool, err, "The definition changed since it was pinned%s%s.",
                                  changes.len > 0 ? ": " : "", wt__audit_quote(a, wt__buffer_view(&changes)));
    }
    wt__buffer_dispose(&changes);
    json_decref(members);
    return rc;
}

int wt__audit_pinned(struct audit_run *a, wt_error *err)
{
    struct pins pins = {0};
    int rc = wt__pins_read(&pins, a->options.pins, a->options.pins_len, err);
    if (rc < 0 && rc != WT_ENOMEM && a->options.pins_file)
        wt__fail_context(err, rc, "%s", a->options.pins_file);
    for (size_t i = 0; rc == 0 && i < a->count; i++)
        if (!a->scoped || a->tools[i].provider == a->scope)
            rc = compare_with_pin(a, wt__pins_find(&pins, wt__str(a->tools[i].id)), i, err);
    for (size_t i = 0; rc == 0 && i < pins.count; i++) {
        const struct pin *pin = &pins.items[i];
        const struct new_finding found = {.rule = RULE_PIN_GONE,
                                          .removed = pin->id,
                                          .removed_provider = pin->provider,
                                          .line = pin->line,
                                          .figure = NAN};
        if (!pin->met && pin->id.len > 0)
            rc = wt__audit_add_finding(a, &found, err, "The tool was pinned and is no longer in the catalogue.");
    }
    wt__pins_dispose(&pins);
    return rc;
}
