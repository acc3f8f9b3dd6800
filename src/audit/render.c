#include "audit/render.h"

#include "base/error.h"

int wt_audit_render(const wt_audit_result *audit, const char *form, char **out, wt_error *err)
{
    static const struct {
        const char *name;
        void (*write)(struct buffer *, const wt_audit_result *);
    } forms[] = {{"sarif", wt__audit_sarif}, {"html", wt__audit_html}};
    struct buffer text = {0};
    *out = NULL;
    for (size_t f = 0; form && f < sizeof forms / sizeof *forms; f++) {
        if (strcmp(form, forms[f].name) != 0)
            continue;
        forms[f].write(&text, audit);
        *out = wt__buffer_take(&text);
        return *out ? 0 : wt__fail_nomem(err);
    }
    return wt__fail(err, WT_EINVAL, "unknown audit format \"%s\"; use sarif or html", form ? form : "");
}
