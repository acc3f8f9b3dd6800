/* face_kinds.h: kinds of faces (face.h): their words and descriptions. Options, policies and messages are generated
 * from these rows; face.c has their functions. */
#ifndef WT_GATEWAY_FACE_KINDS_H
#define WT_GATEWAY_FACE_KINDS_H

#define FACE_KINDS(ROW, BETWEEN)                                                                                       \
    ROW(SEARCH, "search", "tools that search and call")                                                                \
    BETWEEN ROW(DIRECT, "direct", "all tools") BETWEEN ROW(AUTO, "auto", "direct up to 20 tools, else search")

#define FACE_KIND_ID(id, word, shows) FACE_##id,
enum face_kind { FACE_KINDS(FACE_KIND_ID, ) FACE_KIND_COUNT };

#define FACE_KIND_WORD(id, word, shows) word
#define FACE_KIND_DESCRIPTION(id, word, shows) "`" word "`, " shows

#endif
