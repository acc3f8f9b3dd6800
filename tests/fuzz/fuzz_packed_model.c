/* A packed model as a hostile file: its checksums are made right first, since a fuzzer would never guess them and who
 * writes such a file would not have to. Whatever opens can be run. */
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "encoder/packed.h"
#include "text/wordpiece.h"

enum { MOST_WORK = 1 << 22 /* products a token: more is sound, but slow */ };

static void repair(struct packed_header *header, size_t len)
{
    for (int part = 0; part < PACKED_PARTS; part++) {
        struct packed_section *s = &header->sections[part];

        if (s->offset <= len && s->size <= len - s->offset)
            s->checksum = wt__checksum((unsigned char *)header + s->offset, s->size, (uint64_t)part);
    }
    header->checksum = wt__checksum(header, offsetof(struct packed_header, checksum), PACKED_VERSION);
}

static void run(const struct packed *packed)
{
    const struct model_config *c = &packed->header->config;
    struct str text = STR("find the table [MASK] for \xe4\xb8\xad two books");
    struct bert_scratch scratch;
    struct arena arena = {0};
    int32_t ids[64];
    size_t most = c->max_tokens < 64 ? c->max_tokens : 64;
    size_t starts[2] = {0, wt__wordpiece_encode(&packed->vocabulary, text, most, ids)};
    struct bert_batch batch = {.count = 1, .starts = starts, .ids = ids};

    if ((uint64_t)c->layers * c->hidden * ((uint64_t)c->hidden + c->intermediate) < MOST_WORK &&
        wt__bert_scratch_init(&scratch, &packed->bert, most, &arena, NULL) == 0)
        wt__bert_forward(&packed->bert, &batch, &scratch);
    wt__arena_dispose(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct packed packed;
    wt_error err = {0};

    unsigned char *bytes = aligned_alloc(64, (size + 64) / 64 * 64);
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    if (size >= sizeof(struct packed_header))
        repair((struct packed_header *)(void *)bytes, size);
    int rc = wt__packed_open(&packed, bytes, size, "fuzz", &err);
    if (rc < 0 && (rc != WT_EMODEL || err.code != rc || !err.message[0]))
        abort();
    if (rc == 0) {
        if (wt__packed_verify(&packed, "fuzz", &err) < 0)
            abort();
        run(&packed);
    }
    free(bytes);
    return 0;
}
