/* oracle.c: see oracle.h. The oracle keeps no state: it derives the list of requirements from the labels for every
 * question, always with the same result. */
#include "choose/oracle.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/rng.h"
#include "choose/ptr.h"

/* Seeds the random numbers of one decision. Step and words distinguish it from other decisions of the request. */
static void seed_oracle_decision(struct rng *rng, const struct oracle *oracle, const struct ptr_subject *subject,
                                 struct str words)
{
    struct str request = subject->request->text;
    uint64_t hash = wt__checksum(request.ptr, request.len, oracle->seed);
    wt__rng_seed(rng, wt__checksum(words.ptr, words.len, hash + (uint64_t)subject->step));
}

static bool oracle_errs(const struct oracle *oracle, struct rng *rng)
{
    return wt__rng_unit(rng) < oracle->error;
}

/* Lists the requirements, including errors: list [2 * needed_count]. Returns their number. */
static size_t name_requirements(const struct oracle *oracle, const struct ptr_subject *subject,
                                const struct ptr_label **list)
{
    const struct ptr_labels *labels = subject->request->labels;
    const struct ptr_subject naming = {.step = PTR_REQUIRE, .request = subject->request};
    size_t count = 0;
    for (size_t i = 0; i < labels->needed_count; i++) {
        struct rng rng;
        seed_oracle_decision(&rng, oracle, &naming, labels->needed[i].need);
        bool wrong = oracle_errs(oracle, &rng);
        bool invents = labels->wrong_count > 0 && wt__rng_below(&rng, 2) == 1;
        if (!wrong || invents)
            list[count++] = &labels->needed[i];
        if (wrong && invents)
            list[count++] = &labels->wrong[wt__rng_below(&rng, labels->wrong_count)];
    }
    return count;
}

/* Returns the 1-based number of the tool in the list, or 0. */
static size_t requirement_number(struct ptr_tools listed, uint32_t tool)
{
    for (size_t i = 0; i < listed.count; i++)
        if (listed.rows[i] == tool)
            return i + 1;
    return 0;
}

static size_t match_oracle_label(const struct oracle *oracle, const struct ptr_subject *subject,
                                 const struct ptr_label *label)
{
    struct rng rng;
    seed_oracle_decision(&rng, oracle, subject, label->need);
    size_t right = requirement_number(subject->listed, label->tool);
    if (!oracle_errs(oracle, &rng) || subject->listed.count == 0)
        return right;
    size_t number = (size_t)wt__rng_below(&rng, subject->listed.count); /* uniform over all other answers */
    return number + (number >= right);
}

static void write_ptr_answer(const struct oracle *oracle, const struct ptr_subject *subject,
                             const struct ptr_label **list, struct buffer *out)
{
    size_t count = name_requirements(oracle, subject, list);
    if (subject->step == PTR_REQUIRE) {
        wt__buffer_text(out, "{\"requirements\": [");
        for (size_t i = 0; i < count; i++) {
            wt__buffer_text(out, i ? ", " : "");
            wt__buffer_json(out, list[i]->need);
        }
        wt__buffer_text(out, "]}");
        return;
    }
    size_t number = subject->place < count ? match_oracle_label(oracle, subject, list[subject->place]) : 0;
    if (number > 0)
        wt__buffer_printf(out, "{\"tools\": [%zu]}", number);
    else
        wt__buffer_text(out, "{\"tools\": []}");
}

static int answer_ptr_question(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                               struct chat_answer *out, wt_error *err)
{
    const struct oracle *oracle = (const struct oracle *)model;
    const struct ptr_subject *subject = question->subject;
    if (!subject || !subject->request->labels)
        return wt__fail(err, WT_EINVAL, "%s: the request has no labels", model->name);

    const struct ptr_label **list =
        wt__arena_array(arena, const struct ptr_label *, 2 * subject->request->labels->needed_count);
    struct buffer text = {0};
    if (list)
        write_ptr_answer(oracle, subject, list, &text);
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    int rc = !list || text.failed || !out->text.ptr ? wt__fail_nomem(err) : 0;
    if (rc == 0)
        rc = wt__json_parse(&out->json, out->text.ptr, out->text.len, err);
    wt__buffer_dispose(&text);
    return rc;
}

int wt__oracle_init(struct oracle *oracle, double error, uint64_t seed, wt_error *err)
{
    if (!(error >= 0 && error <= 1))
        return wt__fail(err, WT_EINVAL, "oracle: error rate must be 0 to 1, not %g", error);
    *oracle = (struct oracle){.model.ask = answer_ptr_question, .error = error, .seed = seed};
    snprintf(oracle->name, sizeof oracle->name, "oracle, %g %% error", 100 * error);
    oracle->model.name = oracle->name;
    return 0;
}
