/* voices.h: phrases that people put around a request: "I'm planning a party. Can you help me with this: ...". Floods
 * use such words, because every request has them and honest tools do not. */
#ifndef WT_AUDIT_VOICES_H
#define WT_AUDIT_VOICES_H

#include <stddef.h>

struct voice {
    const char *before, *after;
};

enum { VOICES = 40 };
extern const struct voice wt__voices[VOICES];

#endif
