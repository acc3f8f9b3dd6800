/* built_in.c: includes the file WT_BUILT_IN_IMAGE, a packed model, as read-only data (encoder/packed.h). */
#include "encoder/packed.h"

#ifdef __APPLE__
#define SECTION ".const_data"
#define SYMBOL(name) "_" #name
#define SECTION_END ".text"
#define HIDDEN ".private_extern "
#else
#define SECTION ".pushsection .rodata.built_in, \"a\""
#define SYMBOL(name) #name
#define SECTION_END ".popsection"
#define HIDDEN ".hidden "
#endif

/* clang-format off */
__asm__(SECTION "\n"
        ".balign 16384\n"
        HIDDEN SYMBOL(wt__built_in_model) "\n"
        ".globl " SYMBOL(wt__built_in_model) "\n"
        SYMBOL(wt__built_in_model) ":\n"
        ".incbin \"" WT_BUILT_IN_IMAGE "\"\n"
        SYMBOL(built_in_end) ":\n"
        ".balign 8\n"
        HIDDEN SYMBOL(wt__built_in_model_len) "\n"
        ".globl " SYMBOL(wt__built_in_model_len) "\n"
        SYMBOL(wt__built_in_model_len) ":\n"
        ".quad " SYMBOL(built_in_end) " - " SYMBOL(wt__built_in_model) "\n"
        SECTION_END "\n");
/* clang-format on */
