#include "cli/aliases.h"

#include <string.h>

#include "base/buffer.h"

static const struct {
    const char *old, *now;
} names[] = {
    {"below", "base-retriever"}, {"copies", "all-copies"}, {"foreign", "out-of-domain"},
    {"made-up", "synthetic"},    {"without", "ablate"},
};

static const struct {
    enum option_id option;
    const char *old, *now;
} items[] = {
    {OPT_ABLATE, "direct", "dsa"},
    {OPT_ABLATE, "past", "hqc"},
    {OPT_ABLATE, "like", "cte"},
};

static bool is(const char *name, const char *at, size_t len)
{
    return strlen(name) == len && memcmp(name, at, len) == 0;
}

const char *wt__alias_option(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(names[i].old, name, len))
            return names[i].now;
    return NULL;
}

static struct str item_now(enum option_id option, struct str item)
{
    struct str word = wt__str_trim(item);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (items[i].option == option && is(items[i].old, word.ptr, word.len))
            return wt__str(items[i].now);
    return item;
}

const char *wt__alias_items(enum option_id option, const char *value, struct arena *arena)
{
    struct buffer text = {0};
    for (const char *at = value; at;) {
        size_t len = strcspn(at, ",");
        wt__buffer_str(&text, item_now(option, (struct str){at, len}));
        if (at[len])
            wt__buffer_char(&text, ',');
        at = at[len] ? at + len + 1 : NULL;
    }
    bool same = !text.failed && is(value, text.ptr ? text.ptr : "", text.len);
    const char *now = same ? value : text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return now;
}
