/* definition_changes.c: walks both definitions at once, member by member, and writes a sentence for each difference.
 *
 * Members that clients act on have wordings of their own: hints of annotations (a hint that asks for less care is
 * "loosened"), and arguments that are added, removed, or required. */
#include "catalog/definition_changes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "text/shown.h"

/* ---------------------------------------------------------------- differences of texts, by words */

/* The longest common subsequence of words, with the standard table, after removing the common beginning and end. If the
 * table would exceed DIFF_CELLS, all words between the common beginning and end are one change. */

enum {
    DIFF_CELLS = 1 << 20,
    DIFF_PLACES = 4,  /* maximum changes of one text described separately */
    DIFF_QUOTED = 160 /* maximum bytes quoted of each change */
};

struct diff_words {
    struct str *items;
    size_t count, capacity;
};

/* Appends at most `most` bytes of text as a JSON string with escaped invisible characters. A shortened text is followed
 * by "..." and its full length. */
static void quote_definition_text(struct buffer *out, struct str text, size_t most)
{
    wt__shown_string(out, wt__str_cut(text, most));
    if (text.len > most)
        wt__buffer_printf(out, "... (%zu bytes)", text.len);
}

static int split_diff_words(struct diff_words *out, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t begin = at;
        while (at < text.len && !wt__is_blank(text.ptr[at]))
            at++;
        while (at < text.len && wt__is_blank(text.ptr[at]))
            at++;
        if (wt__grow((void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items) < 0)
            return -1;
        out->items[out->count++] = (struct str){text.ptr + begin, at - begin};
    }
    return 0;
}

/* Returns the text of words [from, to). */
static struct str join_words(const struct diff_words *words, size_t from, size_t to)
{
    if (from == to)
        return (struct str){"", 0};
    const struct str *last = &words->items[to - 1];
    return (struct str){words->items[from].ptr, (size_t)(last->ptr + last->len - words->items[from].ptr)};
}

struct diff {
    struct diff_words before, after;
    struct buffer *out;
    size_t shown_count, hidden_count; /* changes described, and changes beyond DIFF_PLACES */
    uint16_t *table;                  /* see fill_diff_table; NULL if the texts are not compared by words */
};

/* Describes one change: `come` replaced `gone`. One of the two texts may be empty. */
static void add_text_change(struct diff *d, struct str gone, struct str come)
{
    if (d->shown_count == DIFF_PLACES) {
        d->hidden_count++;
        return;
    }
    wt__buffer_text(d->out, d->shown_count++ > 0 ? "; " : "");
    if (gone.len == 0)
        wt__buffer_text(d->out, "now also says ");
    else if (come.len == 0)
        wt__buffer_text(d->out, "no longer says ");
    else
        wt__buffer_text(d->out, "says ");
    quote_definition_text(d->out, come.len > 0 ? come : gone, DIFF_QUOTED);
    if (gone.len > 0 && come.len > 0) {
        wt__buffer_text(d->out, " instead of ");
        quote_definition_text(d->out, gone, DIFF_QUOTED);
    }
}

/* Fills the table for the words [a, n) of `before` and [b, m) of `after`. The table has n - a + 1 rows and m - b + 1
 * columns, and the last row and column stay 0. Cell (i, j) is the length of the longest common subsequence of the words
 * from a + i on and from b + j on. */
static void fill_diff_table(struct diff *d, size_t a, size_t n, size_t b, size_t m)
{
    size_t width = m - b + 1;
    for (size_t i = n - a; i-- > 0;)
        for (size_t j = m - b; j-- > 0;) {
            uint16_t *cell = &d->table[i * width + j], down = cell[width], right = cell[1];
            if (wt__str_equal(d->before.items[a + i], d->after.items[b + j]))
                *cell = (uint16_t)(cell[width + 1] + 1);
            else
                *cell = down > right ? down : right;
        }
}

/* Describes the changes between the words [a, n) and [b, m) with the filled table. */
static void walk_table(struct diff *d, size_t a, size_t n, size_t b, size_t m)
{
    size_t width = m - b + 1, i = 0, j = 0;
    while (i < n - a || j < m - b) {
        size_t gone = i, come = j;
        while (i < n - a || j < m - b) {
            bool both = i < n - a && j < m - b;
            if (both && wt__str_equal(d->before.items[a + i], d->after.items[b + j]))
                break;
            if (j == m - b || (i < n - a && d->table[(i + 1) * width + j] >= d->table[i * width + j + 1]))
                i++;
            else
                j++;
        }
        if (i > gone || j > come)
            add_text_change(d, join_words(&d->before, a + gone, a + i), join_words(&d->after, b + come, b + j));
        while (i < n - a && j < m - b && wt__str_equal(d->before.items[a + i], d->after.items[b + j])) {
            i++;
            j++;
        }
    }
}

/* Describes the changes of the words. Returns 0 or WT_ENOMEM. */
static int compare_words(struct diff *d)
{
    size_t a = 0, n = d->before.count, m = d->after.count;
    while (a < n && a < m && wt__str_equal(d->before.items[a], d->after.items[a]))
        a++;
    size_t b = a;
    while (n > a && m > b && wt__str_equal(d->before.items[n - 1], d->after.items[m - 1])) {
        n--;
        m--;
    }
    size_t rows = n - a + 1, columns = m - b + 1;
    if (rows > UINT16_MAX || columns > UINT16_MAX || rows * columns > DIFF_CELLS) {
        add_text_change(d, join_words(&d->before, a, n), join_words(&d->after, b, m));
        return 0;
    }
    d->table = calloc(rows * columns, sizeof *d->table);
    if (!d->table)
        return WT_ENOMEM;
    fill_diff_table(d, a, n, b, m);
    walk_table(d, a, n, b, m);
    return 0;
}

/* Appends the changes of a text, as `now also says "..."; no longer says "..."; says "..." instead of "..."`. White
 * space belongs to the word before it. Texts without common words, or too long to compare, are one change. Errors:
 * WT_ENOMEM. */
static int append_word_changes(struct buffer *out, struct str before, struct str after)
{
    struct diff d = {.out = out};
    int rc = split_diff_words(&d.before, before) < 0 || split_diff_words(&d.after, after) < 0 ? WT_ENOMEM
                                                                                              : compare_words(&d);
    if (rc == 0 && d.hidden_count > 0)
        wt__buffer_printf(out, "; and %zu more changes", d.hidden_count);
    free(d.table);
    free(d.before.items);
    free(d.after.items);
    return rc;
}

enum {
    KEY_SHOWN = 64,    /* maximum bytes of a member's name */
    PATH_SHOWN = 160,  /* maximum bytes of a member's path */
    VALUE_SHOWN = 160, /* maximum bytes of a changed value */
    TEXT_SHOWN = 400,  /* maximum bytes of a new value */
    BRIEF_TEXT = 48    /* maximum bytes of a text that is quoted whole; only changed words of longer texts are quoted */
};

struct definition_walk {
    struct definition_changes *out;
    struct arena *arena;
    struct buffer path; /* path of the current member */
    struct buffer line; /* sentence being written */
    bool schema;        /* the walk is within a member of the definition whose name ends in "Schema" */
    bool annotations;   /* the walk is within the member "annotations" of the definition */
    wt_error *err;
};

/* ---------------------------------------------------------------- sentences */

/* Starts a sentence with the path. A long path is shortened at its beginning. */
static void begin_sentence(struct definition_walk *w)
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

/* Adds the sentence to the changes, or counts it if there are WT_MAX_CHANGES already. */
static int end_sentence(struct definition_walk *w)
{
    struct definition_changes *out = w->out;
    if (w->line.failed)
        return wt__fail_nomem(w->err);
    if (out->count == WT_MAX_CHANGES) {
        out->more++;
        return 0;
    }
    if (w->line.len > WT_MAX_CHANGE_BYTES) {
        wt__buffer_cut(&w->line, wt__str_cut(wt__buffer_view(&w->line), WT_MAX_CHANGE_BYTES - 3).len);
        wt__buffer_text(&w->line, "...");
    }
    const char *copy = w->line.failed ? NULL : wt__arena_copy(w->arena, wt__buffer_view(&w->line));
    WT_CHECK_ALLOC(copy, w->err);
    out->items[out->count++] = copy;
    return 0;
}

/* Appends a value as JSON, at most `most` bytes of it. */
static void put_changed_value(struct definition_walk *w, const json_t *value, size_t most)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__shown_value(&text, value);
    struct str all = wt__buffer_view(&text);
    wt__buffer_str(&w->line, wt__str_cut(all, most));
    if (all.len > most)
        wt__buffer_printf(&w->line, "... (%zu bytes)", all.len);
    w->line.failed |= text.failed;
}

/* True if a path may show the key without quotes. */
static bool is_plain_key(struct str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!wt__is_letter(key.ptr[i]) && !wt__is_digit(key.ptr[i]) && !strchr("_$-", key.ptr[i]))
            return false;
    return key.len > 0 && key.len <= KEY_SHOWN;
}

/* Appends a member to the path. Returns the length to restore with pop_member. */
static size_t push_member(struct definition_walk *w, struct str key)
{
    size_t back = w->path.len;
    if (is_plain_key(key)) {
        wt__buffer_text(&w->path, back > 0 ? "." : "");
        wt__buffer_str(&w->path, key);
    } else {
        wt__buffer_char(&w->path, '[');
        quote_definition_text(&w->path, key, KEY_SHOWN);
        wt__buffer_char(&w->path, ']');
    }
    return back;
}

static void pop_member(struct definition_walk *w, size_t back)
{
    if (!w->path.failed)
        wt__buffer_cut(&w->path, back);
}

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

/* Describes a change of a hint. Returns 1, 0 if `key` is not a hint, or an error. */
static int describe_hint(struct definition_walk *w, const char *key, const json_t *before, const json_t *after)
{
    size_t at = 0;
    while (at < sizeof hints / sizeof *hints && strcmp(hints[at].name, key) != 0)
        at++;
    if (at == sizeof hints / sizeof *hints)
        return 0;
    bool was = json_is_boolean(before) ? json_is_true(before) : hints[at].unsaid;
    bool is = json_is_boolean(after) ? json_is_true(after) : hints[at].unsaid;
    begin_sentence(w);
    for (int i = 0; i < 2; i++) {
        const json_t *value = i == 0 ? before : after;
        wt__buffer_text(&w->line, i == 0 ? "" : " -> ");
        if (value)
            put_changed_value(w, value, VALUE_SHOWN);
        else
            wt__buffer_text(&w->line, "not set");
    }
    if (was != is)
        wt__buffer_printf(&w->line, " (%s: %s)", is == hints[at].careful ? "tightened" : "loosened",
                          is == hints[at].careful ? hints[at].tightened : hints[at].loosened);
    int rc = end_sentence(w);
    return rc < 0 ? rc : 1;
}

/* ---------------------------------------------------------------- arguments */

/* Returns the names of a list as an object, for fast lookups, or NULL if out of memory. */
static json_t *list_to_set(const json_t *list)
{
    json_auto_t *set = json_object();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name && json_object_set_new(set, name, json_true()) < 0)
            return NULL;
    }
    return WT_TAKE(set);
}

/* Describes a change of the property `key`: the sentence is `before`, the key, `after`, and the value unless it is
 * NULL. */
static int describe_one_property(struct definition_walk *w, const char *before, const char *key, const char *after,
                                 const json_t *value)
{
    begin_sentence(w);
    wt__buffer_text(&w->line, before);
    quote_definition_text(&w->line, wt__str(key), KEY_SHOWN);
    wt__buffer_text(&w->line, after);
    if (value)
        put_changed_value(w, value, TEXT_SHOWN);
    return end_sentence(w);
}

static int walk_values(struct definition_walk *w, const json_t *before, const json_t *after);

static int walk_properties(struct definition_walk *w, const json_t *before, const json_t *after, const json_t *required)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)after, key, value)
    {
        const json_t *was = json_object_get(before, key);
        bool needed = json_object_get(required, key);
        if (!was)
            WT_TRY(describe_one_property(w, needed ? "a new required property " : "a new property ", key, ": ", value));
        if (!was || json_equal(was, value))
            continue;
        size_t back = push_member(w, STR("properties"));
        push_member(w, wt__str(key));
        WT_TRY(walk_values(w, was, value));
        pop_member(w, back);
    }
    json_object_foreach((json_t *)before, key, value)
    {
        if (!json_object_get(after, key))
            WT_TRY(describe_one_property(w, "the property ", key, " was removed", NULL));
    }
    return 0;
}

/* Describes changes of the sets of required names. known_before, known_after: the properties. Skips added and removed
 * properties, which walk_properties has described. */
static int walk_required(struct definition_walk *w, const json_t *before, const json_t *after,
                         const json_t *known_before, const json_t *known_after)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)after, name, value)
    {
        if (!json_object_get(before, name) && json_object_get(known_before, name))
            WT_TRY(describe_one_property(w, "", name, " is now required", NULL));
    }
    json_object_foreach((json_t *)before, name, value)
    {
        if (!json_object_get(after, name) && json_object_get(known_after, name))
            WT_TRY(describe_one_property(w, "", name, " is no longer required", NULL));
    }
    return 0;
}

/* ---------------------------------------------------------------- any values */

/* True if an array has elements with members of their own. */
static bool has_parts(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (json_is_object(json_array_get(value, i)) || json_is_array(json_array_get(value, i)))
            return true;
    return false;
}

static int describe_text(struct definition_walk *w, struct str before, struct str after)
{
    if (w->out->count == WT_MAX_CHANGES) { /* changes over the limit are not compared */
        w->out->more++;
        return 0;
    }
    begin_sentence(w);
    if (before.len <= BRIEF_TEXT && after.len <= BRIEF_TEXT) {
        quote_definition_text(&w->line, before, BRIEF_TEXT);
        wt__buffer_text(&w->line, " -> ");
        quote_definition_text(&w->line, after, BRIEF_TEXT);
    } else if (append_word_changes(&w->line, before, after) < 0)
        return wt__fail_nomem(w->err);
    return end_sentence(w);
}

static int describe_value(struct definition_walk *w, const char *verb, const json_t *value)
{
    begin_sentence(w);
    wt__buffer_text(&w->line, verb);
    put_changed_value(w, value, TEXT_SHOWN);
    return end_sentence(w);
}

static int walk_member(struct definition_walk *w, const char *key, const json_t *before, const json_t *after)
{
    if (before && after && json_equal(before, after))
        return 0;
    size_t back = push_member(w, wt__str(key));
    int rc = w->annotations ? describe_hint(w, key, before, after) : 0;
    if (rc == 0)
        rc = before && after ? walk_values(w, before, after)
             : after         ? describe_value(w, "new: ", after)
                             : describe_value(w, "removed; it was ", before);
    pop_member(w, back);
    return rc < 0 ? rc : 0;
}

/* Compares the properties of a schema and their required names. Sets *is_complete to false if the caller should still
 * compare "required" as a value. */
static int walk_arguments(struct definition_walk *w, const json_t *before, const json_t *after, bool *is_complete)
{
    const json_t *was = json_object_get(before, "properties"), *is = json_object_get(after, "properties");
    const json_t *needed = json_object_get(before, "required"), *needs = json_object_get(after, "required");
    json_auto_t *were = list_to_set(needed), *are = list_to_set(needs);
    WT_CHECK_ALLOC(were && are, w->err);
    WT_TRY(walk_properties(w, was, is, are));
    size_t count = w->out->count + w->out->more;
    *is_complete = (!needed || json_is_array(needed)) && (!needs || json_is_array(needs));
    if (*is_complete)
        WT_TRY(walk_required(w, were, are, was, is));
    /* If the properties are equal and no sentence was written, the lists can differ only in their order or in unknown
     * names. Compare them as values. */
    *is_complete = *is_complete && (count < w->out->count + w->out->more || !json_equal(was, is));
    return 0;
}

/* True if walk_arguments has described the member. arguments: it has described "properties". lists: it has described
 * "required". */
static bool has_sentence(const char *key, bool arguments, bool lists)
{
    return (arguments && strcmp(key, "properties") == 0) || (lists && strcmp(key, "required") == 0);
}

static int walk_changed_object(struct definition_walk *w, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *value;
    bool lists = false, arguments = w->schema && json_is_object(json_object_get(before, "properties")) &&
                                    json_is_object(json_object_get(after, "properties"));
    if (arguments)
        WT_TRY(walk_arguments(w, before, after, &lists));
    json_object_foreach((json_t *)after, key, value)
    {
        if (!has_sentence(key, arguments, lists))
            WT_TRY(walk_member(w, key, json_object_get(before, key), value));
    }
    json_object_foreach((json_t *)before, key, value)
    {
        if (!json_object_get(after, key) && !has_sentence(key, arguments, lists))
            WT_TRY(walk_member(w, key, value, NULL));
    }
    return 0;
}

static int walk_changed_array(struct definition_walk *w, const json_t *before, const json_t *after)
{
    size_t n = json_array_size(before), m = json_array_size(after);
    for (size_t i = 0; i < n || i < m; i++) {
        const json_t *was = json_array_get(before, i), *is = json_array_get(after, i);
        if (was && is && json_equal(was, is))
            continue;
        size_t back = w->path.len;
        wt__buffer_printf(&w->path, "[%zu]", i);
        WT_TRY(was && is ? walk_values(w, was, is)
               : is      ? describe_value(w, "new: ", is)
                         : describe_value(w, "removed; it was ", was));
        pop_member(w, back);
    }
    return 0;
}

static int walk_values(struct definition_walk *w, const json_t *before, const json_t *after)
{
    if (json_is_object(before) && json_is_object(after))
        return walk_changed_object(w, before, after);
    if (json_is_array(before) && json_is_array(after) && (has_parts(before) || has_parts(after)))
        return walk_changed_array(w, before, after);
    if (json_is_string(before) && json_is_string(after))
        return describe_text(w, (struct str){json_string_value(before), json_string_length(before)},
                             (struct str){json_string_value(after), json_string_length(after)});
    begin_sentence(w);
    put_changed_value(w, before, VALUE_SHOWN);
    wt__buffer_text(&w->line, " -> ");
    put_changed_value(w, after, VALUE_SHOWN);
    return end_sentence(w);
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

/* Compares a member of the definition itself. before or after may be NULL. */
static int walk_top(struct definition_walk *w, const char *key, const json_t *before, const json_t *after)
{
    size_t len = strlen(key);
    w->annotations = strcmp(key, "annotations") == 0;
    w->schema = len >= 6 && strcmp(key + len - 6, "Schema") == 0;
    if (!w->annotations || (before && !json_is_object(before)) || (after && !json_is_object(after)))
        return walk_member(w, key, before, after);
    /* Describe hints one by one, also if all annotations are new or gone. */
    size_t back = push_member(w, wt__str(key));
    int rc = walk_changed_object(w, before, after);
    pop_member(w, back);
    return rc;
}

static int walk_definition(struct definition_walk *w, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *value;
    for (size_t i = 0; i < FIRST; i++) {
        const json_t *was = json_object_get(before, first[i]), *is = json_object_get(after, first[i]);
        if (was || is)
            WT_TRY(walk_top(w, first[i], was, is));
    }
    json_object_foreach((json_t *)after, key, value)
    {
        if (!is_first(key))
            WT_TRY(walk_top(w, key, json_object_get(before, key), value));
    }
    json_object_foreach((json_t *)before, key, value)
    {
        if (!is_first(key) && !json_object_get(after, key))
            WT_TRY(walk_top(w, key, value, NULL));
    }
    return 0;
}

/* Describes a member of a new definition. */
static int describe_member(struct definition_walk *w, const char *key, const json_t *value)
{
    size_t back = push_member(w, wt__str(key));
    int rc = describe_value(w, "", value);
    pop_member(w, back);
    return rc;
}

static int describe_definition(struct definition_walk *w, const json_t *definition)
{
    const char *key;
    json_t *value;
    for (size_t i = 0; i < FIRST; i++)
        if (json_object_get(definition, first[i]))
            WT_TRY(describe_member(w, first[i], json_object_get(definition, first[i])));
    json_object_foreach((json_t *)definition, key, value)
    {
        if (!is_first(key))
            WT_TRY(describe_member(w, key, value));
    }
    return 0;
}

static int open_walk(struct definition_walk *w, struct definition_changes *out, struct arena *arena, wt_error *err)
{
    *w = (struct definition_walk){.out = out, .arena = arena, .err = err};
    *out = (struct definition_changes){.items = wt__arena_array(arena, const char *, WT_MAX_CHANGES)};
    return out->items ? 0 : wt__fail_nomem(err);
}

/* Ends a walk with the result rc. both: two versions were compared. If the versions are equal, adds a sentence with the
 * reason why the definition still needs an approval: the lock file does not contain it. */
static int close_walk(struct definition_walk *w, bool both, int rc)
{
    if (rc == 0 && both && w->out->count == 0) {
        wt__buffer_clear(&w->line);
        wt__buffer_text(&w->line, "nothing changed, but the lock file does not contain it");
        rc = end_sentence(w);
    }
    wt__buffer_dispose(&w->path);
    wt__buffer_dispose(&w->line);
    return rc;
}

int wt__plain_text_changes(struct definition_changes *out, const char *name, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err)
{
    struct definition_walk w;
    int rc = 0;
    WT_TRY(open_walk(&w, out, arena, err));
    push_member(&w, wt__str(name));
    if (before && !wt__str_equal(*before, after)) {
        rc = describe_text(&w, *before, after);
    } else if (!before) {
        begin_sentence(&w);
        quote_definition_text(&w.line, after, TEXT_SHOWN);
        rc = end_sentence(&w);
    }
    return close_walk(&w, before != NULL, rc);
}

int wt__definition_changes(struct definition_changes *out, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err)
{
    struct definition_walk w;
    json_auto_t *was = NULL, *is = NULL;
    if ((before && wt__json_parse(&was, before->ptr, before->len, NULL) == WT_ENOMEM) ||
        wt__json_parse(&is, after.ptr, after.len, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (!json_is_object(is) || (before && !json_is_object(was)))
        return wt__plain_text_changes(out, "definition", before, after, arena, err);
    WT_TRY(open_walk(&w, out, arena, err));
    return close_walk(&w, before != NULL, before ? walk_definition(&w, was, is) : describe_definition(&w, is));
}
