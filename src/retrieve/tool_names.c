#include "retrieve/tool_names.h"

#include "catalog/names.h"
#include "retrieve/path_name.h"
#include "text/analyser.h"
#include "text/name_hash.h"

enum { NAMES_OF_TOOL = 10, LETTERS_MIN = 2 };

struct name_adder {
    struct names_builder *builder;
    uint32_t row;
    uint64_t hashes[NAMES_OF_TOOL];
    size_t count;
    int rc;
};

static void add_hash(struct name_adder *adding, uint64_t hash, enum name_kind kind, size_t words)
{
    for (size_t i = 0; i < adding->count; i++)
        if (adding->hashes[i] == hash)
            return;
    if (adding->count < NAMES_OF_TOOL)
        adding->hashes[adding->count++] = hash;
    if (adding->rc == 0)
        adding->rc = wt__names_builder_add(adding->builder, hash, kind, adding->row, words);
}

static size_t count_words(struct str text)
{
    struct word_part part = {0};
    size_t words = 0;
    while (wt__analyser_next_part(text, &part))
        words++;
    return words;
}

/* True if the text has enough letters for a name. Numbers and single letters are not names. */
static bool has_letters(struct str text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i], lower = c | 0x20;
        letters += c >= 0x80 || (lower >= 'a' && lower <= 'z');
    }
    return letters >= LETTERS_MIN;
}

static void add_name(struct name_adder *adding, struct str name, enum name_kind kind)
{
    if (has_letters(name))
        add_hash(adding, wt__name_hash_end(wt__name_hash_text(NAME_HASH_EMPTY, name)), kind, count_words(name));
}

/* Adds a title of at least two words. Single words such as "Search" occur in requests for other tools. */
static void add_title(struct name_adder *adding, struct str title)
{
    size_t words = count_words(title);
    if (words >= 2 && words <= NAME_WORDS_MAX)
        add_name(adding, title, NAME_TITLE);
}

/* Returns the description if it is one sentence, else an empty view. */
static struct str one_sentence(struct str description)
{
    static const struct str none = {"", 0};
    description = wt__str_trim(description);
    for (size_t i = 0; i + 1 < description.len; i++)
        if (description.ptr[i] == '\n' || (description.ptr[i] == '.' && wt__is_blank(description.ptr[i + 1])))
            return none;
    return description;
}

static void add_id(struct name_adder *adding, const struct tool *tool)
{
    uint64_t state = wt__name_hash_text(NAME_HASH_EMPTY, tool->provider);
    if (tool->provider.len > 0 && has_letters(tool->name))
        add_hash(adding, wt__name_hash_end(wt__name_hash_text(state, tool->name)), NAME_ID,
                 count_words(tool->provider) + count_words(tool->name));
    add_name(adding, tool->export_name, NAME_ID);
}

static void add_path(struct name_adder *adding, struct str text)
{
    uint64_t hash;
    if (wt__path_name_hash(text, &hash))
        add_hash(adding, hash, NAME_PATH, 0);
}

static void add_written(struct name_adder *adding, struct str text)
{
    if (has_letters(text))
        add_hash(adding, wt__name_hash_written(text), NAME_WRITTEN, 0);
}

int wt__tool_names_add(struct names_builder *builder, const struct tool *tool, uint32_t row, wt_error *err)
{
    struct name_adder adding = {.builder = builder, .row = row};
    add_name(&adding, tool->name, NAME_OWN);
    add_name(&adding, wt__name_without_number(tool->name), NAME_OWN);
    add_title(&adding, tool->title.len > 0 ? tool->title : one_sentence(tool->description));
    add_id(&adding, tool);
    add_path(&adding, tool->name);
    add_path(&adding, tool->source_id);
    if (!wt__path_name_hash(tool->source_id, &(uint64_t){0}))
        add_name(&adding, tool->source_id, NAME_ID);
    add_written(&adding, tool->name);
    add_written(&adding, tool->source_id);
    return adding.rc < 0 ? wt__fail_nomem(err) : 0;
}
