/* face_names.h: names of the search face's own tools. No tool of a server is shown under these names. */
#ifndef WT_GATEWAY_FACE_NAMES_H
#define WT_GATEWAY_FACE_NAMES_H

#include "gateway/effect.h"

enum { FACE_SEARCH_TOOLS, FACE_DETAILS, FACE_FIRST_CALL, FACE_READ_MORE = FACE_FIRST_CALL + EFFECTS, FACE_TOOLS };

/* Indexed by the enum above; the call tools start at FACE_FIRST_CALL, ordered by effect. */
extern const char *const wt__face_tool_names[FACE_TOOLS];

/* Returns the name of the call tool for an effect. */
static inline const char *wt__face_call_tool_name(enum effect effect)
{
    return wt__face_tool_names[FACE_FIRST_CALL + (int)effect];
}

#endif
