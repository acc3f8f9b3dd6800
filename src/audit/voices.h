/* voices.h: what people say around what they want: "I'm planning a party. Can you help me with this: ...". A provider
 * that wants to be found for everything uses such words, since every request has them and no other tool does; honest
 * tools answer to what stands between. */
#ifndef WT_AUDIT_VOICES_H
#define WT_AUDIT_VOICES_H

#include <stddef.h>

struct voice {
    const char *before, *after;
};

enum { VOICES = 40 };
extern const struct voice wt__voices[VOICES];

#endif
