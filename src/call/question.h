/* question.h: asks the user a question, without a language model: about two close tools, about calling a tool at all,
 * or about the value of an argument. Definitions are hostile text: quoted parts are made plain (llm/plain_text.h) and
 * cut. */
#ifndef WT_CALL_QUESTION_H
#define WT_CALL_QUESTION_H

#include "base/buffer.h"
#include "call/arguments.h"
#include "call/intent.h"

enum {
    QUESTION_TOOL_BYTES = 160, /* description of a tool, or its distinguishing words */
    QUESTION_NAME_BYTES = 128,
    QUESTION_VALUE_BYTES = 64,
    QUESTION_DESCRIPTION_BYTES = 120, /* description of a parameter */
    QUESTION_VALUES = 8,              /* values shown of an enumeration */
    QUESTION_DIFFERENCES = 8,         /* distinguishing words of one of two tools */
    QUESTION_COMPARED_BYTES = 2048,   /* bytes compared of each description */
    QUESTION_ARGUMENTS = 5,           /* arguments per question */
    QUESTION_SUGGESTIONS = 3,         /* suggested arguments for an unread word */
};

/* A candidate in a question. */
struct question_tool {
    struct str id, name, description;
};

/* Appends a contrastive question (ToolVerifier 2.2) with the words found in only one of the two descriptions. Without
 * such words, or with too many, quotes the beginnings of both. Tools with the same description are identified by id. */
void wt__question_of_tools(struct buffer *out, const struct question_tool *a, const struct question_tool *b);

/* Appends a question about calling a weak candidate. */
void wt__question_of_weak(struct buffer *out, const struct question_tool *tool);

/* Appends the reason not to call the tool, and a question about calling it. doubt must not be DOUBT_NONE or
 * DOUBT_UNREAD. */
void wt__question_of_intent(struct buffer *out, enum doubt doubt, const struct question_tool *tool);

/* Appends a question about missing and unsure arguments, or else about an unused part of the request. Leaves out
 * unchanged if all is clear. */
void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments);

/* Appends a question about a value of the wrong form. */
void wt__question_of_violation(struct buffer *out, const char *violation);

/* Appends a note about a word ignored by the call, and instructions unless another question is asked already. An empty
 * word means that the request is too long. */
void wt__question_of_unread(struct buffer *out, struct str word, const struct parameters *parameters,
                            const struct call_arguments *arguments);

#endif
