/* effect.h: effect of calling a tool, from the annotations of its approved definition. A tool without annotations
 * counts as destructive (MCP's defaults), since users approve calls by their effect. */
#ifndef WT_GATEWAY_EFFECT_H
#define WT_GATEWAY_EFFECT_H

#include "base/json.h"

enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_DESTROY };
enum { EFFECTS = 3 };

enum effect wt__effect_of(const json_t *definition);
/* Returns "read", "write" or "destructive". wt__effect_parse returns -1 for other words. */
const char *wt__effect_word(enum effect effect);
int wt__effect_parse(struct str word);

#endif
