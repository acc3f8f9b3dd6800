/* validator.c: first only checks if an instance fits, which is fast. If not, a second evaluation records all
 * violations. */
#include "schema/validator.h"

enum verdict wt__validator_check(const struct compiled *compiled, const json_t *instance)
{
    struct schema_evaluation e = {.most_steps = VALIDATION_STEPS};
    struct arena arena = {0}; /* for the reason, if undecided */
    e.arena = &arena;
    enum verdict verdict = wt__evaluate(&e, compiled, instance);
    wt__evaluation_dispose(&e);
    wt__arena_dispose(&arena);
    return verdict;
}

/* Ends an evaluation. The names borrowed by its violations move to `v`; the violations of the previous evaluation no
 * longer exist. */
static void end_evaluation(struct validation *v, struct schema_evaluation *e)
{
    json_decref(v->names);
    v->names = e->names;
    e->names = NULL;
    wt__evaluation_dispose(e);
}

/* Evaluates the instance once, with a new budget. */
static enum verdict evaluate_once(struct validation *v, const struct compiled *compiled, const json_t *instance,
                                  bool violations)
{
    struct schema_evaluation e = {.arena = &v->arena, .most_steps = VALIDATION_STEPS};
    enum verdict verdict = violations ? wt__evaluate_collecting(&e, compiled, instance, &v->violations)
                                      : wt__evaluate(&e, compiled, instance);
    if (verdict == UNDECIDED && !wt__violations_add(&v->violations, &e.why))
        verdict = OUT_OF_MEMORY;
    end_evaluation(v, &e);
    return verdict;
}

static bool repair_instance(struct validation *v, const struct compiled *compiled, const json_t *instance)
{
    struct schema_evaluation e = {.arena = &v->arena, .most_steps = VALIDATION_STEPS};
    bool done = wt__repair(&v->repairs, &v->violations, &e, compiled, instance);
    if (done && e.stopped && v->violations.len == 0)
        done = wt__violations_add(&v->violations, &e.why);
    v->fits = done && v->violations.len == 0;
    end_evaluation(v, &e);
    return done;
}

int wt__validator_run(struct validation *v, const struct compiled *compiled, const json_t *instance, bool repairs,
                      wt_error *err)
{
    *v = (struct validation){0};
    enum verdict verdict = evaluate_once(v, compiled, instance, false);
    if (verdict == FITS_NOT)
        verdict = evaluate_once(v, compiled, instance, true);
    v->fits = verdict == FITS;
    if (verdict == FITS_NOT && repairs && !repair_instance(v, compiled, instance))
        verdict = OUT_OF_MEMORY;
    if (verdict != OUT_OF_MEMORY)
        return 0;
    wt__validation_dispose(v);
    return wt__fail_nomem(err);
}

void wt__validation_dispose(struct validation *v)
{
    wt__violations_dispose(&v->violations);
    json_decref(v->repairs.instance);
    json_decref(v->names);
    wt__arena_dispose(&v->arena);
    *v = (struct validation){0};
}
