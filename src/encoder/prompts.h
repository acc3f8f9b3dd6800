/* prompts.h: what a model was trained to find in front of a text, by what the text is: "query: " before a request,
 * "passage: " before a tool.
 *
 *   config_sentence_transformers.json   {"prompts": {"query": "...", "document" or "passage" or "corpus": "..."},
 *                                        "default_prompt_name": the one for what has none by name}
 *   whichtool.json                      {"prompts": {"query": "...", "document": "..."}}, where the former has none: of
 *                                        models whose authors say it in words alone (encoder/hub.h writes it)
 *
 * Texts without their prompts have other vectors, so prompts are part of what vectors are known by. */
#ifndef WT_ENCODER_PROMPTS_H
#define WT_ENCODER_PROMPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "encoder/config.h"

#define MODEL_SENTENCE_CONFIG "config_sentence_transformers.json"

/* What a text is to the one who has it encoded. */
enum text_role { TEXT_REQUEST, TEXT_TOOL, TEXT_ROLES, TEXT_PLAIN = TEXT_ROLES /* read as it stands */ };

enum { MODEL_PROMPT = 512 /* bytes with the NUL; a longer one is refused */ };

/* "" where a role has none. Fixed size, since it is stored as it is in the packed model. */
struct model_prompts {
    char of[TEXT_ROLES][MODEL_PROMPT];
};

/* What the folder says. Errors: WT_EMODEL (malformed, too long, or to be left out of the pooling), WT_ENOMEM. */
int wt__model_prompts(struct model_prompts *out, const char *folder, wt_error *err);

bool wt__prompts_any(const struct model_prompts *prompts);

/* The texts, each behind the role's prompt, in the arena; the very texts where there is none. NULL: no memory. */
const struct str *wt__prompt_texts(const struct model_prompts *prompts, enum text_role role, const struct str *texts,
                                   size_t count, struct arena *arena);

#endif
