/* names.c: wt_generate_names: gives the store's tools new names that describe their function, as ToolBank did (Moon
 * et al. 2024, C.2: numpy.nextafter became adjacent_float). A language model knows NumPy and finds its functions by
 * name; new names remove this advantage.
 *
 * The paper also rewrote the descriptions to avoid library names; this command keeps them.
 *
 * Invariants: corpus.jsonl has each tool of the store once. A new name differs from all other names, old and new. Case
 * and all ASCII characters except letters and digits are ignored. A tool without a valid new name keeps its old one. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/sha256.h"
#include "engine/sized_options.h"
#include "generate/internal.h"
#include "generate/requests.h"
#include "llm/prompt.h"

enum { NAME_LEAST = 3, LINE_BYTES = 1500, TAKEN_SHOWN = STAGE_ATTEMPTS - 1 };
static const double USUAL_TEMPERATURE = 0.7;

struct renamed_tool {
    struct str line;               /* "name: description", as shown in the prompt */
    const char *name;              /* new name; NULL until there is one */
    struct str taken[TAKEN_SHOWN]; /* [taken_count] suggested names that are already taken */
    size_t taken_count;
};

struct names_run {
    struct generate_session session;
    wt_names_options options; /* defaults filled in */
    wt_tools *all;
    struct renamed_tool *tools; /* [all->len] */
    struct map keys;            /* keys of all names, old and new */
    struct arena arena;
    size_t renamed;
};

/* Returns the name in lower case, without ASCII characters other than letters and digits. Two names with the same key
 * are too easily confused. */
static struct str make_name_key(struct str name, struct arena *arena)
{
    char *key = wt__arena_copy(arena, name);
    size_t len = 0;
    for (size_t i = 0; key && i < name.len; i++)
        if (wt__is_letter(name.ptr[i]) || wt__is_digit(name.ptr[i]) || (unsigned char)name.ptr[i] >= 128)
            key[len++] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (char)(name.ptr[i] + 'a' - 'A') : name.ptr[i];
    return (struct str){key, len};
}

/* Accepts names that every API allows: a letter, then letters, digits and underscores. */
static enum piece_fate check_new_name(struct str name)
{
    if (name.len == 0)
        return PIECE_NO_WORD;
    if (name.len < NAME_LEAST || name.len > PIECE_NAME_BYTES_MAX)
        return PIECE_LENGTH;
    for (size_t i = 0; i < name.len; i++)
        if (!wt__is_letter(name.ptr[i]) && (i == 0 || (!wt__is_digit(name.ptr[i]) && name.ptr[i] != '_')))
            return PIECE_MARKS;
    return PIECE_TAKEN;
}

/* Runs on several threads at once, each for a different item. */
static int fill_rename(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                       wt_error *err)
{
    const struct names_run *names = context;
    const struct renamed_tool *own = &names->tools[item];
    (void)arena;
    (void)err;
    values[(*count)++] = (struct prompt_value){.slot = "tool", .text = own->line};
    values[(*count)++] = (struct prompt_value){.slot = "taken", .items = own->taken, .item_count = own->taken_count};
    return 0;
}

static int accept_new_name(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                           wt_error *err)
{
    struct names_run *names = context;
    struct renamed_tool *own = &names->tools[item];
    const struct str said = wt__json_str(answer, "name");
    enum piece_fate fate = check_new_name(said);
    if (fate == PIECE_TAKEN) {
        const char *name = wt__arena_copy(&names->arena, said);
        const struct str key = make_name_key(said, &names->arena);
        bool added = false;
        if (!name || !key.ptr || !wt__map_insert(&names->keys, key, (uint32_t)item, &added))
            return wt__fail_nomem(err);
        if (added) {
            own->name = name;
            names->renamed++;
        } else {
            fate = PIECE_NAME_TAKEN; /* by another tool, or by this tool as its old name */
            if (own->taken_count < TAKEN_SHOWN)
                own->taken[own->taken_count++] = (struct str){name, said.len};
        }
    }
    wt__stage_note(count, fate);
    *done = fate == PIECE_TAKEN;
    return 0;
}

static int ask_names(struct names_run *names, wt_error *err)
{
    const struct question_stage stage = {
        {STAGE_NAMES, "asking for names", "generate-rename", names, fill_rename, accept_new_name, NULL},
        .count = names->all->len,
        .round = STAGE_ROUND};
    names->session.runner.counts[STAGE_NAMES].wanted = names->all->len;
    return wt__stage_run(&names->session.runner, &stage, err);
}

/* Reads the store's tools, their lines, and the keys of their names. */
static int read_tools_to_rename(struct names_run *names, wt_error *err)
{
    WT_TRY(wt_list(names->session.engine, NULL, &names->all, err));
    if (names->all->len == 0)
        return wt__fail(err, WT_EEMPTY, "the store has no tools; add some with `whichtool add`");
    names->tools = wt__arena_array(&names->arena, struct renamed_tool, names->all->len);
    WT_CHECK_ALLOC(names->tools, err);
    for (size_t i = 0; i < names->all->len; i++) {
        const wt_tool *tool = names->all->items[i];
        const struct str name = wt__str(tool->name), key = make_name_key(name, &names->arena);
        names->tools[i] =
            (struct renamed_tool){.line = wt__prompt_tool(name, wt__str(tool->description), LINE_BYTES, &names->arena)};
        if (!key.ptr || !names->tools[i].line.ptr || !wt__map_insert(&names->keys, key, (uint32_t)i, NULL))
            return wt__fail_nomem(err);
    }
    return 0;
}

static int write_names_settings(struct names_run *names, wt_error *err)
{
    struct buffer *out = &names->session.settings;
    struct sha256 sha;
    char hex[65];
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < names->all->len; i++) {
        wt__sha256_update(&sha, names->all->items[i]->id, strlen(names->all->items[i]->id) + 1);
        wt__sha256_update(&sha, names->tools[i].line.ptr, names->tools[i].line.len);
        wt__sha256_update(&sha, "\n", 1);
    }
    wt__generate_end_digest(&sha, hex);
    wt__buffer_printf(out, "{\"kind\":\"names\",\"version\":1,\"temperature\":%.6g,\"seed\":%" PRIu64 ",\"model\":",
                      names->options.temperature, names->options.seed);
    wt__buffer_json(out, wt__str(names->session.model->name));
    wt__buffer_printf(out, ",\"catalogue\":\"%s\"}", hex);
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int write_names_report(struct names_run *names, bool complete, wt_error *err)
{
    struct buffer out = {0};
    wt__session_begin_report(&names->session, complete, &out);
    wt__buffer_printf(&out, ",\"tools\":%zu,\"renamed\":%zu,\"kept\":%zu,", names->all->len, names->renamed,
                      names->all->len - names->renamed);
    wt__stages_report(&names->session.runner, &out);
    wt__buffer_char(&out, '}');
    return wt__session_report(&names->session, &out, err);
}

static int finish_names(struct names_run *names, wt_error *err)
{
    wt_generated *visible = &names->session.result->visible;
    WT_CLEANUP(wt__buffer_dispose) struct buffer corpus = {0}, line = {0};
    const size_t kept = names->all->len - names->renamed;
    for (size_t i = 0; i < names->all->len; i++)
        wt__beir_write_tool(names->all->items[i],
                            names->tools[i].name ? names->tools[i].name : names->all->items[i]->name, &corpus);
    if (kept > 0)
        wt__buffer_printf(&line, "%zu of %zu tools keep their names: no answer was usable%s", kept, names->all->len,
                          names->session.runner.counts[STAGE_NAMES].gave_up
                              ? "; the run ended early after too many unusable answers"
                              : "");
    WT_TRY(names->renamed > 0 ? wt__folder_write(&names->session.folder, "corpus.jsonl", &corpus, err)
                              : wt__folder_remove(&names->session.folder, "corpus.jsonl", err));
    WT_TRY(write_names_report(names, true, err));
    WT_TRY(wt__session_set_text(&names->session, &line, &visible->notice, err));
    visible->tools = names->all->len;
    visible->rows = names->renamed;
    if (names->renamed == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no name came from %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                        names->session.runner.cost.questions, names->session.model->name, names->options.out);
    return 0;
}

static int run_names(struct names_run *names, wt_error *err)
{
    const wt_names_options *o = &names->options;
    WT_TRY(read_tools_to_rename(names, err));
    WT_TRY(write_names_settings(names, err));
    WT_TRY(wt__session_open(&names->session, o->out, o->temperature, o->seed, err));
    int rc = ask_names(names, err);
    if (rc == 0)
        return finish_names(names, err);
    wt_error unused;
    write_names_report(names, false, &unused); /* record the progress so far */
    return rc;
}

static int check_names_options(wt_names_options *o, wt_error *err)
{
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the renamed tools");
    if (o->temperature < 0)
        return wt__fail(err, WT_EINVAL, "the temperature must not be negative");
    o->seed = o->seed ? o->seed : 1;
    return wt__generate_read_share(o->temperature, USUAL_TEMPERATURE, CHAT_TEMPERATURE_MAX, "the temperature",
                                   &o->temperature, err);
}

int wt__generate_names(wt_engine *engine, struct chat_model *model, const wt_names_options *given, wt_generated **out,
                       wt_error *err)
{
    struct names_run names = {0};
    *out = NULL;
    WT_TRY(wt__options_read(&names.options, sizeof names.options, given, err));
    WT_TRY(check_names_options(&names.options, err));
    if (!engine)
        return wt__fail(err, WT_EINVAL, "an engine is needed: the tools of its store are renamed");
    int rc =
        wt__session_begin(&names.session, engine, model, names.options.progress, names.options.progress_context, err);
    if (rc == 0)
        rc = run_names(&names, err);
    rc = wt__session_end(&names.session, rc, out);
    wt_tools_free(names.all);
    wt__map_dispose(&names.keys);
    wt__arena_dispose(&names.arena);
    return rc;
}

int wt_generate_names(wt_engine *engine, const wt_names_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_names(engine, NULL, options, out, err);
}
