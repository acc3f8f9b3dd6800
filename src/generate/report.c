#include "generate/report.h"

#include <inttypes.h>

/* Results of the paper's own run (ToolVerifier, sections 2.1.1 and 2.1.2, and counts of its samples). */
static const char paper[] =
    "{\"from\":\"ToolVerifier, ToolSelect\",\"tools\":173,\"rows\":555,\"hard\":75,\"list_sizes\":{\"2\":18,\"3\":39,"
    "\"4\":16,\"8\":482},\"mean_choices\":7.34,\"mean_note_characters\":1054,\"curation\":\"7 duplicate tools and 56 "
    "noisy or duplicate rows were taken out by hand; here rules turn away pieces, as counted in stages, and nobody has "
    "looked\"}";

static void write_stage_counts(const struct stage_count *count, enum stage_id id, struct buffer *out)
{
    const char *comma = "";
    wt__buffer_printf(out,
                      "{\"stage\":\"%s\",\"wanted\":%zu,\"made\":%zu,\"missing\":%zu,\"questions\":%" PRIu64
                      ",\"unusable\":%" PRIu64 ",\"offered\":%" PRIu64 ",\"gave_up\":%s,\"refused\":{",
                      wt__stage_name(id), count->wanted, count->made,
                      count->wanted > count->made ? count->wanted - count->made : 0, count->questions, count->unusable,
                      count->offered, count->gave_up ? "true" : "false");
    for (enum piece_fate fate = PIECE_TAKEN + 1; fate < PIECE_FATES; fate++) {
        if (count->refused[fate] == 0)
            continue;
        wt__buffer_printf(out, "%s\"%s\":%" PRIu64, comma, wt__piece_fate_name(fate), count->refused[fate]);
        comma = ",";
    }
    wt__buffer_text(out, "}}");
}

void wt__stages_report(const struct stage_runner *asker, struct buffer *out)
{
    const struct stage_cost *cost = &asker->cost;
    const char *comma = "";
    wt__buffer_text(out, "\"stages\":[");
    for (enum stage_id id = 0; id < STAGES; id++) {
        if (asker->counts[id].wanted == 0)
            continue;
        wt__buffer_text(out, comma);
        write_stage_counts(&asker->counts[id], id, out);
        comma = ",";
    }
    wt__buffer_printf(out,
                      "],\"cost\":{\"questions\":%" PRIu64 ",\"repaired\":%" PRIu64 ",\"prompt_tokens\":%" PRIu64
                      ",\"completion_tokens\":%" PRIu64 "}",
                      cost->questions, cost->repaired, cost->prompt_tokens, cost->completion_tokens);
}

/* Writes "list_sizes":{"2":18,...},"mean_choices":...,"mean_note_characters":... */
static void write_list_sizes(const struct choice_samples *samples, struct buffer *out)
{
    size_t sizes[WT_MAX_CHOICES + 1] = {0}, choices = 0, characters = 0;
    const char *comma = "";
    for (size_t i = 0; i < samples->count; i++) {
        sizes[samples->items[i].choice_count]++;
        choices += samples->items[i].choice_count;
        characters += wt__piece_characters(samples->items[i].thought);
    }
    wt__buffer_text(out, "\"list_sizes\":{");
    for (size_t size = 0; size <= WT_MAX_CHOICES; size++) {
        if (sizes[size] == 0)
            continue;
        wt__buffer_printf(out, "%s\"%zu\":%zu", comma, size, sizes[size]);
        comma = ",";
    }
    const double rows = samples->count ? (double)samples->count : 1;
    wt__buffer_printf(out, "},\"mean_choices\":%.2f,\"mean_note_characters\":%.0f", (double)choices / rows,
                      (double)characters / rows);
}

void wt__toolselect_report(const struct toolselect_report *report, struct buffer *out)
{
    size_t hard = 0;
    for (size_t i = 0; i < report->samples->count; i++)
        hard += report->samples->items[i].is_hard;
    wt__buffer_printf(out, "{\"settings\":%s,\"complete\":%s,\"model\":", report->settings,
                      report->complete ? "true" : "false");
    wt__buffer_json(out, wt__str(report->model));
    wt__buffer_text(out, ",\"encoder\":");
    if (report->encoder)
        wt__buffer_json(out, wt__str(report->encoder));
    else
        wt__buffer_text(out, "null");
    wt__buffer_printf(
        out, ",\"tools\":%zu,\"rows\":%zu,\"hard\":%zu,\"nothing_like\":%zu,\"dropped\":%zu,\"left_out\":%zu,",
        report->tools, report->samples->count, hard, report->without_similar, report->without_note, report->left_out);
    write_list_sizes(report->samples, out);
    wt__buffer_char(out, ',');
    wt__stages_report(report->asker, out);
    wt__buffer_printf(out, ",\"paper\":%s}", paper);
}
