/* start.c: starts the command of a Python wheel.
 *
 * pip puts this program into a folder bin, and the library, which has the command, into the package. The places are those
 * of a virtual environment, of a system's Python, and of `pip install --target`. */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static const char *const PLACES[] = {
    "lib/python3*/site-packages",
    "lib64/python3*/site-packages",
    "lib/python3*/dist-packages",
    "lib/pypy3*/site-packages",
    ".",
};

/* Returns the newest library below the folder above this program, or NULL. */
static void *load_library(const char *program)
{
    char pattern[PATH_MAX + 128];
    void *library = NULL;
    const char *slash = strrchr(program, '/');
    for (size_t i = 0; !library && i < sizeof PLACES / sizeof *PLACES; i++) {
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, "%.*s/../%s/whichtool/lib/libwhichtool.so", (int)(slash - program), program,
                 PLACES[i]);
        if (!glob(pattern, 0, NULL, &found))
            library = dlopen(found.gl_pathv[found.gl_pathc - 1], RTLD_NOW);
        globfree(&found);
    }
    return library;
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    const char *named = getenv("WHICHTOOL_LIBRARY");
    int (*command)(int, char **) = NULL;
    void *library = NULL;
    if (named && named[0])
        library = dlopen(named, RTLD_NOW);
    else if (realpath((const char *)getauxval(AT_EXECFN), program)) /* works without /proc, and behind links of pipx */
        library = load_library(program);
    if (library)
        *(void **)&command = dlsym(library, "whichtool_main");
    if (command)
        return command(argc, argv);
    const char *why = dlerror();
    fprintf(stderr, "whichtool: cannot load the library of the Python package: %s\n", why ? why : "not found");
    fprintf(stderr, "Install the package again: pip install --force-reinstall whichtool\n");
    return 1;
}
