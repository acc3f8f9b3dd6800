/* prompts.h: the prefixes that a model expects before a text: "query: " before a request, "passage: " before a tool.
 *
 *   config_sentence_transformers.json   {"prompts": {"query": "...", "document" or "passage" or "corpus": "..."},
 *                                        "default_prompt_name": used for roles without a named prompt}
 *   whichtool.json                      {"prompts": {"query": "...", "document": "..."}}, used if the file above has
 *                                        no prompts; for models that only document them (encoder/hub.h writes it)
 *
 * Prompts change the vectors, so they are part of the encoder's hash. */
#ifndef WT_ENCODER_PROMPTS_H
#define WT_ENCODER_PROMPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "encoder/config.h"

#define MODEL_SENTENCE_CONFIG "config_sentence_transformers.json"

/* The use of a text. */
enum text_role {
    TEXT_REQUEST,
    TEXT_TOOL,
    TEXT_ROLES,
    TEXT_PLAIN = TEXT_ROLES /* without a prompt */
};

enum { MODEL_PROMPT = 512 /* maximum size in bytes including the NUL; longer prompts are rejected */ };

/* "" if a role has no prompt. The packed model stores this struct as it is, so it has a fixed size. */
struct model_prompts {
    char of[TEXT_ROLES][MODEL_PROMPT];
};

/* Reads the prompts of a folder. Errors: WT_EMODEL (malformed or too long), WT_ENOMEM. */
int wt__model_prompts(struct model_prompts *out, const char *folder, wt_error *err);

bool wt__prompts_exist(const struct model_prompts *prompts);

/* Prefixes the texts with the role's prompt; the results are allocated in the arena. Returns `texts` itself if the role
 * has no prompt, and NULL if out of memory. */
const struct str *wt__prompts_apply(const struct model_prompts *prompts, enum text_role role, const struct str *texts,
                                    size_t count, struct arena *arena);

#endif
