#include "learn/memory_budget.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 13 /* bytes of a file of /proc or /sys, which have no size of their own */ };

/* The number behind `key` in a file (at its beginning for a key of ""); false where there is none, as for "max". */
static bool read_number(const char *path, const char *key, uint64_t *number)
{
    char text[MOST + 1], *end = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, MOST, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, key);
    if (!at)
        return false;
    at += strlen(key);
    *number = strtoull(at, &end, 10);
    return end != at;
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
