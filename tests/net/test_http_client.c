/* Tests downloads from a local server: complete, resumed, interrupted, redirected, rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "net/http_client.h"
#include "net/http_server.h"

enum { BODY = 300000 };

static wt_error err;
static char body[BODY], path[64];
static struct file_server server;
static struct served_file files[] = {
    {.path = "/well", .how = SERVED_WELL, .body = body, .len = BODY},
    {.path = "/plain", .how = SERVED_WITHOUT_RANGES, .body = body, .len = BODY},
    {.path = "/cut", .how = SERVED_CUT, .body = body, .len = BODY, .cut = 110000},
    {.path = "/crumbs", .how = SERVED_CUT, .body = body, .len = BODY, .cut = 10},
    {.path = "/broken", .how = SERVED_BROKEN},
    {.path = "/moved", .how = SERVED_MOVED, .location = "/well"},
    {.path = "/elsewhere", .how = SERVED_MOVED, .location = "file:///etc/hostname"},
    {.path = "/plainly", .how = SERVED_MOVED, .location = "http://example.org/well"},
    {.path = "/round", .how = SERVED_MOVED, .location = "/round"},
    {.path = "/nowhere", .how = SERVED_STATUS, .location = "302 Found"},
    {.path = "/refused", .how = SERVED_STATUS, .location = "401 Unauthorized", .headers = "x-why: no key\r\n"},
    {.path = "/kept", .how = SERVED_MOVED, .location = "/well", .headers = "X-Commit: first \r\nX-Why:\r\n"},
    {.path = "/renamed", .how = SERVED_MOVED, .location = "/kept", .headers = "X-Why: renamed\r\n"},
    {.path = "/away", .how = SERVED_MOVED, .headers = "X-Commit: first\r\n"},
    {.path = "/nothing", .how = SERVED_WELL, .body = body, .len = 0},
};

static int start_download_server(void **state)
{
    (void)state;
    for (int i = 0; i < BODY; i++)
        body[i] = (char)(i * 31 + i / 251);
    snprintf(path, sizeof path, "/tmp/whichtool-http-XXXXXX");
    int fd = mkstemp(path);
    close(fd);
    return file_server_start(&server, files, sizeof files / sizeof *files);
}

static int stop_download_server(void **state)
{
    (void)state;
    file_server_stop(&server);
    unlink(path);
    return 0;
}

static const struct {
    const char *name, *url; /* a path on our server, or a whole URL */
    size_t before;          /* bytes of the body already in the file */
    uint64_t max;           /* max_bytes of the download */
    int rc;
    size_t len;       /* bytes of the body in the file afterwards; SIZE_MAX for any number */
    const char *says; /* part of the error message, or NULL */
} rows[] = {
    {"no file yet: the whole file is fetched", "/well", 0, BODY, 0, BODY, NULL},
    {"partial file: only the rest is fetched", "/well", 123456, BODY, 0, BODY, NULL},
    {"server without ranges: the whole file is fetched", "/plain", 123456, BODY, 0, BODY, NULL},
    {"complete file is fetched again", "/well", BODY, BODY, 0, BODY, NULL},
    {"connection ends early twice", "/cut", 0, BODY, 0, BODY, NULL},
    {"connection ends early at each attempt: received bytes are kept", "/crumbs", 0, BODY, WT_ENETWORK, 30,
     "cannot fetch http://127.0.0.1"},
    {"an empty file", "/nothing", 0, BODY, 0, 0, NULL},
    {"file longer than max_bytes", "/well", 0, 1000, WT_ETOOLONG, SIZE_MAX, "/well has more than 1000 bytes"},
    {"rest of a file longer than max_bytes", "/well", 500, 1000, WT_ETOOLONG, SIZE_MAX, "has more than 1000 bytes"},
    {"missing file", "/absent", 0, BODY, WT_ENOTFOUND, 0, "the server answered 404"},
    {"status 500", "/broken", 10, BODY, WT_ENETWORK, 10, "the server answered 500"},
    {"redirect on this machine is followed", "/moved", 0, BODY, 0, BODY, NULL},
    {"partial file after a redirect", "/moved", 123456, BODY, 0, BODY, NULL},
    {"redirect to plain http on another machine", "/plainly", 0, BODY, WT_ENETWORK, 0,
     "redirects to an address that is not https://"},
    {"redirect to file://", "/elsewhere", 0, BODY, WT_ENETWORK, 0, "redirects to an address that is not https://"},
    {"endless redirects", "/round", 0, BODY, WT_ENETWORK, 0, "the server redirects more than 5 times"},
    {"redirect without Location", "/nowhere", 0, BODY, WT_ENETWORK, 0, "answered 302 without an address"},
    {"plain http to another machine", "http://example.org/x", 0, BODY, WT_EINVAL, 0, "only https:// is allowed"},
    {"host that begins with localhost", "http://localhost.example.org/x", 0, BODY, WT_EINVAL, 0, "only https://"},
    {"user name 127.0.0.1", "http://127.0.0.1@example.org/", 0, BODY, WT_EINVAL, 0, "only https://"},
    {"user 127.0.0.1 with password 80", "http://127.0.0.1:80@example.org/", 0, BODY, WT_EINVAL, 0, "only https://"},
    {"file:// address", "file:///etc/hostname", 0, BODY, WT_EINVAL, 0, "not a URL of a server"},
    {"not a URL", "a b", 0, BODY, WT_EINVAL, 0, "not a URL of a server"},
    {"no server listens on the port", "http://127.0.0.1:1/x", 0, BODY, WT_ENETWORK, 0,
     "cannot fetch http://127.0.0.1:1/x"},
};

static void each_download_ends_as_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char url[128], *got;
        size_t len;
        if (rows[i].url[0] == '/')
            snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server.port, rows[i].url);
        else
            snprintf(url, sizeof url, "%s", rows[i].url);
        assert_int_equal(wt__file_replace(path, body, rows[i].before, &err), 0);
        struct http_download download = {.url = url, .path = path, .max_bytes = rows[i].max};
        int rc = wt__http_download(&download, &err);
        assert_int_equal(wt__file_read(&got, &len, path, BODY, rc == 0 ? &err : NULL), 0);
        if (rc != rows[i].rc || (rows[i].len != SIZE_MAX && len != rows[i].len) || memcmp(got, body, len) != 0 ||
            (rows[i].says && !strstr(err.message, rows[i].says)))
            fail_msg("%s: %d \"%s\", %zu bytes", rows[i].name, rc, rc ? err.message : "", len);
        free(got);
    }
}

static int read_wanted(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    return *(int *)context;
}

static void download_can_be_cancelled(void **state)
{
    (void)state;
    int wanted = 0;
    char url[64];
    struct progress progress;
    wt__progress_init(&progress, read_wanted, &wanted);
    assert_int_equal(wt__progress_phase(&progress, "fetching", BODY), 0);
    wanted = 1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/well", server.port);
    assert_int_equal(wt__file_replace(path, "", 0, &err), 0);
    struct http_download download = {.url = url, .path = path, .max_bytes = BODY, .progress = &progress};
    assert_int_equal(wt__http_download(&download, &err), WT_ECANCELLED);
    wt__progress_dispose(&progress);
}

static struct served_file *row_of(const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].path, name) == 0)
            return &files[i];
    fail_msg("no row %s", name);
    return NULL;
}

static int fetch_with(const char *name, const char *token, struct http_response_info *told)
{
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server.port, name);
    assert_int_equal(wt__file_replace(path, "", 0, &err), 0);
    *told = (struct http_response_info){.names = {"x-commit", NULL, "X-Why"}};
    struct http_download download = {.url = url, .path = path, .max_bytes = BODY, .token = token, .info = told};
    return wt__http_download(&download, &err);
}

/* Other ports and other names of this machine count as other hosts. */
static void token_is_sent_only_to_its_host(void **state)
{
    (void)state;
    static struct served_file others[] = {
        {.path = "/well", .body = "other", .len = 5, .headers = "X-Commit: second\r\n"}};
    struct file_server other;
    struct http_response_info told;
    char location[64];
    assert_int_equal(file_server_start(&other, others, 1), 0);
    assert_int_equal(fetch_with("/well", "hf_secret", &told), 0);
    assert_string_equal(row_of("/well")->token, "Bearer hf_secret");
    assert_int_equal(fetch_with("/kept", "hf_secret", &told), 0);
    assert_string_equal(row_of("/well")->token, "Bearer hf_secret");
    assert_string_equal(told.values[0], "first");
    assert_string_equal(told.values[2], "");
    assert_int_equal(told.status, 200);
    assert_int_equal(fetch_with("/renamed", "hf_secret", &told), 0);
    assert_string_equal(told.values[0], "first");
    assert_string_equal(told.values[2], "renamed");
    row_of("/away")->location = location;
    snprintf(location, sizeof location, "http://127.0.0.1:%d/well", other.port);
    assert_int_equal(fetch_with("/away", "hf_secret", &told), 0);
    assert_string_equal(row_of("/away")->token, "Bearer hf_secret");
    assert_int_equal(others[0].requests, 1);
    assert_string_equal(others[0].token, "");
    assert_string_equal(told.values[0], "first");
    snprintf(location, sizeof location, "http://localhost:%d/well", server.port);
    assert_int_equal(fetch_with("/away", "hf_secret", &told), 0);
    assert_string_equal(row_of("/well")->token, "");
    file_server_stop(&other);
    assert_int_equal(fetch_with("/refused", NULL, &told), WT_ENETWORK);
    assert_int_equal(told.status, 401);
    assert_string_equal(told.values[2], "no key");
    assert_string_equal(row_of("/refused")->token, "");
    assert_int_equal(fetch_with("/well", "two\r\nlines", &told), WT_EINVAL);
    assert_null(strstr(err.message, "lines\r"));
    assert_string_equal(err.message, "the token is too long or contains an invalid character");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_download_ends_as_expected),
        cmocka_unit_test(token_is_sent_only_to_its_host),
        cmocka_unit_test(download_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, start_download_server, stop_download_server);
}
