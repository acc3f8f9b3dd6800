/* Fuzzes what a replica reads from a publication. A manifest that is accepted must be written and read back as the same
 * text, and its names must stay in their folders. The bytes are also read as a file of rows, whose rows are decoded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "replica/manifest.h"
#include "replica/row_file.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_safe(const struct published_file *file)
{
    require(file->name && wt__published_name_fits(wt__str(file->name)) && !strchr(file->name, '/'));
    require(file->bytes <= PUBLICATION_BYTES_MAX && strlen(file->sha256) == 64);
    require(!file->path || (file->path[0] != '/' && file->path[0] != '.' && !strstr(file->path, "/.")));
}

static void read_manifest(struct str text)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer first = {0}, second = {0};
    struct publication publication;
    wt_error err = {0};
    int rc = wt__publication_read(&publication, &arena, text, &err);
    require(rc == 0 || ((rc == WT_EFORMAT || rc == WT_ENEWER) && err.message[0]));
    if (rc < 0)
        return;
    require_safe(&publication.base);
    for (size_t i = 0; i < publication.change_count; i++)
        require_safe(&publication.changes[i]);
    for (size_t i = 0; i < publication.model_count; i++)
        require_safe(&publication.models[i]);
    wt__publication_write(&first, &publication);
    require(wt__publication_read(&publication, &arena, wt__buffer_view(&first), NULL) == 0);
    wt__publication_write(&second, &publication);
    require(wt__str_equal(wt__buffer_view(&first), wt__buffer_view(&second)));
}

static int check_record(void *context, enum row_change change, unsigned table, struct str content)
{
    wt_error *err = context;
    int rc = wt__store_check_row(table, content, change == ROW_PUT, err);
    require(rc == 0 || (rc == WT_EFORMAT && err->message[0]));
    if (rc == 0 && change == ROW_PUT) {
        struct str key = wt__store_row_key(table, content);
        require(key.len <= content.len && wt__store_check_row(table, key, false, NULL) == 0);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    wt_error err = {0};
    read_manifest(bytes);
    require(wt__row_file_prefix(bytes) <= size);
    int rc = wt__row_file_each(bytes, check_record, &err, &err);
    require(rc == 0 || rc == WT_EFORMAT);
    return 0;
}
