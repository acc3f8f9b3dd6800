/* tool_effect.h: whether a tool acts or only reads, and the verbs that say what it does. A tool that acts must not be
 * called for a question (intent.h). */
#ifndef WT_CALL_TOOL_EFFECT_H
#define WT_CALL_TOOL_EFFECT_H

#include <stdbool.h>

#include "base/str.h"
#include "catalog/tool.h"

enum {
    EFFECT_VERBS = 4,       /* verbs of a tool that are kept */
    EFFECT_VERB_BYTES = 24, /* longest verb */
};

struct tool_effect {
    bool acts;                                       /* it changes something outside the call */
    char verbs[EFFECT_VERBS][EFFECT_VERB_BYTES + 1]; /* base forms in lower case, from the name and the description */
    size_t verb_count;
};

/* Reads the effect of a tool from its HTTP method, its MCP annotations, and the verbs of its name and description. Uses
 * name, description, source_id, format and definition. A tool whose effect nothing states does not act. */
void wt__tool_effect(struct tool_effect *out, const struct tool *tool);

/* True if the word is a verb in its base form, in any case: one of wt__verb or one that only matters for calls. */
bool wt__is_base_verb(struct str word);

/* True if the word is a form of the verb: "locks", "locked" and "locking" of "lock". In any case. */
bool wt__is_form_of(struct str word, const char *verb);

/* The verb of the tool that the word is a form of, or a noun derived from it ("connection"); NULL if there is none. */
const char *wt__effect_verb(const struct tool_effect *effect, struct str word);

#endif
