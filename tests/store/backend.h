/* backend.h: the databases that the tests of the store run on. $WT_TEST_BACKEND names one of them; the default is the
 * first. */
#ifndef WT_TESTS_STORE_BACKEND_H
#define WT_TESTS_STORE_BACKEND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKEND_PATH_BYTES = 400 };

static char backend_folder[64];               /* folder of the stores, or of the server */
static char backend_url[BACKEND_PATH_BYTES];  /* URL of the server */
static char backend_line[BACKEND_PATH_BYTES]; /* last line of output of a command */

/* Runs a command and keeps the last line of its output. Returns its exit status. */
static inline int run_backend_command(const char *command)
{
    FILE *output = popen(command, "r");
    if (!output)
        return -1;
    while (fgets(backend_line, sizeof backend_line, output))
        backend_line[strcspn(backend_line, "\n")] = '\0';
    int status = pclose(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool make_backend_folder(void)
{
    snprintf(backend_folder, sizeof backend_folder, "/tmp/whichtool-store-XXXXXX");
    return mkdtemp(backend_folder) != NULL;
}

static inline bool start_files(void)
{
    return make_backend_folder();
}

static inline void stop_files(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", backend_folder);
    run_backend_command(command);
}

static inline const char *name_file(const char *name)
{
    static char path[BACKEND_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", backend_folder, name);
    return path;
}

static inline const char *name_new_file(void)
{
    return ":memory:";
}

static int backend_owner; /* process that names the schemas, which its children share */

/* Uses the server of $WT_TEST_POSTGRES, or starts one. */
static inline bool start_server(void)
{
    char command[300];
    backend_owner = (int)getpid();
    const char *running = getenv("WT_TEST_POSTGRES");
    if (running) {
        snprintf(backend_url, sizeof backend_url, "%s", running);
        return true;
    }
    if (!make_backend_folder() || rmdir(backend_folder) < 0)
        return false;
    snprintf(command, sizeof command, "%s/tests/postgres.sh start %s", getenv("WT_TEST_SOURCE"), backend_folder);
    if (run_backend_command(command) != 0) {
        print_message("skipped: stores in PostgreSQL: %s\n", backend_line);
        return false;
    }
    snprintf(backend_url, sizeof backend_url, "%s", backend_line);
    return true;
}

static inline void control_server(const char *verb)
{
    char command[300];
    snprintf(command, sizeof command, "%s/tests/postgres.sh %s %s", getenv("WT_TEST_SOURCE"), verb, backend_folder);
    if (run_backend_command(command) != 0)
        fail_msg("%s: %s", command, backend_line);
}

static inline void stop_server(void)
{
    if (!getenv("WT_TEST_POSTGRES"))
        control_server("stop");
}

/* Each store is a schema, whose name is unique on the server. */
static inline const char *name_schema(const char *name)
{
    static char url[BACKEND_PATH_BYTES + 64];
    snprintf(url, sizeof url, "%s%cschema=wt%d_%s", backend_url, strchr(backend_url, '?') ? '&' : '?', backend_owner,
             name);
    for (char *at = strstr(url, "schema="); *at; at++)
        if (*at == '.' || *at == '-')
            *at = '_';
    return url;
}

static inline const char *name_new_schema(void)
{
    static int count;
    char name[16];
    snprintf(name, sizeof name, "new%d", ++count);
    return name_schema(name);
}

static const struct backend {
    const char *name;
    bool (*start)(void);
    void (*stop)(void);
    const char *(*store)(const char *name); /* location of the store of this name */
    const char *(*new_store)(void);         /* location of an empty store */
    const char *drop_table;                 /* SQL before the name of a table, to remove it */
    const char *after_table;                /* SQL after the name */
} backends[] = {
    {"sqlite", start_files, stop_files, name_file, name_new_file, "PRAGMA foreign_keys=off; DROP TABLE", ""},
    {"postgres", start_server, stop_server, name_schema, name_new_schema, "DROP TABLE", "CASCADE"},
};

static const struct backend *backend = backends;

/* Skips a test of SQLite's files on other databases. */
static inline void need_files(void)
{
    if (backend != backends) {
        print_message("skipped: files of older versions (only SQLite stores are files)\n");
        skip();
    }
}

/* Runs the tests on the database of $WT_TEST_BACKEND. */
static inline int run_on_backend(const char *group, const struct CMUnitTest *tests, size_t count)
{
    const char *chosen = getenv("WT_TEST_BACKEND");
    for (size_t i = 0; chosen && i < sizeof backends / sizeof *backends; i++)
        if (strcmp(backends[i].name, chosen) == 0)
            backend = &backends[i];
    if (!backend->start())
        return 0;
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    backend->stop();
    return failed;
}

#define RUN_ON_BACKEND(tests) run_on_backend(#tests, tests, sizeof(tests) / sizeof *(tests))

#endif
