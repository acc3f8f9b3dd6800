/* pack_model.c: MODEL-FOLDER OUT: writes the packed model of a folder. Run while the library is built, which the packed
 * model then is a part of; so it stands on the library's sources without that part. The same files give the same bytes.
 */
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
        header->source_key = 0; /* of the files' times */
        wt__packed_seal(header, image);
        rc = wt__file_replace(argv[2], image, len, &err);
    }
    free(image);
    if (rc < 0)
        fprintf(stderr, "pack_model: %s\n", err.message);
    return rc < 0;
}
