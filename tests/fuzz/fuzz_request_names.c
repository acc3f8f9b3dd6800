/* Fuzzes names in requests. The input has one tool per line up to the first NUL, and then the request. The fields of a
 * tool are separated by tabs: provider, name, title, description, source id. Each found name lies in the request and
 * belongs to a tool. */
#include <stdint.h>
#include <stdlib.h>

#include "retrieve/request_names.h"
#include "retrieve/tool_names.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TOOLS_MAX = 64 };

/* Returns the text up to the next `sign`, and moves *at past it. */
static struct str next_part(struct str text, size_t *at, char sign)
{
    const char *begin = text.ptr + *at, *end = *at < text.len ? memchr(begin, sign, text.len - *at) : NULL;
    size_t len = end ? (size_t)(end - begin) : text.len - *at;
    *at += len + (end != NULL);
    return (struct str){begin, len};
}

static uint32_t add_tools(struct names_builder *builder, struct str text)
{
    uint32_t rows = 0;
    for (size_t at = 0; at < text.len && rows < TOOLS_MAX; rows++) {
        struct str line = next_part(text, &at, '\n');
        size_t field = 0;
        struct tool tool = {.provider = next_part(line, &field, '\t')};
        tool.name = next_part(line, &field, '\t');
        tool.title = next_part(line, &field, '\t');
        tool.description = next_part(line, &field, '\t');
        tool.source_id = next_part(line, &field, '\t');
        if (wt__tool_names_add(builder, &tool, rows, NULL) < 0)
            return 0;
    }
    return rows;
}

static void check_found_names(const struct request_name *items, size_t count, const struct name_index *names,
                              struct str request, uint32_t rows)
{
    require(count <= REQUEST_NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        require(items[i].text.len > 0 && items[i].text.ptr >= request.ptr);
        require(items[i].text.ptr + items[i].text.len <= request.ptr + request.len);
        require(items[i].run.count > 0 && items[i].run.first + items[i].run.count <= names->count);
        require(items[i].row == NAME_ANY_ROW || items[i].row < rows);
        require(wt__names_has(names, items[i].hash, wt__name_row(names->entries[items[i].run.first])));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = {(const char *)data, size};
    struct names_builder builder = {0};
    struct request_names found;
    struct arena arena = {0};
    size_t at = 0;
    if (size == 0)
        return 0;

    struct str tools = next_part(all, &at, '\0');
    struct str request = {all.ptr + at, size - at};
    uint32_t rows = add_tools(&builder, tools);
    struct name_index names = wt__names_builder_finish(&builder);
    require(wt__names_check(&names, rows, NULL) == 0);
    if (wt__request_names(&found, &names, request, &arena, NULL) == 0) {
        check_found_names(found.items, found.count, &names, request, rows);
        check_found_names(found.spoken, found.spoken_count, &names, request, rows);
        require(!found.only || (found.count > 0 && found.spoken_count == 0));
    }
    wt__arena_dispose(&arena);
    wt__names_builder_dispose(&builder);
    return 0;
}
