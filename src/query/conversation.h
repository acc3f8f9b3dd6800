/* conversation.h: a conversation as the request. The user's last turn leads; what was said before it and which tools
 * were called is context (retrieve/context.c). The tools that were called, and those that the caller says it has, stay
 * in the result, whatever else is found: an agent's set of tools grows and loses none. What the filter leaves out stays
 * out: a conversation is text from anywhere, and no way around that. */
#ifndef WT_QUERY_CONVERSATION_H
#define WT_QUERY_CONVERSATION_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "retrieve/retrieve.h"
#include "engine/notice.h"

/* As in wt_find_options; borrowed. */
struct conversation_options {
    struct str request;
    const char *messages;
    size_t messages_len;
    const char *const *have;
    size_t have_count;
    const json_t *parsed; /* messages already parsed, used instead of `messages`; NULL if none */
};

struct conversation_input {
    struct str request; /* what leads: the request beside the messages, else the user's last turn */
    struct str context; /* what was said before it, with it at the end; empty: nothing was */
    const char **names; /* [name_count] of tools to keep; first those that were called [called] */
    size_t name_count, called;
    struct notice notice; /* messages and calls that were left out */
    bool has_messages;
};

/* In the arena. Errors: those of wt__messages_read; WT_EFORMAT (the user said nothing), WT_EINVAL (too many names). */
int wt__conversation_read(struct conversation_input *out, const struct conversation_options *options,
                          struct arena *arena, wt_error *err);

/* The names as tools of a store. */
struct kept_tools_of {
    int64_t *ids; /* [count] each once, in the order of the names */
    size_t count, called;
};

struct search;

/* Once a search: what the names stand for; those that stand for nothing are told in its notice. */
int wt__conversation_resolve(struct search *search, wt_error *err);

/* On the search's index, of the tools that may be found: which are kept, and what the conversation says of all.
 * *out is NULL where it says nothing. Errors: those of wt__retrieve. */
int wt__conversation_context(struct search *search, const struct view *view, const struct retrieve_request *request,
                             const struct context **out, wt_error *err);

/* Marks the hits that are kept. */
void wt__conversation_mark(struct search *search);

/* Ends the hits behind the first `wanted` that are new, so that those that are kept take nobody's place. */
void wt__conversation_cut(struct search *search, size_t wanted);

/* Puts those that are kept and were not found behind the hits. */
int wt__conversation_append(struct search *search, wt_error *err);

#endif
