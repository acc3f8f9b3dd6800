#include "learn/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MOST = 1 << 16 /* bytes of a file of /proc or /sys */ };

/* The number behind `key` in a file (at its beginning for a key of ""); false where there is none, as for "max". */
static bool read_number(const char *path, const char *key, uint64_t *number)
{
    char *text = NULL;
    size_t len;
    if (wt__file_read(&text, &len, path, MOST, NULL) < 0)
        return false;
    const char *at = strstr(text, key);
    char *end = NULL;
    if (at) {
        at += strlen(key);
        *number = strtoull(at, &end, 10);
    }
    bool found = at && end != at;
    free(text);
    return found;
}

uint64_t wt__memory_available(void)
{
    uint64_t kilobytes, most, used, available = 0;
    if (read_number("/proc/meminfo", "MemAvailable:", &kilobytes))
        available = kilobytes << 10;
    if (read_number("/sys/fs/cgroup/memory.max", "", &most) &&
        read_number("/sys/fs/cgroup/memory.current", "", &used)) {
        uint64_t left = most > used ? most - used : 0;
        available = available == 0 || left < available ? left : available;
    }
    return available;
}
