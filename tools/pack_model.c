/* pack_model.c: MODEL-FOLDER OUT: writes the packed model of a folder. It runs while the library is built, because the
 * packed model becomes a part of the library, and is linked with the library's sources without that part. The output
 * depends on the files' content only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "encoder/internal.h"
#include "encoder/packed.h"

const unsigned char wt__built_in_model[] = {0};
const size_t wt__built_in_model_len = 0;

int main(int argc, char **argv)
{
    unsigned char *image = NULL;
    wt_error err = {0};
    size_t len;

    if (argc != 3) {
        fprintf(stderr, "usage: pack_model MODEL-FOLDER OUT\n");
        return 2;
    }
    int rc = wt__model_pack(&image, &len, argv[1], NULL, &err);
    if (rc == 0) {
        struct packed_header *header = (struct packed_header *)(void *)image;
        header->source_key = 0; /* depends on the files' times */
        wt__packed_seal(header, image);
        rc = wt__file_replace(argv[2], image, len, &err);
    }
    free(image);
    if (rc < 0)
        fprintf(stderr, "pack_model: %s\n", err.message);
    return rc < 0;
}
