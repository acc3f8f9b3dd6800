/* library.c: the tools of a generated data set: handwritten seeds, tools written by the model, and tools of a store. */
#include <stdlib.h>

#include "base/memory.h"
#include "generate/toolselect.h"

/* Eight tools from eight domains, each with two that are easily mistaken for it. Their names and descriptions vary in
 * style, since generated tools imitate them. */
const struct seed_tool wt__seed_tools[SEED_TOOLS] = {
    {"Parcel Tracker",
     "Tells where a parcel is now, by its tracking number.",
     {"Parcel Tracker by Postcode", "Parcel Delivery Window"},
     {"Lists the parcels that are on their way to a postcode, with where each of them is.",
      "Gives the hours between which a parcel will be handed over, by its tracking number and day."},
     {"Where is parcel 7K-22910-X right now?",
      "My shoes were sent on Tuesday under GR4481920; have they left the depot yet?",
      "Check 00340434161094 for me, please"}},
    {"Plant Watering Advice",
     "Works out how often a house plant has to be watered from its kind, the size of its pot and the season.",
     {"Plant Light Advice", "Plant Watering Reminder"},
     {"Says how much light a kind of house plant needs and where in a flat it should stand.",
      "Sets a reminder to water a named plant every so many days."},
     {"How often does a fern in a 20 cm pot want water in winter?",
      "I keep drowning my monstera. It is July and the pot holds five litres.",
      "Watering schedule for a small cactus in spring"}},
    {"Tide Table",
     "Gives the times of high and low water at a harbour on a date.",
     {"Tide Height at Time", "Tide Table for Week"},
     {"Gives the height of the water at a harbour at one time of a day.",
      "Gives all high and low waters at a harbour for the seven days from a date."},
     {"When is low water in Whitby on the 3rd of May?",
      "I want to walk to the island at Cramond this Sunday; when is the "
      "tide out?",
      "High tide at Saint-Malo, 14 August"}},
    {"Invoice Sender",
     "The Invoice Sender writes an invoice for an amount and mails it to a customer.",
     {"Invoice Sender with Instalments", "Invoice Reminder"},
     {"Writes an invoice whose amount is split into a number of monthly payments and mails it to a customer.",
      "Mails a customer a reminder of an invoice that is overdue, by the number of the invoice."},
     {"Bill Orchard Dental 480 euros for the new website.",
      "Please invoice Mrs Okafor, 75 dollars for the piano lessons in "
      "March.",
      "Send an invoice over 1,250 pounds to Halloran & Sons"}},
    {"Train Platform Finder",
     "Finds the platform from which a train leaves, given its number and the station.",
     {"Train Delay Checker", "Bus Bay Finder"},
     {"Tells how many minutes a train is late at a station, given its number.",
      "Finds the bay at which a bus line stops, given the line and the bus station."},
     {"Which platform does ICE 621 leave from in Cologne?",
      "I am at Utrecht Centraal and need train 3047, where do I go?", "platform for the 9042 at Lyon Part-Dieu"}},
    {"Recipe by Ingredients",
     "Suggests dishes that can be cooked from a list of ingredients.",
     {"Recipe by Calories", "Wine for Dish"},
     {"Suggests dishes that have at most a given number of calories a serving.",
      "Recommends a wine that goes with a dish."},
     {"What can I cook with leeks, two eggs and half a cheese?",
      "There is only rice, a tin of tomatoes and some tuna left. "
      "Any ideas for dinner?",
      "Dishes from chickpeas and spinach"}},
    {"Password Strength",
     "Estimates how long it would take to guess a password.",
     {"Password Generator", "Password Leak Check"},
     {"Makes a random password of a given length, with or without punctuation.",
      "Looks up whether a password is in a published leak."},
     {"How good is \"harbour-violin-22\" as a password?", "Would anybody crack Tr0mb0ne! in a day?",
      "Rate the password greenKettle_7"}},
    {"Meeting Room Booking",
     "Books a meeting room in an office building for a number of people, at a date and hours.",
     {"Meeting Room Booking with Catering", "Meeting Room Cancellation"},
     {"Books a meeting room at a date and hours and orders food and drink for a number of people.",
      "Cancels the booking of a meeting room by the room's name and the date."},
     {"Get us a room for six in the Leith office on Friday from 10 to 12.",
      "I need somewhere to interview two people tomorrow at 3 pm, building B.",
      "Book a room for 20 at headquarters, 9 June, all afternoon"}},
};

/* ---------------------------------------------------------------- the library */

int wt__library_open(struct library *out, const struct encoder *encoder, double threshold, wt_error *err)
{
    *out = (struct library){0};
    WT_TRY(wt__distinct_open(&out->base_tools, encoder, threshold, err));
    return wt__distinct_open(&out->descriptions, NULL, threshold, err);
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
    const size_t len = name.len + 2 + description.len;
    char *line = wt__arena_alloc(arena, len + 1, 1);
    if (!line)
        return (struct str){NULL, 0};
    memcpy(line, name.ptr, name.len);
    memcpy(line + name.len, ": ", 2);
    memcpy(line + name.len + 2, description.ptr, description.len);
    line[len] = '\0';
    return (struct str){line, len};
}

struct str wt__library_line(const struct library *library, size_t place, struct arena *arena)
{
    const struct library_tool *tool = &library->tools[place];
    return join_tool_line(tool->name, tool->description, arena);
}

struct str *wt__library_lines(const struct library *library, const size_t *places, size_t count, struct arena *arena)
{
    struct str *lines = wt__arena_array(arena, struct str, count);
    for (size_t i = 0; lines && i < count; i++) {
        lines[i] = wt__library_line(library, places[i], arena);
        if (!lines[i].ptr)
            return NULL;
    }
    return lines;
}

/* Registers the name for the next place. If another tool has the name, sets *fate to PIECE_NAME_TAKEN and *place to the
 * place of that tool. */
static int register_tool_name(struct library *library, struct str name, size_t *place, enum piece_fate *fate,
                              wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    wt__piece_words(&words, name);
    WT_CHECK_ALLOC(!words.failed, err);
    const uint32_t *known = wt__map_get(&library->names, wt__buffer_view(&words));
    *fate = known ? PIECE_NAME_TAKEN : PIECE_TAKEN;
    *place = known ? *known : library->count;
    if (known)
        return 0;
    const char *key = wt__arena_copy(&library->arena, wt__buffer_view(&words));
    WT_CHECK_ALLOC(key, err);
    WT_CHECK_ALLOC(wt__map_insert(&library->names, (struct str){key, words.len}, (uint32_t)library->count, NULL), err);
    return 0;
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

/* Adds a tool unless its name is taken. Sets *place to the place of the new tool, or of the tool that has the name. */
static int add_library_tool(struct library *library, const struct library_tool *tool, size_t *place,
                            enum piece_fate *fate, wt_error *err)
{
    WT_TRY(register_tool_name(library, tool->name, place, fate, err));
    return *fate == PIECE_TAKEN ? append_library_tool(library, tool, err) : 0;
}

size_t wt__library_siblings(const struct library *library, size_t place, size_t *places, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < library->count && count < most; i++)
        if (i != place && library->tools[i].base == library->tools[place].base)
            places[count++] = i;
    return count;
}

/* ---------------------------------------------------------------- base tools */

/* Adds the newest base tool to the tools that the prompts show. If LIBRARY_SHOWN tools are shown, the newest replaces
 * the most similar of them, or without an encoder the one shown longest. */
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
    WT_CLEANUP(wt__arena_dispose) struct arena scratch = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    size_t place;
    bool said = false;
    struct str line = join_tool_line(tool->name, tool->description, &scratch);
    wt__piece_words(&words, tool->name);
    WT_CHECK_ALLOC(line.ptr && !words.failed, err);
    *fate = PIECE_NAME_TAKEN;
    if (wt__map_get(&library->names, wt__buffer_view(&words)))
        return 0;
    *fate = PIECE_SAME_WORDS;
    WT_TRY(wt__distinct_has_words(&library->descriptions, tool->description, &said, err));
    if (said)
        return 0;
    WT_TRY(wt__distinct_add(&library->base_tools, line, fate, err));
    if (*fate == PIECE_TAKEN)
        WT_TRY(wt__distinct_add(&library->descriptions, tool->description, fate, err));
    if (*fate == PIECE_TAKEN)
        WT_TRY(add_library_tool(library, tool, &place, fate, err));
    if (*fate == PIECE_TAKEN)
        show_newest_tool(library);
    return 0;
}

int wt__library_add_seeds(struct library *library, wt_error *err)
{
    enum piece_fate fate;
    for (size_t i = 0; i < SEED_TOOLS; i++) {
        const struct library_tool tool = {.name = wt__str(wt__seed_tools[i].name),
                                          .description = wt__str(wt__seed_tools[i].description),
                                          .origin = ORIGIN_SEED};
        WT_TRY(add_base_tool(library, &tool, &fate, err));
    }
    return 0;
}

/* State of the three stages. */
struct library_job {
    struct library *library;
    size_t related, nth; /* related tools for each base tool; nth: index of the one being generated */
    size_t base_count, first_related;
    struct str *examples; /* [SEED_TOOLS] each seed with its related tools */
    struct arena arena;
};

static void dispose_library_job(struct library_job *job)
{
    wt__arena_dispose(&job->arena);
}

static int fill_base_tool(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                          wt_error *err)
{
    const struct library *library = ((const struct library_job *)context)->library;
    struct str *lines = wt__library_lines(library, library->shown, library->shown_count, arena);
    (void)item;
    WT_CHECK_ALLOC(lines, err);
    values[0] = (struct prompt_value){.slot = "examples", .items = lines, .item_count = library->shown_count};
    *count = 1;
    return 0;
}

static int accept_base_tool(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                            wt_error *err)
{
    struct library *library = ((struct library_job *)context)->library;
    WT_CLEANUP(wt__arena_dispose) struct arena scratch = {0};
    struct library_tool tool = {.origin = ORIGIN_GENERATED};
    enum piece_fate fate;
    (void)item;
    const struct str description = wt__json_str(answer, "description");
    WT_TRY(wt__piece_read(&scratch, PIECE_NAME, wt__json_str(answer, "name"), &tool.name, &fate, err));
    if (fate == PIECE_TAKEN)
        WT_TRY(wt__piece_read(&scratch, PIECE_DESCRIPTION, description, &tool.description, &fate, err));
    if (fate == PIECE_TAKEN)
        WT_TRY(add_base_tool(library, &tool, &fate, err));
    wt__stage_note(count, fate);
    *done = fate == PIECE_TAKEN;
    return 0;
}

/* ---------------------------------------------------------------- related tools */

/* Writes one line for each seed: "Tide Table: Tide Height at Time; Tide Table for Week". A name can have neither a
 * colon nor a semicolon, so an answer that copies such a line is refused. */
static int write_related_examples(struct library_job *m, wt_error *err)
{
    m->examples = wt__arena_array(&m->arena, struct str, SEED_TOOLS);
    WT_CHECK_ALLOC(m->examples, err);
    for (size_t i = 0; i < SEED_TOOLS; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        wt__buffer_text(&line, wt__seed_tools[i].name);
        for (size_t r = 0; r < SEED_RELATED; r++)
            wt__buffer_printf(&line, "%s%s", r ? "; " : ": ", wt__seed_tools[i].related[r]);
        m->examples[i] = (struct str){wt__arena_copy(&m->arena, wt__buffer_view(&line)), line.len};
        WT_CHECK_ALLOC(!line.failed && m->examples[i].ptr, err);
    }
    return 0;
}

static int fill_related_tool(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                             size_t *count, wt_error *err)
{
    const struct library_job *m = context;
    size_t places[WT_MAX_RELATED], known = wt__library_siblings(m->library, item, places, WT_MAX_RELATED);
    struct str *names = wt__arena_array(arena, struct str, known + 1);
    WT_CHECK_ALLOC(names, err);
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
    return add_library_tool(m->library, &tool, &place, fate, err);
}

static int accept_related_tool(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                               wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena scratch = {0};
    struct str name;
    enum piece_fate fate;
    WT_TRY(wt__piece_read(&scratch, PIECE_NAME, wt__json_str(answer, "name"), &name, &fate, err));
    if (fate == PIECE_TAKEN)
        WT_TRY(add_related_tool(context, item, name, STR(""), &fate, err));
    wt__stage_note(count, fate);
    *done = fate == PIECE_TAKEN;
    return 0;
}

/* True if the seed has a handwritten related tool for this turn. */
static bool has_handwritten_related(void *context, size_t item)
{
    const struct library_job *m = context;
    return item < SEED_TOOLS && m->nth < SEED_RELATED;
}

/* ---------------------------------------------------------------- descriptions */

static int fill_tool_description(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                                 size_t *count, wt_error *err)
{
    const struct library_job *m = context;
    const struct library *library = m->library;
    const struct library_tool *tool = &library->tools[m->first_related + item];
    struct str *lines = wt__arena_array(arena, struct str, SEED_TOOLS), *siblings;
    size_t places[WT_MAX_RELATED], told = 0;
    size_t known = wt__library_siblings(library, m->first_related + item, places, WT_MAX_RELATED);
    siblings = wt__arena_array(arena, struct str, known + 1);
    WT_CHECK_ALLOC(lines && siblings, err);
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
    const struct str said = wt__json_str(answer, "description");
    WT_TRY(wt__piece_read(&m->library->arena, PIECE_DESCRIPTION, said, &description, &fate, err));
    if (fate == PIECE_TAKEN)
        WT_TRY(wt__distinct_add(&m->library->descriptions, description, &fate, err));
    if (fate == PIECE_TAKEN)
        m->library->tools[m->first_related + item].description = description;
    wt__stage_note(count, fate);
    *done = fate == PIECE_TAKEN;
    return 0;
}

/* Registers the existing descriptions, so that a related tool cannot repeat one. */
static int register_descriptions(struct library *library, wt_error *err)
{
    enum piece_fate fate;
    for (size_t i = 0; i < library->count; i++)
        if (library->tools[i].description.len > 0)
            WT_TRY(wt__distinct_add(&library->descriptions, library->tools[i].description, &fate, err));
    return 0;
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

static int generate_related_tools(struct library_job *m, struct stage_runner *runner, wt_error *err)
{
    struct stage_count *count = &runner->counts[STAGE_RELATED];
    struct question_stage stage = {{STAGE_RELATED, "related tools", "generate-related", m, fill_related_tool,
                                    accept_related_tool, has_handwritten_related},
                                   .count = m->base_count,
                                   .round = STAGE_ROUND};
    enum piece_fate fate;
    WT_TRY(write_related_examples(m, err));
    for (; m->nth < m->related; m->nth++) {
        for (size_t i = 0; m->nth < SEED_RELATED && i < SEED_TOOLS; i++)
            WT_TRY(add_related_tool(m, i, wt__str(wt__seed_tools[i].related[m->nth]),
                                    wt__str(wt__seed_tools[i].related_descriptions[m->nth]), &fate, err));
        count->wanted += m->base_count - (m->nth < SEED_RELATED ? SEED_TOOLS : 0);
        stage.salt = m->nth;
        if (!count->gave_up)
            WT_TRY(wt__stage_run(runner, &stage, err));
    }
    return 0;
}

static int generate_descriptions(struct library_job *m, struct stage_runner *runner, wt_error *err)
{
    struct question_stage stage = {{STAGE_DESCRIPTIONS, "descriptions", "generate-description", m,
                                    fill_tool_description, accept_tool_description, is_tool_described},
                                   .count = m->library->count - m->first_related,
                                   .round = STAGE_ROUND};
    for (size_t i = 0; i < stage.count; i++)
        runner->counts[STAGE_DESCRIPTIONS].wanted += !is_tool_described(m, i);
    return wt__stage_run(runner, &stage, err);
}

int wt__library_generate(struct library *library, struct stage_runner *runner, size_t tools, size_t related,
                         wt_error *err)
{
    WT_CLEANUP(dispose_library_job) struct library_job m = {.library = library, .related = related};
    struct question_stage base = {
        {STAGE_TOOLS, "tools", "generate-tool", &m, fill_base_tool, accept_base_tool, NULL}, .count = 0, .round = 1};
    base.count = tools > library->count ? tools - library->count : 0;
    runner->counts[STAGE_TOOLS].wanted = base.count;
    WT_TRY(wt__stage_run(runner, &base, err));
    m.base_count = m.first_related = library->count;
    WT_TRY(generate_related_tools(&m, runner, err));
    WT_TRY(register_descriptions(library, err));
    WT_TRY(generate_descriptions(&m, runner, err));
    drop_undescribed_tools(library);
    return 0;
}

/* ---------------------------------------------------------------- tools of a store */

enum {
    LISTED_WHOLE = 20000, /* catalogues of up to this many tools are listed in one call; larger ones tool by tool */
    LIKE_SPARE = 8,       /* extra hits to request, since some will be unsuitable */
};

int wt__store_library_add(struct store_library *catalogue, const wt_tool *tool, size_t *place, bool *taken,
                          wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer description = {0};
    struct library *library = catalogue->library;
    enum piece_fate fate;
    wt__piece_line(&description, wt__str(tool->description), PIECE_DESCRIPTION_BYTES_MAX);
    struct library_tool added = {
        .name = wt__str(tool->export_name), .description = wt__buffer_view(&description), .origin = ORIGIN_CATALOGUE};
    *taken = false;
    WT_CHECK_ALLOC(!description.failed, err);
    if (description.len == 0)
        return 0;
    WT_TRY(add_library_tool(library, &added, place, &fate, err));
    *taken = wt__str_equal(library->tools[*place].name, added.name);
    return 0;
}

static void free_listed_tools(wt_tools **tools)
{
    wt_tools_free(*tools);
}

/* Sets *out to the tool at `position` of the catalogue, or to NULL if there is no such tool. Takes the tool from
 * `all`. If `all` is NULL, lists the tool into *own. */
static int get_listed_tool(wt_engine *engine, const wt_tools *all, size_t position, wt_tools **own, const wt_tool **out,
                           wt_error *err)
{
    wt_list_options options;
    *own = NULL;
    *out = NULL;
    if (all) {
        *out = position < all->len ? all->items[position] : NULL;
        return 0;
    }
    wt_list_options_init(&options);
    options.offset = position;
    options.limit = 1;
    WT_TRY(wt_list(engine, &options, own, err));
    if ((*own)->len > 0)
        *out = (*own)->items[0];
    return 0;
}

static int draw_store_tools(struct store_library *catalogue, const wt_tools *all, const uint32_t *order, size_t count,
                            size_t tools, struct progress *progress, size_t *left_out, wt_error *err)
{
    size_t begin = catalogue->library->count;
    for (size_t i = 0; i < count && catalogue->library->count - begin < tools; i++) {
        WT_CLEANUP(free_listed_tools) wt_tools *own = NULL;
        const wt_tool *tool;
        size_t place, before = catalogue->library->count;
        bool taken;
        WT_TRY(get_listed_tool(catalogue->engine, all, order[i], &own, &tool, err));
        if (tool)
            WT_TRY(wt__store_library_add(catalogue, tool, &place, &taken, err));
        *left_out += catalogue->library->count == before;
        if (wt__progress_step(progress, 1))
            return wt__fail_cancelled(err);
    }
    return 0;
}

int wt__store_library_draw(struct store_library *catalogue, size_t tools, struct rng *rng, struct progress *progress,
                           size_t *left_out, wt_error *err)
{
    wt_catalog_info info;
    WT_CLEANUP(free_listed_tools) wt_tools *all = NULL;
    wt_catalog_info_init(&info);
    *left_out = 0;
    WT_TRY(wt_info(catalogue->engine, &info, err));
    if (info.tools == 0)
        return wt__fail(err, WT_EEMPTY, "the store has no tools; add some with `whichtool add`");
    WT_AUTO_FREE uint32_t *order = wt__alloc_array(info.tools, sizeof *order);
    WT_CHECK_ALLOC(order, err);
    if (wt__progress_phase(progress, "reading", tools < info.tools ? tools : info.tools))
        return wt__fail_cancelled(err);
    wt__rng_draw(rng, order, info.tools, info.tools - 1);
    if (info.tools <= LISTED_WHOLE)
        WT_TRY(wt_list(catalogue->engine, NULL, &all, err));
    return draw_store_tools(catalogue, all, order, info.tools, tools, progress, left_out, err);
}

int wt__store_library_find_similar(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count,
                                   wt_error *err)
{
    struct store_library *catalogue = self;
    wt_find_options options;
    wt_hits *hits = NULL;
    wt_find_options_init(&options);
    options.k = most + LIKE_SPARE;
    options.recipe = catalogue->recipe;
    *count = 0;
    int rc = wt_find(catalogue->engine, row->query.ptr, row->query.len, &options, &hits, err);
    for (size_t i = 0; rc == 0 && i < hits->len && *count < most; i++) {
        size_t place;
        bool taken;
        rc = wt__store_library_add(catalogue, hits->items[i]->tool, &place, &taken, err);
        const struct library_tool *tools = catalogue->library->tools;
        if (rc == 0 && taken && !wt__row_is_right(row, place) &&
            !wt__str_equal(tools[place].description, tools[row->tool].description))
            places[(*count)++] = place;
    }
    wt_hits_free(hits);
    return rc;
}
