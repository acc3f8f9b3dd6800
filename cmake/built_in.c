/* built_in.c: includes two files as read-only data: WT_BUILT_IN_IMAGE, a packed model (encoder/packed.h), and
 * WT_BUILT_IN_SCORER, the networks of the learned scorer (retrieve/scorer.h). */

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

/* Includes a file as `unsigned char NAME[]`, page-aligned, and its size as `size_t NAME_len`. */
/* clang-format off */
#define INCLUDE(name, file)                                                                                            \
    __asm__(SECTION "\n"                                                                                               \
            ".balign 16384\n"                                                                                          \
            HIDDEN SYMBOL(name) "\n"                                                                                   \
            ".globl " SYMBOL(name) "\n"                                                                                \
            SYMBOL(name) ":\n"                                                                                         \
            ".incbin \"" file "\"\n"                                                                                  \
            SYMBOL(name##_end) ":\n"                                                                                   \
            ".balign 8\n"                                                                                              \
            HIDDEN SYMBOL(name##_len) "\n"                                                                             \
            ".globl " SYMBOL(name##_len) "\n"                                                                          \
            SYMBOL(name##_len) ":\n"                                                                                   \
            ".quad " SYMBOL(name##_end) " - " SYMBOL(name) "\n"                                                        \
            SECTION_END "\n")
/* clang-format on */

INCLUDE(wt__built_in_model, WT_BUILT_IN_IMAGE);
INCLUDE(wt__built_in_scorer, WT_BUILT_IN_SCORER);
