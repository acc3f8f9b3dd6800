#include "generate/library.h"

#include <stdlib.h>

#include "base/memory.h"
#include "generate/seeds.h"

int wt__library_open(struct library *out, const struct encoder *encoder, double threshold, wt_error *err)
{
    *out = (struct library){0};
    int rc = wt__distinct_open(&out->base_tools, encoder, threshold, err);
    return rc < 0 ? rc : wt__distinct_open(&out->descriptions, NULL, threshold, err);
}

void wt__library_dispose(struct library *library)
{
    wt__distinct_dispose(&library->base_tools);
    wt__distinct_dispose(&library->descriptions);
    wt__map_dispose(&library->names);
    wt__arena_dispose(&library->arena);
    free(library->tools);
    *library = (struct library){0};
}

static struct str join_tool_line(struct str name, struct str description, struct arena *arena)
{
    char *line = wt__arena_alloc(arena, name.len + 2 + description.len + 1, 1);
    if (!line)
        return (struct str){NULL, 0};
    memcpy(line, name.ptr, name.len);
    memcpy(line + name.len, ": ", 2);
    memcpy(line + name.len + 2, description.ptr, description.len);
    line[name.len + 2 + description.len] = '\0';
    return (struct str){line, name.len + 2 + description.len};
}

struct str wt__library_line(const struct library *library, size_t place, struct arena *arena)
{
    const struct library_tool *tool = &library->tools[place];
    return join_tool_line(tool->name, tool->description, arena);
}

/* Registers the name for the next place. If another tool has it, *fate is PIECE_NAME_TAKEN and *place is that
 * tool's. */
static int register_tool_name(struct library *library, struct str name, size_t *place, enum piece_fate *fate,
                              wt_error *err)
{
    struct buffer words = {0};
    wt__piece_words(&words, name);
    const uint32_t *known = words.failed ? NULL : wt__map_get(&library->names, wt__buffer_view(&words));
    *fate = known ? PIECE_NAME_TAKEN : PIECE_TAKEN;
    *place = known ? *known : library->count;
    int rc = words.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && !known) {
        const char *key = wt__arena_copy(&library->arena, wt__buffer_view(&words));
        if (!key || !wt__map_insert(&library->names, (struct str){key, words.len}, (uint32_t)library->count, NULL))
            rc = wt__fail_nomem(err);
    }
    wt__buffer_dispose(&words);
    return rc;
}

/* Appends a tool whose name was registered. */
static int append_library_tool(struct library *library, const struct library_tool *tool, wt_error *err)
{
    struct str name = {wt__arena_copy(&library->arena, tool->name), tool->name.len},
               description = {wt__arena_copy(&library->arena, tool->description), tool->description.len};
    if (!name.ptr || !description.ptr ||
        wt__grow((void **)&library->tools, &library->capacity, library->count + 1, sizeof *library->tools) < 0)
        return wt__fail_nomem(err);
    struct library_tool *added = &library->tools[library->count++];
    *added = *tool;
    added->name = name;
    added->description = description;
    if (tool->origin != ORIGIN_RELATED)
        added->base = library->count - 1;
    return 0;
}

int wt__library_add(struct library *library, const struct library_tool *tool, size_t *place, enum piece_fate *fate,
                    wt_error *err)
{
    int rc = register_tool_name(library, tool->name, place, fate, err);
    return rc == 0 && *fate == PIECE_TAKEN ? append_library_tool(library, tool, err) : rc;
}

size_t wt__library_family(const struct library *library, size_t place, size_t *places, size_t most)
{
    size_t count = 0, base = library->tools[place].base;
    for (size_t i = 0; i < library->count && count < most; i++)
        if (library->tools[i].base == base)
            places[count++] = i;
    return count;
}

/* ---------------------------------------------------------------- base tools */

/* Shows the last added base tool from now on, instead of the most similar one, or without an encoder instead of the
 * one shown longest. */
static void show_newest_tool(struct library *library)
{
    const size_t place = library->count - 1;
    if (library->shown_count < LIBRARY_SHOWN) {
        library->shown[library->shown_count++] = place;
        return;
    }
    size_t at = wt__distinct_nearest(&library->base_tools, library->shown, LIBRARY_SHOWN);
    library->shown[at < LIBRARY_SHOWN ? at : library->turn++ % LIBRARY_SHOWN] = place;
}

/* Adds a base tool. Base tools come first in the library and in `base_tools`, so that their places agree. */
static int add_base_tool(struct library *library, const struct library_tool *tool, enum piece_fate *fate, wt_error *err)
{
    struct arena scratch = {0};
    struct buffer words = {0};
    size_t place;
    bool said = false;
    struct str line = join_tool_line(tool->name, tool->description, &scratch);
    wt__piece_words(&words, tool->name);
    int rc = line.ptr && !words.failed ? 0 : wt__fail_nomem(err);
    *fate = rc == 0 && wt__map_get(&library->names, wt__buffer_view(&words)) ? PIECE_NAME_TAKEN : PIECE_TAKEN;
    if (rc == 0 && *fate == PIECE_TAKEN)
        rc = wt__distinct_has_words(&library->descriptions, tool->description, &said, err);
    if (rc == 0 && said)
        *fate = PIECE_SAME_WORDS;
    if (rc == 0 && *fate == PIECE_TAKEN)
        rc = wt__distinct_add(&library->base_tools, line, fate, err);
    if (rc == 0 && *fate == PIECE_TAKEN)
        rc = wt__distinct_add(&library->descriptions, tool->description, fate, err);
    if (rc == 0 && *fate == PIECE_TAKEN)
        rc = wt__library_add(library, tool, &place, fate, err);
    if (rc == 0 && *fate == PIECE_TAKEN)
        show_newest_tool(library);
    wt__arena_dispose(&scratch);
    wt__buffer_dispose(&words);
    return rc;
}

int wt__library_add_seeds(struct library *library, wt_error *err)
{
    enum piece_fate fate;
    for (size_t i = 0; i < SEED_TOOLS; i++) {
        const struct library_tool tool = {.name = wt__str(wt__seed_tools[i].name),
                                          .description = wt__str(wt__seed_tools[i].description),
                                          .origin = ORIGIN_SEED};
        int rc = add_base_tool(library, &tool, &fate, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* State of the three stages. */
struct library_job {
    struct library *library;
    size_t related, nth; /* related tools for each base tool, and the index of the current one */
    size_t base_count, first_related;
    struct str *examples; /* [SEED_TOOLS] each seed with its related tools */
    struct arena arena;
};

static int fill_base_tool(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                          wt_error *err)
{
    const struct library *library = ((const struct library_job *)context)->library;
    struct str *lines = wt__arena_array(arena, struct str, LIBRARY_SHOWN);
    (void)item;
    for (size_t i = 0; lines && i < library->shown_count; i++) {
        lines[i] = wt__library_line(library, library->shown[i], arena);
        if (!lines[i].ptr)
            lines = NULL;
    }
    if (!lines)
        return wt__fail_nomem(err);
    values[0] = (struct prompt_value){.slot = "examples", .items = lines, .item_count = library->shown_count};
    *count = 1;
    return 0;
}

/* Reads a string member of an answer as a piece. */
static int read_answer_piece(struct arena *arena, const json_t *answer, const char *member, enum piece_kind kind,
                             struct str *out, enum piece_fate *fate, wt_error *err)
{
    return wt__piece_read(arena, kind, wt__json_str(answer, member), out, fate, err);
}

static int accept_base_tool(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                            wt_error *err)
{
    struct library *library = ((struct library_job *)context)->library;
    struct arena scratch = {0};
    struct library_tool tool = {.origin = ORIGIN_GENERATED};
    enum piece_fate fate;
    (void)item;
    int rc = read_answer_piece(&scratch, answer, "name", PIECE_NAME, &tool.name, &fate, err);
    if (rc == 0 && fate == PIECE_TAKEN)
        rc = read_answer_piece(&scratch, answer, "description", PIECE_DESCRIPTION, &tool.description, &fate, err);
    if (rc == 0 && fate == PIECE_TAKEN)
        rc = add_base_tool(library, &tool, &fate, err);
    if (rc == 0)
        wt__stage_note(count, fate);
    *done = rc == 0 && fate == PIECE_TAKEN;
    wt__arena_dispose(&scratch);
    return rc;
}

/* ---------------------------------------------------------------- related tools */

/* Writes one line for each seed: "Tide Table: Tide Height at Time; Tide Table for Week". A name can have neither a
 * colon nor a semicolon, so that an answer that copies such a line is refused. */
static int write_related_examples(struct library_job *m, wt_error *err)
{
    m->examples = wt__arena_array(&m->arena, struct str, SEED_TOOLS);
    for (size_t i = 0; m->examples && i < SEED_TOOLS; i++) {
        struct buffer line = {0};
        wt__buffer_text(&line, wt__seed_tools[i].name);
        for (size_t r = 0; r < SEED_RELATED; r++)
            wt__buffer_printf(&line, "%s%s", r ? "; " : ": ", wt__seed_tools[i].related[r]);
        m->examples[i] = (struct str){wt__arena_copy(&m->arena, wt__buffer_view(&line)), line.len};
        bool failed = line.failed || !m->examples[i].ptr;
        wt__buffer_dispose(&line);
        if (failed)
            return wt__fail_nomem(err);
    }
    return m->examples ? 0 : wt__fail_nomem(err);
}

/* Returns the number of tools in the family so far, without `place` itself. */
static size_t list_siblings(const struct library *library, size_t base, size_t place, size_t *places)
{
    size_t family[1 + WT_MAX_RELATED], count = 0;
    size_t members = wt__library_family(library, base, family, 1 + WT_MAX_RELATED);
    for (size_t i = 0; i < members; i++)
        if (family[i] != place)
            places[count++] = family[i];
    return count;
}

static int fill_related_tool(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                             size_t *count, wt_error *err)
{
    const struct library_job *m = context;
    size_t places[1 + WT_MAX_RELATED], known = list_siblings(m->library, item, item, places);
    struct str *names = wt__arena_array(arena, struct str, known + 1);
    if (!names)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < known; i++)
        names[i] = m->library->tools[places[i]].name;
    values[0] = (struct prompt_value){.slot = "examples", .items = m->examples, .item_count = SEED_TOOLS};
    values[1] = (struct prompt_value){.slot = "name", .text = m->library->tools[item].name};
    values[2] = (struct prompt_value){.slot = "known", .items = names, .item_count = known};
    *count = 3;
    return 0;
}

static int add_related_tool(struct library_job *m, size_t base, struct str name, struct str description,
                            enum piece_fate *fate, wt_error *err)
{
    size_t place;
    const struct library_tool tool = {.name = name, .description = description, .origin = ORIGIN_RELATED, .base = base};
    return wt__library_add(m->library, &tool, &place, fate, err);
}

static int accept_related_tool(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                               wt_error *err)
{
    struct library_job *m = context;
    struct arena scratch = {0};
    struct str name;
    enum piece_fate fate;
    int rc = read_answer_piece(&scratch, answer, "name", PIECE_NAME, &name, &fate, err);
    if (rc == 0 && fate == PIECE_TAKEN)
        rc = add_related_tool(m, item, name, STR(""), &fate, err);
    if (rc == 0)
        wt__stage_note(count, fate);
    *done = rc == 0 && fate == PIECE_TAKEN;
    wt__arena_dispose(&scratch);
    return rc;
}

/* True if the seed has a handwritten related tool for this turn. */
static bool has_handwritten_related(void *context, size_t item)
{
    const struct library_job *m = context;
    return item < SEED_TOOLS && m->nth < SEED_RELATED;
}

static int add_handwritten_related(struct library_job *m, wt_error *err)
{
    enum piece_fate fate;
    int rc = 0;
    for (size_t i = 0; rc == 0 && m->nth < SEED_RELATED && i < SEED_TOOLS; i++)
        rc = add_related_tool(m, i, wt__str(wt__seed_tools[i].related[m->nth]),
                              wt__str(wt__seed_tools[i].related_descriptions[m->nth]), &fate, err);
    return rc;
}

/* ---------------------------------------------------------------- descriptions */

static int fill_tool_description(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                                 size_t *count, wt_error *err)
{
    const struct library_job *m = context;
    const struct library *library = m->library;
    const struct library_tool *tool = &library->tools[m->first_related + item];
    struct str *lines = wt__arena_array(arena, struct str, SEED_TOOLS), *siblings;
    size_t places[1 + WT_MAX_RELATED];
    size_t known = list_siblings(library, tool->base, m->first_related + item, places), told = 0;
    siblings = wt__arena_array(arena, struct str, known + 1);
    if (!lines || !siblings)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < SEED_TOOLS; i++)
        if (!(lines[i] = wt__library_line(library, i, arena)).ptr)
            return wt__fail_nomem(err);
    for (size_t i = 0; i < known; i++)
        if (library->tools[places[i]].description.len > 0 &&
            !(siblings[told++] = wt__library_line(library, places[i], arena)).ptr)
            return wt__fail_nomem(err);
    values[0] = (struct prompt_value){.slot = "examples", .items = lines, .item_count = SEED_TOOLS};
    values[1] = (struct prompt_value){.slot = "name", .text = tool->name};
    values[2] = (struct prompt_value){.slot = "siblings", .items = siblings, .item_count = told};
    *count = 3;
    return 0;
}

static bool is_tool_described(void *context, size_t item)
{
    const struct library_job *m = context;
    return m->library->tools[m->first_related + item].description.len > 0;
}

static int accept_tool_description(void *context, size_t item, const json_t *answer, struct stage_count *count,
                                   bool *done, wt_error *err)
{
    struct library_job *m = context;
    struct str description;
    enum piece_fate fate;
    int rc = read_answer_piece(&m->library->arena, answer, "description", PIECE_DESCRIPTION, &description, &fate, err);
    if (rc == 0 && fate == PIECE_TAKEN)
        rc = wt__distinct_add(&m->library->descriptions, description, &fate, err);
    if (rc == 0 && fate == PIECE_TAKEN)
        m->library->tools[m->first_related + item].description = description;
    if (rc == 0)
        wt__stage_note(count, fate);
    *done = rc == 0 && fate == PIECE_TAKEN;
    return rc;
}

/* Registers the existing descriptions, so that a related tool cannot repeat one. */
static int register_descriptions(struct library *library, wt_error *err)
{
    enum piece_fate fate;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < library->count; i++)
        if (library->tools[i].description.len > 0)
            rc = wt__distinct_add(&library->descriptions, library->tools[i].description, &fate, err);
    return rc;
}

/* Removes tools without a description. Only related tools can lack one, and they come after the base tools, so that
 * the places of base tools stay valid. */
static void drop_undescribed_tools(struct library *library)
{
    size_t kept = 0;
    for (size_t i = 0; i < library->count; i++)
        if (library->tools[i].description.len > 0)
            library->tools[kept++] = library->tools[i];
    library->count = kept;
}

/* ---------------------------------------------------------------- the stages */

static int generate_related_tools(struct library_job *m, struct stage_runner *asker, wt_error *err)
{
    struct stage_count *count = &asker->counts[STAGE_RELATED];
    struct question_stage stage = {.id = STAGE_RELATED,
                                   .phase = "related tools",
                                   .prompt = "generate-related",
                                   .count = m->base_count,
                                   .round = STAGE_ROUND,
                                   .context = m,
                                   .fill = fill_related_tool,
                                   .accept = accept_related_tool,
                                   .skip = has_handwritten_related};
    int rc = write_related_examples(m, err);
    for (; rc == 0 && m->nth < m->related; m->nth++) {
        rc = add_handwritten_related(m, err);
        count->wanted += m->base_count - (m->nth < SEED_RELATED ? SEED_TOOLS : 0);
        stage.salt = m->nth;
        if (rc == 0 && !count->gave_up)
            rc = wt__stage_run(asker, &stage, err);
    }
    return rc;
}

int wt__library_generate(struct library *library, struct stage_runner *asker, size_t tools, size_t related,
                         wt_error *err)
{
    struct library_job m = {.library = library, .related = related};
    struct question_stage base = {.id = STAGE_TOOLS,
                                  .phase = "tools",
                                  .prompt = "generate-tool",
                                  .count = tools > library->count ? tools - library->count : 0,
                                  .round = 1,
                                  .context = &m,
                                  .fill = fill_base_tool,
                                  .accept = accept_base_tool};
    asker->counts[STAGE_TOOLS].wanted = base.count;
    int rc = wt__stage_run(asker, &base, err);
    m.base_count = m.first_related = library->count;
    if (rc == 0)
        rc = generate_related_tools(&m, asker, err);
    if (rc == 0)
        rc = register_descriptions(library, err);
    struct question_stage described = {.id = STAGE_DESCRIPTIONS,
                                       .phase = "descriptions",
                                       .prompt = "generate-description",
                                       .count = library->count - m.first_related,
                                       .round = STAGE_ROUND,
                                       .context = &m,
                                       .fill = fill_tool_description,
                                       .accept = accept_tool_description,
                                       .skip = is_tool_described};
    for (size_t i = 0; i < described.count; i++)
        asker->counts[STAGE_DESCRIPTIONS].wanted += !is_tool_described(&m, i);
    if (rc == 0)
        rc = wt__stage_run(asker, &described, err);
    if (rc == 0)
        drop_undescribed_tools(library);
    wt__arena_dispose(&m.arena);
    return rc;
}
