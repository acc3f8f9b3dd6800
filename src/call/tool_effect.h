/* tool_effect.h: decides if a tool has side effects or only reads, and collects its verbs. A tool with side effects
 * must not be called for a question (intent.h). */
#ifndef WT_CALL_TOOL_EFFECT_H
#define WT_CALL_TOOL_EFFECT_H

#include <stdbool.h>

#include "base/str.h"
#include "catalog/tool.h"

enum {
    EFFECT_VERBS = 4,       /* maximum verbs kept of a tool */
    EFFECT_VERB_BYTES = 24, /* longest verb */
};

struct tool_effect {
    bool acts;                                       /* changes something outside the call */
    char verbs[EFFECT_VERBS][EFFECT_VERB_BYTES + 1]; /* base forms in lower case, from the name and the description */
    size_t verb_count;
};

/* Reads the effect of a tool from its HTTP method, its MCP annotations, and the verbs of its name and description. Uses
 * name, description, source_id, format and definition. A tool with an unknown effect does not act. */
void wt__tool_effect_read(struct tool_effect *out, const struct tool *tool);

/* True if the word is a verb in its base form, ignoring case: one of wt__verb or one of acting_verbs. */
bool wt__is_base_verb(struct str word);

/* True if the word is a form of the verb: "locks", "locked" and "locking" of "lock". In any case. */
bool wt__is_form_of(struct str word, const char *verb);

/* Returns the verb of the tool if the word is a form of it, or a noun derived from it ("connection"); else NULL. */
const char *wt__effect_verb(const struct tool_effect *effect, struct str word);

#endif
