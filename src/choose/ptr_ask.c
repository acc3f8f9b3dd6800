/* ptr_ask.c: PTR's two questions to the language model (appendix D of the paper), and the validation of its answers.
 *
 *   ptr-requirements   request -> {"requirements": [text, ...]}
 *   ptr-match          tools, one requirement -> {"tools": [number in the list, ...]}
 *
 * A requirement is a text with at least one word; it is converted to plain text and cut. A match is a list of integers
 * from 1 to the length of the list. Anything else is rejected and counted. Without a usable requirement, the whole
 * request becomes the only requirement. A match with any invalid number is rejected as a whole. Only an empty list
 * means that the request requires nothing.
 *
 * Matches are independent, so they are asked concurrently and read in the order of the requirements. */
#include "choose/ptr_inside.h"

#include "base/pool.h"
#include "llm/plain_text.h"

static int put_ptr_question(const struct ptr_run *run, const struct prompt *prompt, const struct prompt_value *values,
                            size_t count, const struct ptr_subject *subject, struct chat_reply *reply)
{
    const struct chat_question question = {.subject = subject, .progress = run->request->progress};
    return wt__chat_put(reply, prompt, values, count, run->model, question);
}

/* Rejects the last answer of the trace for the given reason. */
static int reject_ptr_answer(const struct ptr_run *run, const char *reason, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    return wt__chat_reject(&trace->exchanges[trace->exchange_count - 1], &trace->cost, reason, run->arena, err);
}

/* Adds a question to the trace and its answer to the cost. An answer without JSON is already rejected. */
static int note_ptr_exchange(const struct ptr_run *run, const struct prompt *prompt, const struct chat_reply *reply,
                             wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    struct chat_exchange *exchange = &trace->exchanges[trace->exchange_count];
    int rc = wt__chat_keep(exchange, &trace->cost, prompt, reply, run->arena, err);
    trace->exchange_count += rc == 0;
    return rc;
}

/* --- requirements -------------------------------------------------------------------------------------------- */

static int read_requirements(const struct ptr_run *run, const json_t *list, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (trace->requirement_count == run->requirements) {
            trace->ignored = json_array_size(list) - i;
            break;
        }
        struct ptr_requirement *requirement = &trace->requirements[trace->requirement_count];
        requirement->place = i;
        const json_t *element = json_array_get(list, i);
        const struct str words = {json_string_value(element), json_string_length(element)};
        if (wt__plain_words(&requirement->text, words, PTR_MAX_REQUIREMENT_BYTES, run->arena) < 0)
            return wt__fail_nomem(err);
        if (requirement->text.len > 0)
            trace->requirement_count++;
    }
    return 0;
}

int wt__ptr_ask_requirements(const struct ptr_run *run, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    const struct ptr_subject subject = {.step = PTR_REQUIRE, .request = run->request};
    const struct prompt_value value = {.slot = "request", .text = run->request->text};
    struct chat_reply reply = {0};
    struct prompt prompt;

    trace->requirements = wt__arena_array(run->arena, struct ptr_requirement, run->requirements);
    trace->exchanges = wt__arena_array(run->arena, struct chat_exchange, 1 + run->requirements);
    if (!trace->requirements || !trace->exchanges)
        return wt__fail_nomem(err);
    int rc = wt__prompt_open(&prompt, "ptr-requirements", err);
    if (rc < 0)
        return rc;
    put_ptr_question(run, &prompt, &value, 1, &subject, &reply);
    rc = note_ptr_exchange(run, &prompt, &reply, err);
    wt__prompt_dispose(&prompt);

    const json_t *list = wt__json_array(reply.got.json, "requirements");
    if (rc == 0)
        rc = read_requirements(run, list, err);
    if (rc == 0 && reply.got.json && trace->requirement_count == 0 && (!list || json_array_size(list) > 0))
        rc = reject_ptr_answer(run, "answer names no requirement", err);
    if (rc == 0 && trace->cost.unusable > 0) {
        trace->requirements[0] = (struct ptr_requirement){.text = run->request->text, .place = PTR_WHOLE};
        trace->requirement_count = 1;
    }
    wt__chat_reply_dispose(&reply);
    return rc;
}

/* --- matches ------------------------------------------------------------------------------------------------- */

/* Writes "name: description" of a tool. */
static int describe_ptr_tool(const struct ptr_run *run, uint32_t tool, struct str *out, wt_error *err)
{
    struct ptr_text text = {0};
    int rc = run->sources->describe(run->sources->self, tool, run->arena, &text, err);
    if (rc < 0)
        return rc;
    *out = wt__prompt_tool(text.name, text.description, PTR_MAX_TOOL_BYTES, run->arena);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

static int read_match(const struct ptr_run *run, const json_t *answer, struct ptr_requirement *requirement,
                      wt_error *err)
{
    const struct ptr_tools *bundle = &run->trace->bundle;
    const json_t *numbers = json_object_get(answer, "tools");
    uint32_t *rows = wt__ptr_empty_tools(run->arena, bundle->count, &requirement->tools);
    bool listed = json_is_array(numbers);
    requirement->asked = true;
    if (!rows)
        return wt__fail_nomem(err);
    for (size_t i = 0; listed && i < json_array_size(numbers); i++) {
        json_int_t number = json_integer_value(json_array_get(numbers, i)); /* 0 if not an integer */
        listed = number >= 1 && number <= (json_int_t)bundle->count;
        if (listed)
            wt__ptr_add_tool(&requirement->tools, rows, bundle->rows[number - 1]);
    }
    if (listed || !answer)
        return 0;
    requirement->tools.count = 0;
    return reject_ptr_answer(run, "answer is not a list of numbers of listed tools", err);
}

/* State of all matches of a run. Several questions are under way at once. */
struct ptr_matching {
    const struct ptr_run *run;
    struct prompt prompt;
    struct str *items;          /* the tools as listed in the prompt */
    struct chat_reply *replies; /* one per requirement */
};

static int match_requirement(void *context, size_t index, unsigned worker)
{
    struct ptr_matching *m = context;
    const struct ptr_trace *trace = m->run->trace;
    const struct ptr_requirement *requirement = &trace->requirements[index];
    const struct ptr_subject subject = {
        .step = PTR_MATCH, .request = m->run->request, .place = requirement->place, .listed = trace->bundle};
    const struct prompt_value values[] = {
        {.slot = "tools", .items = m->items, .item_count = trace->bundle.count},
        {.slot = "requirement", .text = requirement->text},
    };
    (void)worker;
    return put_ptr_question(m->run, &m->prompt, values, sizeof values / sizeof *values, &subject, &m->replies[index]);
}

/* Counts answers even if another question failed. */
static int read_matches(const struct ptr_matching *m, wt_error *err)
{
    struct ptr_trace *trace = m->run->trace;
    int rc = 0;
    for (size_t i = 0; i < trace->requirement_count; i++) {
        wt_error unused;
        const struct chat_reply *reply = &m->replies[i];
        int failed = reply->put ? note_ptr_exchange(m->run, &m->prompt, reply, rc == 0 ? err : &unused) : 0;
        if (reply->put && failed == 0)
            failed = read_match(m->run, reply->got.json, &trace->requirements[i], rc == 0 ? err : &unused);
        rc = rc < 0 ? rc : failed;
    }
    return rc;
}

int wt__ptr_ask_matches(const struct ptr_run *run, wt_error *err)
{
    const struct ptr_trace *trace = run->trace;
    struct ptr_matching m = {.run = run};
    if (trace->bundle.count == 0 || trace->requirement_count == 0)
        return 0;

    m.items = wt__arena_array(run->arena, struct str, trace->bundle.count);
    m.replies = wt__arena_array(run->arena, struct chat_reply, trace->requirement_count);
    if (!m.items || !m.replies)
        return wt__fail_nomem(err);
    int rc = wt__prompt_open(&m.prompt, "ptr-match", err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < trace->bundle.count; i++)
        rc = describe_ptr_tool(run, trace->bundle.rows[i], &m.items[i], err);
    if (rc == 0) {
        wt__pool_run(PTR_AT_ONCE, trace->requirement_count, match_requirement, &m);
        rc = read_matches(&m, err);
    }
    for (size_t i = 0; i < trace->requirement_count; i++)
        wt__chat_reply_dispose(&m.replies[i]);
    wt__prompt_dispose(&m.prompt);
    return rc;
}
