#include "learn/memory_budget.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 13 /* bytes; files of /proc and /sys report no size */ };

/* Reads the number after `key` in a file (at the beginning if the key is ""). False if there is no number, as in
 * "max". */
static bool read_number_after(const char *path, const char *key, uint64_t *number)
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
    if (read_number_after("/proc/meminfo", "MemAvailable:", &kilobytes))
        available = kilobytes << 10;
    if (read_number_after("/sys/fs/cgroup/memory.max", "", &most) &&
        read_number_after("/sys/fs/cgroup/memory.current", "", &used)) {
        uint64_t left = most > used ? most - used : 0;
        available = available == 0 || left < available ? left : available;
    }
    return available;
}
