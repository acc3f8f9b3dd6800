/* definition_changes.c: walks both definitions at once, member by member, and writes a sentence for each difference.
 *
 * Members that clients act on have wordings of their own: hints of annotations (a hint that asks for less care is
 * "loosened"), and arguments that are added, removed, or required. */
#include "catalog/definition_changes.h"

#include "base/buffer.h"
#include "base/json.h"
#include "catalog/word_diff.h"
#include "text/shown.h"

enum {
    KEY_SHOWN = 64,    /* maximum bytes of a member's name */
    PATH_SHOWN = 160,  /* maximum bytes of its path */
    VALUE_SHOWN = 160, /* maximum bytes of a changed value */
    TEXT_SHOWN = 400,  /* maximum bytes of a new value */
    BRIEF_TEXT = 48    /* texts up to this length are quoted whole, longer ones by words */
};

struct walk {
    struct definition_changes *out;
    struct arena *arena;
    struct buffer path, line;
    bool schema;      /* within a schema */
    bool annotations; /* within annotations */
    wt_error *err;
};

/* ---------------------------------------------------------------- sentences */

static void begin(struct walk *w)
{
    struct str path = wt__buffer_view(&w->path);
    wt__buffer_clear(&w->line);
    if (path.len > PATH_SHOWN) {
        wt__buffer_text(&w->line, "...");
        path = (struct str){path.ptr + path.len - PATH_SHOWN, PATH_SHOWN};
        while (path.len > 0 && ((unsigned char)*path.ptr & 0xc0) == 0x80)
            path = (struct str){path.ptr + 1, path.len - 1};
    }
    wt__buffer_str(&w->line, path);
    wt__buffer_text(&w->line, ": ");
}

static int end(struct walk *w)
{
    struct definition_changes *out = w->out;
    if (w->line.failed)
        return wt__fail_nomem(w->err);
    if (out->count == WT_MAX_CHANGES) {
        out->more++;
        return 0;
    }
    if (w->line.len > WT_MAX_CHANGE_BYTES) {
        size_t len = WT_MAX_CHANGE_BYTES - 3;
        while (len > 0 && ((unsigned char)w->line.ptr[len] & 0xc0) == 0x80)
            len--;
        wt__buffer_cut(&w->line, len);
        wt__buffer_text(&w->line, "...");
    }
    const char *copy = w->line.failed ? NULL : wt__arena_copy(w->arena, wt__buffer_view(&w->line));
    if (!copy)
        return wt__fail_nomem(w->err);
    out->items[out->count++] = copy;
    return 0;
}

/* Appends a value as JSON, at most `most` bytes of it. */
static void put_value(struct walk *w, const json_t *value, size_t most)
{
    struct buffer text = {0};
    wt__shown_value(&text, value);
    struct str all = wt__buffer_view(&text);
    size_t len = all.len;
    if (len > most)
        for (len = most; len > 0 && ((unsigned char)all.ptr[len] & 0xc0) == 0x80;)
            len--;
    wt__buffer_str(&w->line, (struct str){all.ptr, len});
    if (len < all.len)
        wt__buffer_printf(&w->line, "... (%zu bytes)", all.len);
    w->line.failed |= text.failed;
    wt__buffer_dispose(&text);
}

static bool is_plain(struct str key)
{
    bool plain = key.len > 0 && key.len <= KEY_SHOWN;
    for (size_t i = 0; plain && i < key.len; i++) {
        char c = key.ptr[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_$-", c);
    }
    return plain;
}

/* Appends a member to the path. Returns the length to restore with come_back. */
static size_t go(struct walk *w, struct str key)
{
    size_t back = w->path.len;
    if (is_plain(key)) {
        wt__buffer_text(&w->path, back > 0 ? "." : "");
        wt__buffer_str(&w->path, key);
    } else {
        wt__buffer_char(&w->path, '[');
        wt__quote(&w->path, key, KEY_SHOWN);
        wt__buffer_char(&w->path, ']');
    }
    return back;
}

static void come_back(struct walk *w, size_t back)
{
    if (!w->path.failed)
        wt__buffer_cut(&w->path, back);
}

/* ---------------------------------------------------------------- hints */

static const struct {
    const char *name;
    bool unsaid;  /* default of the hint */
    bool careful; /* value that asks for more care */
    const char *loosened, *tightened;
} hints[] = {
    {"readOnlyHint", false, false, "it now claims to change nothing", "it now says that it changes something"},
    {"destructiveHint", true, true, "it now claims to destroy nothing", "it now says that it may destroy something"},
    {"idempotentHint", false, false, "it now claims that calling it again does nothing more",
     "it now says that calling it again does more"},
    {"openWorldHint", true, true, "it now claims to reach nothing outside", "it now says that it reaches outside"},
};

static void put_said(struct walk *w, const json_t *value)
{
    if (value)
        put_value(w, value, VALUE_SHOWN);
    else
        wt__buffer_text(&w->line, "not set");
}

/* Describes a change of a hint. Returns 1 if `key` is a hint, else 0. */
static int tell_hint(struct walk *w, const char *key, const json_t *before, const json_t *after)
{
    size_t at = 0;
    while (at < sizeof hints / sizeof *hints && strcmp(hints[at].name, key) != 0)
        at++;
    if (at == sizeof hints / sizeof *hints)
        return 0;
    bool was = json_is_boolean(before) ? json_is_true(before) : hints[at].unsaid;
    bool is = json_is_boolean(after) ? json_is_true(after) : hints[at].unsaid;
    begin(w);
    put_said(w, before);
    wt__buffer_text(&w->line, " -> ");
    put_said(w, after);
    if (was != is)
        wt__buffer_printf(&w->line, " (%s: %s)", is == hints[at].careful ? "tightened" : "loosened",
                          is == hints[at].careful ? hints[at].tightened : hints[at].loosened);
    int rc = end(w);
    return rc < 0 ? rc : 1;
}

/* ---------------------------------------------------------------- arguments */

/* Returns the names of a list as an object, for fast lookups, or NULL if out of memory. */
static json_t *set_of(const json_t *list)
{
    size_t at;
    json_t *item, *set = json_object();
    json_array_foreach((json_t *)list, at, item)
    {
        const char *name = json_string_value(item);
        if (set && name && json_object_set_new(set, name, json_true()) < 0) {
            json_decref(set);
            set = NULL;
        }
    }
    return set;
}

/* Starts the sentence about a property that was added or removed, or is required or not required now. */
static int tell_property(struct walk *w, const char *verb, const char *key, const char *says)
{
    begin(w);
    wt__buffer_text(&w->line, verb);
    wt__quote(&w->line, wt__str(key), KEY_SHOWN);
    wt__buffer_text(&w->line, says);
    return 0;
}

static int tell_new_property(struct walk *w, const char *key, const json_t *value, bool required)
{
    tell_property(w, required ? "a new required property " : "a new property ", key, ": ");
    put_value(w, value, TEXT_SHOWN);
    return end(w);
}

static int walk_values(struct walk *w, const json_t *before, const json_t *after);

static int walk_properties(struct walk *w, const json_t *before, const json_t *after, const json_t *required)
{
    const char *key;
    json_t *value;
    int rc = 0;
    json_object_foreach((json_t *)after, key, value)
    {
        const json_t *was = json_object_get(before, key);
        if (rc == 0 && !was)
            rc = tell_new_property(w, key, value, json_object_get(required, key) != NULL);
        else if (rc == 0 && !json_equal(was, value)) {
            size_t back = go(w, STR("properties"));
            go(w, wt__str(key));
            rc = walk_values(w, was, value);
            come_back(w, back);
        }
    }
    json_object_foreach((json_t *)before, key, value) if (rc == 0 && !json_object_get(after, key))
    {
        tell_property(w, "the property ", key, " was removed");
        rc = end(w);
    }
    return rc;
}

/* before and after are sets of required names, known_before and known_after properties. Added and removed properties
 * are skipped, because they were described already. */
static int walk_required(struct walk *w, const json_t *before, const json_t *after, const json_t *known_before,
                         const json_t *known_after)
{
    const char *name;
    json_t *value;
    int rc = 0;
    json_object_foreach((json_t *)after, name, value)
    {
        if (rc == 0 && !json_object_get(before, name) && json_object_get(known_before, name)) {
            tell_property(w, "", name, " is now required");
            rc = end(w);
        }
    }
    json_object_foreach((json_t *)before, name, value)
    {
        if (rc == 0 && !json_object_get(after, name) && json_object_get(known_after, name)) {
            tell_property(w, "", name, " is no longer required");
            rc = end(w);
        }
    }
    return rc;
}

/* ---------------------------------------------------------------- any values */

static bool has_parts(const json_t *value)
{
    size_t at;
    json_t *item;
    json_array_foreach((json_t *)value, at, item) if (json_is_object(item) || json_is_array(item)) return true;
    return false;
}

static int tell_text(struct walk *w, struct str before, struct str after)
{
    if (w->out->count == WT_MAX_CHANGES) { /* changes over the limit are not compared */
        w->out->more++;
        return 0;
    }
    begin(w);
    if (before.len <= BRIEF_TEXT && after.len <= BRIEF_TEXT) {
        wt__quote(&w->line, before, BRIEF_TEXT);
        wt__buffer_text(&w->line, " -> ");
        wt__quote(&w->line, after, BRIEF_TEXT);
    } else if (wt__word_diff(&w->line, before, after) < 0)
        return wt__fail_nomem(w->err);
    return end(w);
}

static int tell_new(struct walk *w, const char *verb, const json_t *value)
{
    begin(w);
    wt__buffer_text(&w->line, verb);
    put_value(w, value, TEXT_SHOWN);
    return end(w);
}

static int walk_member(struct walk *w, const char *key, const json_t *before, const json_t *after)
{
    if (before && after && json_equal(before, after))
        return 0;
    size_t back = go(w, wt__str(key));
    int rc = w->annotations ? tell_hint(w, key, before, after) : 0;
    if (rc == 0)
        rc = before && after ? walk_values(w, before, after)
             : after         ? tell_new(w, "new: ", after)
                             : tell_new(w, "removed; it was ", before);
    come_back(w, back);
    return rc < 0 ? rc : 0;
}

/* Compares the properties of a schema and their required names. *told is set if the lists of required names need no
 * sentence of their own. */
static int walk_arguments(struct walk *w, const json_t *before, const json_t *after, bool *told)
{
    const json_t *was = json_object_get(before, "properties"), *is = json_object_get(after, "properties");
    const json_t *needed = json_object_get(before, "required"), *needs = json_object_get(after, "required");
    json_t *were = set_of(needed), *are = set_of(needs);
    int rc = were && are ? walk_properties(w, was, is, are) : wt__fail_nomem(w->err);
    size_t count = w->out->count + w->out->more;
    *told = (!needed || json_is_array(needed)) && (!needs || json_is_array(needs));
    if (rc == 0 && *told)
        rc = walk_required(w, were, are, was, is);
    /* A list that only changed its order, or names unknown properties, is compared as a value. */
    *told = *told && (count < w->out->count + w->out->more || !json_equal(was, is));
    json_decref(were);
    json_decref(are);
    return rc;
}

static bool is_told(const char *key, bool arguments, bool lists)
{
    return (arguments && strcmp(key, "properties") == 0) || (lists && strcmp(key, "required") == 0);
}

static int walk_object(struct walk *w, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *value;
    int rc = 0;
    bool lists = false, arguments = w->schema && json_is_object(json_object_get(before, "properties")) &&
                                    json_is_object(json_object_get(after, "properties"));
    if (arguments)
        rc = walk_arguments(w, before, after, &lists);
    json_object_foreach((json_t *)after, key, value) if (rc == 0 && !is_told(key, arguments, lists)) rc =
        walk_member(w, key, json_object_get(before, key), value);
    json_object_foreach((json_t *)before, key,
                        value) if (rc == 0 && !json_object_get(after, key) && !is_told(key, arguments, lists)) rc =
        walk_member(w, key, value, NULL);
    return rc;
}

static int walk_array(struct walk *w, const json_t *before, const json_t *after)
{
    size_t n = json_array_size(before), m = json_array_size(after);
    int rc = 0;
    for (size_t i = 0; rc == 0 && (i < n || i < m); i++) {
        const json_t *was = json_array_get(before, i), *is = json_array_get(after, i);
        if (was && is && json_equal(was, is))
            continue;
        size_t back = w->path.len;
        wt__buffer_printf(&w->path, "[%zu]", i);
        rc = was && is ? walk_values(w, was, is) : is ? tell_new(w, "new: ", is) : tell_new(w, "removed; it was ", was);
        come_back(w, back);
    }
    return rc;
}

static int walk_values(struct walk *w, const json_t *before, const json_t *after)
{
    if (json_is_object(before) && json_is_object(after))
        return walk_object(w, before, after);
    if (json_is_array(before) && json_is_array(after) && (has_parts(before) || has_parts(after)))
        return walk_array(w, before, after);
    if (json_is_string(before) && json_is_string(after))
        return tell_text(w, (struct str){json_string_value(before), json_string_length(before)},
                         (struct str){json_string_value(after), json_string_length(after)});
    begin(w);
    put_value(w, before, VALUE_SHOWN);
    wt__buffer_text(&w->line, " -> ");
    put_value(w, after, VALUE_SHOWN);
    return end(w);
}

/* ---------------------------------------------------------------- whole definitions */

/* Members described first, in this order. */
static const char *const first[] = {"annotations", "description", "inputSchema", "name", "title", "outputSchema"};
enum { FIRST = sizeof first / sizeof *first };

static bool is_first(const char *key)
{
    for (size_t i = 0; i < FIRST; i++)
        if (strcmp(first[i], key) == 0)
            return true;
    return false;
}

static int walk_top(struct walk *w, const char *key, const json_t *before, const json_t *after)
{
    size_t len = strlen(key);
    w->annotations = strcmp(key, "annotations") == 0;
    w->schema = len >= 6 && strcmp(key + len - 6, "Schema") == 0;
    if (!w->annotations || (before && !json_is_object(before)) || (after && !json_is_object(after)))
        return walk_member(w, key, before, after);
    /* Describe hints one by one, also if all annotations are new or gone. */
    size_t back = go(w, wt__str(key));
    int rc = walk_object(w, before, after);
    come_back(w, back);
    return rc;
}

static int walk_definition(struct walk *w, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *value;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < FIRST; i++) {
        const json_t *was = json_object_get(before, first[i]), *is = json_object_get(after, first[i]);
        if (was || is)
            rc = walk_top(w, first[i], was, is);
    }
    json_object_foreach((json_t *)after, key, value) if (rc == 0 && !is_first(key)) rc =
        walk_top(w, key, json_object_get(before, key), value);
    json_object_foreach((json_t *)before, key, value) if (rc == 0 && !is_first(key) && !json_object_get(after, key))
        rc = walk_top(w, key, value, NULL);
    return rc;
}

/* Describes a new definition. */
static int tell_definition(struct walk *w, const json_t *definition)
{
    const char *key;
    json_t *value;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < FIRST; i++) {
        const json_t *says = json_object_get(definition, first[i]);
        size_t back = go(w, wt__str(first[i]));
        rc = says ? tell_new(w, "", says) : 0;
        come_back(w, back);
    }
    json_object_foreach((json_t *)definition, key, value)
    {
        size_t back = go(w, wt__str(key));
        rc = rc == 0 && !is_first(key) ? tell_new(w, "", value) : rc;
        come_back(w, back);
    }
    return rc;
}

static int open_walk(struct walk *w, struct definition_changes *out, struct arena *arena, wt_error *err)
{
    *w = (struct walk){.out = out, .arena = arena, .err = err};
    *out = (struct definition_changes){.items = wt__arena_array(arena, const char *, WT_MAX_CHANGES)};
    return out->items ? 0 : wt__fail_nomem(err);
}

/* Without a difference, says that the definition waits because of the lock. */
static int close_walk(struct walk *w, bool both, int rc)
{
    if (rc == 0 && both && w->out->count == 0) {
        wt__buffer_clear(&w->line);
        wt__buffer_text(&w->line, "nothing changed, but the lock file does not contain it");
        rc = end(w);
    }
    wt__buffer_dispose(&w->path);
    wt__buffer_dispose(&w->line);
    return rc;
}

int wt__plain_text_changes(struct definition_changes *out, const char *name, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err)
{
    struct walk w;
    int rc = open_walk(&w, out, arena, err);
    if (rc < 0)
        return rc;
    go(&w, wt__str(name));
    if (before && !wt__str_equal(*before, after))
        rc = tell_text(&w, *before, after);
    else if (!before) {
        begin(&w);
        wt__quote(&w.line, after, TEXT_SHOWN);
        rc = end(&w);
    }
    return close_walk(&w, before != NULL, rc);
}

int wt__definition_changes(struct definition_changes *out, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err)
{
    struct walk w;
    json_t *was = NULL, *is = NULL;
    int read = before ? wt__json_parse(&was, before->ptr, before->len, NULL) : 0;
    if (read != WT_ENOMEM && read != WT_EFORMAT)
        read = wt__json_parse(&is, after.ptr, after.len, NULL);
    int rc = read == WT_ENOMEM ? wt__fail_nomem(err) : 0;
    if (rc == 0 && (!json_is_object(is) || (before && !json_is_object(was))))
        rc = wt__plain_text_changes(out, "definition", before, after, arena, err);
    else if (rc == 0 && (rc = open_walk(&w, out, arena, err)) == 0)
        rc = close_walk(&w, before != NULL, before ? walk_definition(&w, was, is) : tell_definition(&w, is));
    json_decref(was);
    json_decref(is);
    return rc;
}
