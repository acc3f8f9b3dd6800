/* face_names.h: the names of a search face's own tools, which no server's tool is shown by. */
#ifndef WT_GATEWAY_FACE_NAMES_H
#define WT_GATEWAY_FACE_NAMES_H

#include "gateway/effect.h"

enum { FACE_SEARCH_TOOLS, FACE_DETAILS, FACE_FIRST_CALL, FACE_READ_MORE = FACE_FIRST_CALL + EFFECTS, FACE_TOOLS };

/* In the order of the list; from FACE_FIRST_CALL on the tools that call, by effect. */
extern const char *const wt__face_names[FACE_TOOLS];

/* The tool by which one of that effect is called. */
static inline const char *wt__face_call_name(enum effect effect)
{
    return wt__face_names[FACE_FIRST_CALL + (int)effect];
}

#endif
