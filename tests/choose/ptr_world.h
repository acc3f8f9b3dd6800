/* ptr_world.h: catalogues, past use and models for the tests of PTR, small enough to work out by hand.
 *
 * A tool is a letter; 'a' is row 0. Texts are single words. The data of a source is a line of entries
 * "KEY=VALUE", separated by blanks:
 *   dsa     "p=abc"     the tools nearest to the word p
 *   hqc     "p=ab,c"    the tools of each past request nearest to p
 *   cte     "a=ade"     the tools nearest to tool a
 *   match   "p=a q=-"   the model's requirements, each with its matching tools, or "-"
 *   problems "p q"      the model's problems, for PTR_ASK_PROBLEMS
 *   needed  "ab"        the tools that are needed at a second look, for PTR_PROTECT_BUNDLE */
#ifndef WT_TESTS_CHOOSE_PTR_WORLD_H
#define WT_TESTS_CHOOSE_PTR_WORLD_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "choose/ptr.h"

struct ptr_world {
    const char *bundle, *dsa, *hqc, *cte, *match, *problems, *needed;
    const char *broken; /* name of the source that fails; NULL for none */
    int code;           /* error code of that source */
};

static inline struct str world_find(const char *table, struct str key)
{
    for (const char *at = table; at && *at; at += strspn(at, " ")) {
        struct str word = {at, strcspn(at, " ")};
        at += word.len;
        if (word.len > key.len && memcmp(word.ptr, key.ptr, key.len) == 0 && word.ptr[key.len] == '=')
            return (struct str){word.ptr + key.len + 1, word.len - key.len - 1};
    }
    return (struct str){0};
}

static inline int world_tools(struct str letters, struct arena *arena, struct ptr_tools *out, wt_error *err)
{
    uint32_t *rows = wt__arena_array(arena, uint32_t, letters.len);
    if (!rows)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < letters.len; i++)
        rows[i] = (uint32_t)(letters.ptr[i] - 'a');
    *out = (struct ptr_tools){rows, letters.len};
    return 0;
}

static inline int world_breaks(const struct ptr_world *world, const char *source, wt_error *err)
{
    if (!world->broken || strcmp(world->broken, source) != 0)
        return 0;
    return wt__fail(err, world->code, "the source \"%s\" is broken", source);
}

static inline int world_bundle(void *self, struct str text, struct arena *arena, struct ptr_tools *out, wt_error *err)
{
    const struct ptr_world *world = self;
    (void)text;
    int rc = world_breaks(world, "bundle", err);
    return rc < 0 ? rc : world_tools(wt__str(world->bundle), arena, out, err);
}

/* Ignores k, so that it may return more tools than requested, which PTR must tolerate. */
static inline int world_dsa(void *self, struct str text, size_t k, struct arena *arena, struct ptr_tools *out,
                            wt_error *err)
{
    const struct ptr_world *world = self;
    (void)k;
    int rc = world_breaks(world, "dsa", err);
    return rc < 0 ? rc : world_tools(world_find(world->dsa, text), arena, out, err);
}

static inline int world_hqc(void *self, struct str text, size_t k, struct arena *arena, const struct ptr_tools **out,
                            size_t *count, wt_error *err)
{
    const struct ptr_world *world = self;
    struct str sets = world_find(world->hqc, text);
    struct ptr_tools *lists = wt__arena_array(arena, struct ptr_tools, sets.len + 1);
    (void)k;
    int rc = world_breaks(world, "hqc", err);
    *out = lists;
    while (rc == 0 && lists && sets.len > 0) {
        const char *comma = memchr(sets.ptr, ',', sets.len);
        size_t len = comma ? (size_t)(comma - sets.ptr) : sets.len;
        rc = world_tools((struct str){sets.ptr, len}, arena, &lists[(*count)++], err);
        sets = (struct str){sets.ptr + len + (comma != NULL), sets.len - len - (comma != NULL)};
    }
    return rc < 0 || lists ? rc : wt__fail_nomem(err);
}

static inline int world_cte(void *self, uint32_t tool, size_t k, struct arena *arena, struct ptr_tools *out,
                            wt_error *err)
{
    const struct ptr_world *world = self;
    char letter = (char)('a' + tool);
    (void)k;
    int rc = world_breaks(world, "cte", err);
    return rc < 0 ? rc : world_tools(world_find(world->cte, (struct str){&letter, 1}), arena, out, err);
}

static inline int world_describe(void *self, uint32_t tool, struct arena *arena, struct ptr_text *out, wt_error *err)
{
    char name[2] = {(char)('a' + tool), '\0'};
    int rc = world_breaks(self, "describe", err);
    *out = (struct ptr_text){{wt__arena_copy(arena, wt__str(name)), 1}, STR("does something")};
    return rc;
}

static inline struct ptr_sources world_sources(struct ptr_world *world)
{
    return (struct ptr_sources){world, world_bundle, world_dsa, world_hqc, world_cte, world_describe};
}

/* Model that answers from the table `match`, or with the given JSON. */
struct ptr_script {
    struct chat_model model;
    const char *match, *problems, *needed;
    const char *require_json, *match_json, *other_json; /* NULL to answer from the table; other: of the variants */
    int fail_at, code; /* 1-based number of the question that fails once with `code`, or 0 */
    atomic_int asked, failed;
};

static inline void script_require(const char *table, const char *member, struct buffer *out)
{
    wt__buffer_printf(out, "{\"%s\": [", member);
    for (const char *at = table; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        wt__buffer_text(out, at == table ? "" : ", ");
        wt__buffer_json(out, (struct str){at, strcspn(at, "= ")});
    }
    wt__buffer_text(out, "]}");
}

static inline void script_match(const char *table, const struct ptr_subject *subject, struct buffer *out)
{
    for (size_t i = 0; i < subject->place; i++)
        table += strcspn(table, " "), table += strspn(table, " ");
    wt__buffer_text(out, "{\"tools\": [");
    bool first = true;
    for (const char *tool = table + strcspn(table, "=") + 1; *tool && *tool != ' '; tool++) {
        for (size_t i = 0; i < subject->listed.count; i++) {
            if (subject->listed.rows[i] != (uint32_t)(*tool - 'a'))
                continue;
            wt__buffer_printf(out, "%s%zu", first ? "" : ", ", i + 1);
            first = false;
        }
    }
    wt__buffer_text(out, "]}");
}

static inline int script_ask(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                             struct chat_answer *out, wt_error *err)
{
    struct ptr_script *script = (struct ptr_script *)model;
    const struct ptr_subject *subject = question->subject;
    struct buffer text = {0};
    *out = (struct chat_answer){.prompt_tokens = 100, .completion_tokens = 10, .ms = 2, .attempts = 1};
    atomic_fetch_add(&script->asked, 1);
    size_t number = subject->step == PTR_REQUIRE ? 1 : subject->step == PTR_MATCH ? 2 + subject->place : SIZE_MAX;
    if (number == (size_t)script->fail_at && atomic_fetch_add(&script->failed, 1) == 0)
        return wt__fail(err, script->code, "the model failed");
    const char *json = subject->step == PTR_REQUIRE ? script->require_json
                       : subject->step == PTR_MATCH ? script->match_json
                                                    : script->other_json;
    if (json)
        wt__buffer_text(&text, json);
    else if (subject->step == PTR_REQUIRE)
        script_require(script->match, "requirements", &text);
    else if (subject->step == PTR_PROBLEMS)
        script_require(script->problems, "problems", &text);
    else if (subject->step == PTR_PROTECT)
        wt__buffer_printf(&text, "{\"needed\": %s}",
                          strchr(script->needed, (char)('a' + subject->listed.rows[0])) ? "true" : "false");
    else
        script_match(script->match, subject, &text);
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    int rc = wt__json_parse(&out->json, out->text.ptr, out->text.len, err);
    wt__buffer_dispose(&text);
    return rc;
}

static inline struct ptr_script ptr_script_of(const struct ptr_world *world)
{
    return (struct ptr_script){
        .model = {"script", script_ask}, .match = world->match, .problems = world->problems, .needed = world->needed};
}

static inline void write_ptr_tools(struct buffer *out, struct ptr_tools tools)
{
    for (size_t i = 0; i < tools.count; i++)
        wt__buffer_char(out, (char)('a' + tools.rows[i]));
}

/* Formats a trace as one line: "[BUNDLE] REQUIREMENT=TOOLS ... VERDICT kept KEPT; REQUIREMENT DSA|HQC|CTE TOOL+VOTES
 * ...; set SET". "!" follows a tool that was already in the set. */
static inline char *trace_line(const struct ptr_trace *trace)
{
    struct buffer out = {0};
    wt__buffer_text(&out, "[");
    write_ptr_tools(&out, trace->bundle);
    wt__buffer_text(&out, "]");
    for (size_t i = 0; i < trace->requirement_count; i++) {
        const struct ptr_requirement *r = &trace->requirements[i];
        wt__buffer_printf(&out, " %.*s=%s", (int)r->text.len, r->text.ptr, r->tools.count ? "" : "-");
        write_ptr_tools(&out, r->tools);
    }
    wt__buffer_printf(&out, " %s kept ", wt__ptr_verdict_name(trace->verdict));
    write_ptr_tools(&out, trace->kept);
    for (size_t i = 0; i < trace->problem_count; i++) {
        const struct ptr_problem *p = &trace->problems[i];
        wt__buffer_printf(&out, "; %.*s ", (int)p->text.len, p->text.ptr);
        for (int view = 0; view < PTR_VIEWS; view++) {
            wt__buffer_text(&out, view ? "|" : "");
            write_ptr_tools(&out, p->views[view]);
        }
        if (p->solved)
            wt__buffer_printf(&out, " %c%u%s", (char)('a' + p->tool), p->votes, p->already ? "!" : "");
    }
    wt__buffer_text(&out, "; set ");
    write_ptr_tools(&out, trace->set);
    return wt__buffer_take(&out);
}

#endif
