/* question.h: questions to the person who made the request, without a language model: which of two close tools is
 * meant, whether the tool should be called at all, or the value of an argument. Definitions are hostile text: what is
 * quoted of them is made plain (llm/plain_text.h) and cut. */
#ifndef WT_CALL_QUESTION_H
#define WT_CALL_QUESTION_H

#include "base/buffer.h"
#include "call/arguments.h"
#include "call/intent.h"

enum {
    QUESTION_TOOL_BYTES = 160, /* of a tool's description, or of what only it says */
    QUESTION_NAME_BYTES = 128,
    QUESTION_VALUE_BYTES = 64,
    QUESTION_DESCRIPTION_BYTES = 120, /* of a parameter */
    QUESTION_VALUES = 8,              /* of an enumeration */
    QUESTION_DIFFERENCES = 8,         /* words that only one of two tools has */
    QUESTION_COMPARED_BYTES = 2048,   /* of each description, in which those words are looked for */
    QUESTION_ARGUMENTS = 5,           /* that are asked for at once */
    QUESTION_SUGGESTIONS = 3,         /* arguments that an unread word may be a value of */
};

/* A tool that may be meant. */
struct question_tool {
    struct str id, name, description;
};

/* Appends a contrastive question (ToolVerifier 2.2): by the words that only one of the two descriptions has, or by the
 * beginnings of both if there are no such words or too many. Tools of one description are told apart by their ids. */
void wt__question_of_tools(struct buffer *out, const struct question_tool *a, const struct question_tool *b);

/* Appends a question for whether the tool is meant, which few words of the request speak for. */
void wt__question_of_weak(struct buffer *out, const struct question_tool *tool);

/* Appends why the tool is not called for the request, and a question for whether it should be. doubt is neither
 * DOUBT_NONE nor DOUBT_UNREAD. */
void wt__question_of_intent(struct buffer *out, enum doubt doubt, const struct question_tool *tool);

/* Appends a question for missing and unsure arguments, or else for an unused part of the request; nothing if there is
 * nothing to ask. */
void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments);

/* Appends a question for a value in place of one that does not fit the schema. */
void wt__question_of_violation(struct buffer *out, const char *violation);

/* Appends that the call ignores a word of the request, and what to do unless something else is asked already. An empty
 * word stands for the rest of a request that is too long to be read in full. */
void wt__question_of_unread(struct buffer *out, struct str word, const struct parameters *parameters,
                            const struct call_arguments *arguments);

#endif
