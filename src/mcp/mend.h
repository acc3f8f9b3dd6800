/* mend.h: repairs the items of a server's list before other code reads them. Strict clients would refuse a whole list
 * for one malformed item. A malformed item is rewritten if its meaning is obvious, and left out otherwise. A note
 * reports either, but not the removal of a member that is null. Well-formed items stay byte for byte. docs/gateway.md
 * lists the repairs. */
#ifndef WT_MCP_MEND_H
#define WT_MCP_MEND_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum {
    MCP_MEND_NOTES = 20,       /* maximum notes per list */
    MCP_MEND_NOTE_BYTES = 300, /* maximum length of a note's text, without kind and name of the item */
};

/* Repairs of one list. A zeroed struct is empty. */
struct mcp_mends {
    size_t mended, left_out; /* numbers of items */
    size_t faulty_schemas;   /* number of schemas that do not compile (gateway/upstream_offer.c) */
    size_t noted;            /* number of notes */
    struct buffer notes;     /* `tool "x": ...`, each ends in a newline */
};

/* Repairs the items of list, the inside of a JSON array, appends them to out, and sets *kept to their number. member:
 * "tools", "resources", "resourceTemplates" or "prompts". Errors: WT_ENOMEM. */
int wt__mcp_mend_items(struct str list, const char *member, struct buffer *out, size_t *kept, struct mcp_mends *mends,
                       wt_error *err);
/* Adds a note about an item. Truncates the text to MCP_MEND_NOTE_BYTES. */
void wt__mcp_mends_note(struct mcp_mends *mends, const char *kind, struct str name, const char *text);
void wt__mcp_mends_dispose(struct mcp_mends *mends);

#endif
