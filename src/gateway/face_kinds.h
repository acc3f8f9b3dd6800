/* face_kinds.h: the kinds of faces (face.h): how each is called, and what a client sees of it. Options, policies and
 * their messages are made of the rows; face.c has what each kind does. */
#ifndef WT_GATEWAY_FACE_KINDS_H
#define WT_GATEWAY_FACE_KINDS_H

#define FACE_KINDS(ROW, BETWEEN)                                                                                       \
    ROW(SEARCH, "search", "tools that search and call")                                                                \
    BETWEEN ROW(DIRECT, "direct", "all tools") BETWEEN ROW(AUTO, "auto", "direct up to 20 tools, else search")

#define FACE_KIND_ID(id, word, shows) FACE_##id,
enum face_kind { FACE_KINDS(FACE_KIND_ID, ) FACE_KIND_COUNT };

#define FACE_KIND_WORD(id, word, shows) word
#define FACE_KIND_TOLD(id, word, shows) "`" word "`, " shows

#endif
