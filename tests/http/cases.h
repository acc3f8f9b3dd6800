/* cases.h: reads the test cases of tests/http/requests/. The form of a case:
 *
 *   # a comment
 *   == name of the case
 *   > a line of the expected output
 *   a line of input
 *
 * Input lines are concatenated. An empty line ends the case. The only escapes are \r \n \t \0 \xHH \\ and \{N:TEXT} (N
 * times TEXT). */
#ifndef WT_TESTS_HTTP_CASES_H
#define WT_TESTS_HTTP_CASES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

struct http_case {
    char name[160];
    struct buffer in, want;
};

/* Appends the text up to `end` with escapes replaced. */
static void append_unescaped(struct buffer *out, const char *text, const char *end)
{
    while (text < end) {
        if (*text != '\\' || text + 1 == end) {
            wt__buffer_char(out, *text++);
        } else if (text[1] == 'x') {
            char digits[3] = {text[2], text[3], '\0'};
            wt__buffer_char(out, (char)strtoul(digits, NULL, 16));
            text += 4;
        } else if (text[1] == '{') {
            char *what;
            unsigned long times = strtoul(text + 2, &what, 10);
            const char *close = memchr(what, '}', (size_t)(end - what));
            for (unsigned long i = 0; close && i < times; i++)
                append_unescaped(out, what + 1, close);
            text = close ? close + 1 : end;
        } else {
            const char *at = strchr("r\rn\nt\t", text[1]);
            wt__buffer_char(out, text[1] == '0' ? '\0' : at ? at[1] : text[1]);
            text += 2;
        }
    }
}

/* Calls `each` for every case of a file. Returns the number of cases. */
static size_t read_http_cases(const char *path, void (*each)(const struct http_case *, void *), void *context)
{
    static char line[1 << 16];
    struct http_case now = {.name = ""};
    size_t count = 0;
    FILE *file = fopen(path, "r");
    bool more = file != NULL;
    while (more) {
        more = fgets(line, sizeof line, file) != NULL;
        size_t len = more ? strcspn(line, "\n") : 0;
        if (len == 0 && now.name[0]) {
            each(&now, context);
            wt__buffer_dispose(&now.in);
            wt__buffer_dispose(&now.want);
            now.name[0] = '\0';
            count++;
        }
        if (len > 3 && strncmp(line, "== ", 3) == 0)
            snprintf(now.name, sizeof now.name, "%.*s", (int)len - 3, line + 3);
        else if (now.name[0] && line[0] == '>') {
            append_unescaped(&now.want, line + 2, line + len);
            wt__buffer_char(&now.want, '\n');
        } else if (now.name[0])
            append_unescaped(&now.in, line, line + len);
    }
    if (file)
        fclose(file);
    return count;
}

/* Works like read_http_cases for every .txt file of a folder. */
static size_t read_case_folder(const char *folder, void (*each)(const struct http_case *, void *), void *context)
{
    struct dirent **entries;
    size_t cases = 0;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096 + 256];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strstr(entries[i]->d_name, ".txt"))
            cases += read_http_cases(path, each, context);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return cases;
}

#endif
