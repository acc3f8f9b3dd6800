/* question.h: what to ask whoever made the request, in words made of the tools' definitions alone, without a language
 * model: which of two close tools is meant, or the value of an argument. Definitions are hostile text: what is quoted
 * of them is made plain (llm/plain_text.h) and cut. */
#ifndef WT_CALL_QUESTION_H
#define WT_CALL_QUESTION_H

#include "base/buffer.h"
#include "call/arguments.h"

enum {
    QUESTION_TOOL_BYTES = 160, /* of a tool's description, or of what only it says */
    QUESTION_NAME_BYTES = 128,
    QUESTION_VALUE_BYTES = 64,
    QUESTION_DESCRIPTION_BYTES = 120, /* of a parameter */
    QUESTION_VALUES = 8,              /* of an enumeration */
    QUESTION_DIFFERENCES = 8,         /* words that only one of two tools has */
    QUESTION_COMPARED_BYTES = 2048,   /* of each description, in which those words are looked for */
    QUESTION_ARGUMENTS = 5,           /* that are asked for at once */
};

/* A tool that may be meant. */
struct question_tool {
    struct str id, name, description;
};

/* Appends a contrastive question (ToolVerifier 2.2): by the words that only one of the two has, or, where that tells
 * little, by what both say. Two tools that say the same are told apart by their ids. */
void wt__question_of_tools(struct buffer *out, const struct question_tool *a, const struct question_tool *b);

/* Appends a question for whether the one tool is meant that hardly anything speaks for. */
void wt__question_of_weak(struct buffer *out, const struct question_tool *tool);

/* Appends a question for what is missing and for what is unsure, or for what an unused part of the request is to be;
 * nothing where there is nothing to ask. */
void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments);

#endif
