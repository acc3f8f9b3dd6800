/* conversation.h: a conversation as the request. The user's last turn is the request; earlier turns and the called
 * tools are context (retrieve/context.c). Called tools and the caller's own tools stay in the result, so an agent's set
 * of tools only grows. The filter still applies to them: a conversation is untrusted text and must not bypass it. */
#ifndef WT_QUERY_CONVERSATION_H
#define WT_QUERY_CONVERSATION_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "retrieve/retrieve.h"
#include "engine/notice.h"

/* Fields as in wt_find_options; borrowed. */
struct conversation_options {
    struct str request;
    const char *messages;
    size_t messages_len;
    const char *const *have;
    size_t have_count;
};

struct conversation_input {
    struct str request; /* the given request, or else the user's last turn */
    struct str context; /* earlier turns followed by the request; empty without earlier turns */
    const char **names; /* [name_count] tools to keep; the first [called] were called */
    size_t name_count, called;
    struct notice notice; /* skipped messages and calls */
};

/* Reads a conversation into the arena. Errors: those of wt__messages_read, WT_EFORMAT (no turn of the user), WT_EINVAL
 * (too many names). */
int wt__conversation_read(struct conversation_input *out, const struct conversation_options *options,
                          struct arena *arena, wt_error *err);

/* The tools to keep, as ids of a store. */
struct kept_ids {
    int64_t *ids; /* [count] distinct, in the order of the names */
    size_t count, called;
};

struct search;

/* Resolves the names to tools, once per search. Unresolved names are reported in its notice. */
int wt__conversation_resolve(struct search *search, wt_error *err);

/* Finds the rows of the kept tools among those allowed, and the context of the request. *out is NULL if the
 * conversation gives no context. Errors: those of wt__retrieve. */
int wt__conversation_context(struct search *search, const struct view *view, const struct retrieve_request *request,
                             const struct context **out, wt_error *err);

/* Marks the hits among the kept tools. */
void wt__conversation_mark(struct search *search);

/* Cuts the hits after the first `wanted` new ones, so that kept tools do not use up places. */
void wt__conversation_cut(struct search *search, size_t wanted);

/* Appends the kept tools missing from the hits. */
int wt__conversation_append(struct search *search, wt_error *err);

#endif
