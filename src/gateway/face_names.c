#include "gateway/face_names.h"

const char *const wt__face_tool_names[FACE_TOOLS] = {
    [FACE_SEARCH_TOOLS] = "search_tools",
    [FACE_DETAILS] = "get_tool_details",
    [FACE_FIRST_CALL + EFFECT_READ] = "call_read",
    [FACE_FIRST_CALL + EFFECT_WRITE] = "call_write",
    [FACE_FIRST_CALL + EFFECT_DESTROY] = "call_destructive",
    [FACE_READ_MORE] = "read_more",
};
