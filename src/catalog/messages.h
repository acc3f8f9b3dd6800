/* messages.h: reads a conversation of a user with an agent in the formats of language model APIs. The result has the
 * turns, and the names of the tools that the agent called.
 *
 *   OpenAI      {"role", "content": text or parts, "tool_calls": [{"function": {"name"}}]}, and the items of the
 *               Responses API ({"type": "function_call", "name"})
 *   Anthropic   {"role", "content": text or blocks, with "text" and "tool_use"}
 *   plain       {"role", "content"}, or strings only: user and agent alternate, and the last string is the user's
 *
 * Messages are in an array, in the member "messages" of an object, or one per line (JSON Lines). Results of tools,
 * system prompts, pictures and arguments are skipped. Each message is parsed alone, so that an invalid one does not
 * affect the others. All texts are data, never instructions. */
#ifndef WT_CATALOG_MESSAGES_H
#define WT_CATALOG_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

enum { CALLED_NAME_BYTES = 2 * WT_MAX_NAME_BYTES + 1 }; /* maximum bytes of a called tool's "provider/name" */

struct turn {
    bool user; /* true for the user, false for the agent */
    struct str text;
};

struct conversation {
    struct turn *turns; /* [len] in order, without blank ones */
    size_t len;
    struct str *calls; /* [call_count] distinct names of called tools, in order of the first call */
    size_t call_count;
    size_t calls_over;  /* number of names skipped because of WT_MAX_KEPT */
    size_t left_out;    /* number of invalid messages, and of invalid names of called tools */
    const char *reason; /* place and problem of the first of them; NULL if left_out is 0 */
};

/* Reads a conversation, with texts in the arena. Errors: WT_EFORMAT (empty, not JSON, truncated, or an object with
 * neither "messages" nor "role"), WT_ETOOLONG (bytes, messages), WT_ENOMEM. */
int wt__messages_read(struct conversation *out, struct str bytes, struct arena *arena, wt_error *err);

/* Works like wt__messages_read for parsed JSON: an array or an object. Errors have no line and byte. */
int wt__messages_read_tree(struct conversation *out, const json_t *tree, struct arena *arena, wt_error *err);

/* Returns the index of the user's last turn, or len if there are only turns of the agent. */
size_t wt__messages_last_user(const struct conversation *conversation);

#endif
