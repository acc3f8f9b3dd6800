/* comparison_report.c: wins, ties and losses of the first data set with their confidence intervals, and the
 * agreement with a person's labels. */
#include <math.h>
#include <stdlib.h>

#include "base/bootstrap.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "generate/comparison.h"

enum { RESAMPLES = 10000 };

static const char *const names[CRITERIA + 1] = {"naturalness", "fluency", "coherence", "overall"};

enum preference wt__pair_preference(const struct compared_pair *pair, size_t criterion)
{
    int sum = 0;
    if (criterion < CRITERIA)
        return pair->preferences[0][criterion] == pair->preferences[1][criterion] ? pair->preferences[0][criterion]
                                                                                  : PREFERS_NEITHER;
    for (size_t c = 0; c < CRITERIA; c++)
        sum += wt__pair_preference(pair, c);
    return sum > 0 ? PREFERS_FIRST : sum < 0 ? PREFERS_SECOND : PREFERS_NEITHER;
}

/* Bootstraps the mean of scale[preference + 1] over all preferences. */
static int bootstrap_preferences(const double *preferences, size_t count, double scale[3], uint64_t seed,
                                 struct bootstrap *out, wt_error *err)
{
    double *values = wt__alloc_array(count + 1, sizeof *values);
    if (!values)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        values[i] = scale[(int)preferences[i] + 1];
    int rc = wt__bootstrap(values, count, RESAMPLES, seed, out, err);
    free(values);
    return rc;
}

static int measure_outcome(const struct compared_pair *pairs, size_t count, size_t criterion, uint64_t seed,
                           struct comparison_outcome *out, wt_error *err)
{
    double *preferences = wt__alloc_array(count + 1, sizeof *preferences);
    *out = (struct comparison_outcome){0};
    if (!preferences)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        if (!wt__pair_is_judged(&pairs[i]))
            continue;
        const enum preference preference = wt__pair_preference(&pairs[i], criterion);
        out->wins += preference == PREFERS_FIRST;
        out->ties += preference == PREFERS_NEITHER;
        out->losses += preference == PREFERS_SECOND;
        if (criterion < CRITERIA)
            out->changed_with_order += pairs[i].preferences[0][criterion] != pairs[i].preferences[1][criterion];
        preferences[out->judged++] = preference;
    }
    double lost[3] = {1, 0, 0}, tied[3] = {0, 1, 0}, won[3] = {0, 0, 1}, net[3] = {-1, 0, 1};
    int rc = bootstrap_preferences(preferences, out->judged, won, seed, &out->won, err);
    if (rc == 0)
        rc = bootstrap_preferences(preferences, out->judged, tied, seed, &out->tied, err);
    if (rc == 0)
        rc = bootstrap_preferences(preferences, out->judged, lost, seed, &out->lost, err);
    if (rc == 0)
        rc = bootstrap_preferences(preferences, out->judged, net, seed, &out->net, err);
    free(preferences);
    return rc;
}

int wt__pairs_measure(const struct compared_pair *pairs, size_t count, uint64_t seed,
                      struct comparison_outcome *outcomes, wt_error *err)
{
    int rc = 0;
    for (size_t c = 0; rc == 0 && c <= CRITERIA; c++)
        rc = measure_outcome(pairs, count, c, seed, &outcomes[c], err);
    return rc;
}

void wt__pairs_compare_labels(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                              size_t criterion, struct agreement *out)
{
    *out = (struct agreement){0};
    for (size_t i = 0; i < labels->count; i++) {
        const size_t place = labels->rows[i].pair - 1;
        if (place >= count || !wt__pair_is_judged(&pairs[place]))
            continue;
        const enum preference preference = wt__pair_preference(&pairs[place], criterion);
        const bool first_is_a = !pairs[place].is_swapped;
        const enum label label = preference == PREFERS_NEITHER                 ? LABEL_TIE
                                 : (preference == PREFERS_FIRST) == first_is_a ? LABEL_A
                                                                               : LABEL_B;
        out->counts[labels->rows[i].label][label]++;
    }
}

/* ---------------------------------------------------------------- JSON */

static void write_share(const char *name, size_t count, const struct bootstrap *share, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\":{\"count\":%zu,\"share\":%.4f,\"low\":%.4f,\"high\":%.4f},", name, count,
                      share->difference, share->low, share->high);
}

static void write_outcome(const struct comparison_outcome *outcome, const char *name, bool whole, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\":{", name);
    write_share("wins", outcome->wins, &outcome->won, out);
    write_share("ties", outcome->ties, &outcome->tied, out);
    write_share("losses", outcome->losses, &outcome->lost, out);
    if (!whole)
        wt__buffer_printf(out, "\"changed_with_the_order\":%zu,", outcome->changed_with_order);
    wt__buffer_printf(out, "\"wins_less_losses\":{\"share\":%.4f,\"low\":%.4f,\"high\":%.4f,\"p\":%.4f}}",
                      outcome->net.difference, outcome->net.low, outcome->net.high, outcome->net.p);
}

/* Writes "agreement":{...}, or null without labels. */
static void write_agreement(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                            struct buffer *out)
{
    wt__buffer_text(out, ",\"agreement\":");
    if (!labels) {
        wt__buffer_text(out, "null");
        return;
    }
    wt__buffer_printf(out, "{\"labels\":%zu", labels->count);
    for (size_t c = 0; c <= CRITERIA; c++) {
        struct agreement agreement;
        wt__pairs_compare_labels(pairs, count, labels, c, &agreement);
        const size_t compared = wt__agreement_pairs(&agreement), same = wt__agreement_same(&agreement);
        const double kappa = wt__agreement_kappa(&agreement);
        wt__buffer_printf(out, ",\"%s\":{\"pairs\":%zu,\"same\":%zu,\"share\":%.4f,\"kappa\":", names[c], compared,
                          same, (double)same / (double)(compared ? compared : 1));
        if (isnan(kappa))
            wt__buffer_text(out, "null}");
        else
            wt__buffer_printf(out, "%.4f}", kappa);
    }
    wt__buffer_char(out, '}');
}

void wt__comparison_report(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                           const struct comparison_outcome *outcomes, struct buffer *out)
{
    wt__buffer_printf(out, "\"pairs\":%zu,\"judged\":%zu,\"resamples\":%d,\"criteria\":{", count,
                      outcomes[CRITERIA].judged, RESAMPLES);
    for (size_t c = 0; c <= CRITERIA; c++) {
        wt__buffer_text(out, c > 0 ? "," : "");
        write_outcome(&outcomes[c], names[c], c == CRITERIA, out);
    }
    wt__buffer_char(out, '}');
    write_agreement(pairs, count, labels, out);
}

/* ---------------------------------------------------------------- text */

void wt__comparison_text(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                         const struct comparison_outcome *outcomes, const char *model, struct buffer *out)
{
    wt__buffer_printf(out, "Verdicts of %s on the first data set:\n%-12s %6s %6s %7s   %s", model, "", "wins", "ties",
                      "losses", "wins minus losses per 100 (95 %)");
    for (size_t c = 0; c <= CRITERIA; c++) {
        const struct comparison_outcome *outcome = &outcomes[c];
        wt__buffer_printf(out, "\n%-12s %6zu %6zu %7zu   %+.0f (%+.0f to %+.0f)", names[c], outcome->wins,
                          outcome->ties, outcome->losses, 100 * outcome->net.difference, 100 * outcome->net.low,
                          100 * outcome->net.high);
        if (outcome->changed_with_order > 0)
            wt__buffer_printf(out, "; %zu verdicts changed with the order", outcome->changed_with_order);
    }
    if (!labels)
        return;
    struct agreement agreement;
    wt__pairs_compare_labels(pairs, count, labels, CRITERIA, &agreement);
    const size_t compared = wt__agreement_pairs(&agreement);
    const double kappa = wt__agreement_kappa(&agreement);
    wt__buffer_printf(out, "\nA person agrees overall with %zu of %zu", wt__agreement_same(&agreement), compared);
    if (isnan(kappa))
        wt__buffer_text(out, "; Cohen's kappa is undefined, since all labels are the same");
    else
        wt__buffer_printf(out, "; Cohen's kappa %.2f", kappa);
}
