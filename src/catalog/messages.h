/* messages.h: a conversation of a user with an agent, as programs keep it for the API of a language model: who said
 * what, and which tools were called.
 *
 *   OpenAI      {"role", "content": text or parts, "tool_calls": [{"function": {"name"}}]}, and the items of its
 *               Responses ({"type": "function_call", "name"})
 *   Anthropic   {"role", "content": text or blocks, of which "text" is said and "tool_use" calls}
 *   plain       {"role", "content"}, or texts alone, of which the last is the user's and those before it are by turns
 *
 * Messages stand in an array, in the member "messages" of an object, or one a line (JSON Lines). What tools answered,
 * what a system prompt says, pictures and arguments are left out. Each message is read by itself, so that one which
 * makes no sense costs itself alone. Whatever is said is text and never an instruction. */
#ifndef WT_CATALOG_MESSAGES_H
#define WT_CATALOG_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

enum { CALLED_NAME_BYTES = 2 * WT_MAX_NAME_BYTES + 1 /* of a called tool's name: provider, slash, tool */ };

struct turn {
    bool user; /* else the agent */
    struct str text;
};

struct conversation {
    struct turn *turns; /* [len] in order, none of them blank */
    size_t len;
    struct str *calls; /* [call_count] names of tools that the agent called, each once, in order of its first call */
    size_t call_count;
    size_t calls_over;  /* names beyond WT_MAX_KEPT, left out */
    size_t left_out;    /* messages that make no sense */
    const char *reason; /* of the first of those: which, where and why; NULL: there is none */
};

/* Texts are the arena's. Errors: WT_EFORMAT with line, byte and pointer (no JSON, cut short, nothing that holds
 * messages), WT_ETOOLONG (bytes, messages), WT_ENOMEM. */
int wt__messages_read(struct conversation *out, struct str bytes, struct arena *arena, wt_error *err);

/* Works like wt__messages_read for messages already parsed, an array or object. Errors have no line and byte. */
int wt__messages_read_tree(struct conversation *out, const json_t *tree, struct arena *arena, wt_error *err);

/* The last turn of the user, or len where there is none. */
size_t wt__messages_last_user(const struct conversation *conversation);

#endif
