/* effect.h: what calling a tool may do, by the annotations of its definition as it was approved. A client's user
 * approves by that, so who says nothing counts as the worst (MCP's own defaults). */
#ifndef WT_GATEWAY_EFFECT_H
#define WT_GATEWAY_EFFECT_H

#include "base/json.h"

enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_DESTROY };
enum { EFFECTS = 3 };

enum effect wt__effect_of(const json_t *definition);
/* "read", "write", "destructive"; -1 in reverse: no such word. */
const char *wt__effect_word(enum effect effect);
int wt__effect_read(struct str word);

#endif
