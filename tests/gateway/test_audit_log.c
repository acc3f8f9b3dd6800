/* The audit's lines: what stands in them, and that each change of the file shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "gateway/audit_log.h"

static wt_error err;
static char path[64];

#define SOUND(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) < 0)                                                                                                \
            fail_msg("%s: %d, %s", #call, err.code, err.message);                                                      \
    } while (0)

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/whichtool-audit-XXXXXX");
    int fd = mkstemp(path);
    close(fd);
    return fd < 0 || unlink(path) < 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static struct audit_log *open_log(void)
{
    struct audit_log *log;
    if (wt__audit_open(&log, path, &err) < 0)
        fail_msg("%s", err.message);
    return log;
}

static struct audit_line a_line(void)
{
    return (struct audit_line){.principal = "alice",
                               .method = "tools/call",
                               .server = "files",
                               .tool = "read",
                               .asked = STR("files__read"),
                               .effect = "read",
                               .sha256 = "00ff",
                               .revision = "0123456789abcdef",
                               .arguments = STR("{\"path\":\"/secret\"}"),
                               .decision = AUDIT_ALLOWED,
                               .trace = STR("")};
}

static void write_lines(struct audit_log *log, int count)
{
    for (int i = 0; i < count; i++) {
        struct audit_line line = a_line();
        struct audit_mark mark;
        SOUND(wt__audit_write(log, &line, &mark, &err));
        SOUND(wt__audit_end(log, &mark, &(struct audit_ending){.outcome = "ok", .bytes = (size_t)i}, &err));
    }
}

/* The file, which the caller frees. */
static struct str text_of_file(void)
{
    char *text = NULL;
    size_t len = 0;
    if (wt__file_read(&text, &len, path, 64 << 20, &err) < 0)
        fail_msg("%s", err.message);
    return (struct str){text, len};
}

static void put_file(struct str text)
{
    if (wt__file_replace(path, text.ptr, text.len, &err) < 0)
        fail_msg("%s", err.message);
}

static void check_file(const char *says)
{
    struct str text = text_of_file();
    int rc = wt__audit_check(text, &err);
    if (rc != (says ? WT_EFORMAT : 0) || (says && strcmp(err.message, says) != 0))
        fail_msg("%d, %s", rc, rc < 0 ? err.message : "");
    free((char *)text.ptr);
}

/* ---------------------------------------------------------------- what stands in a line */

static void a_line_says_who_what_by_which_rule_and_what_came_of_it(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    struct audit_line line = a_line();
    line.profile = "reading";
    json_t *client = json_pack("{s:s}", "name", "c");
    line.client = client;
    line.trace = STR("00-1-2-01");
    SOUND(wt__audit_write(log, &line, NULL, &err));
    line = a_line();
    line.server = line.tool = line.effect = line.sha256 = NULL;
    line.decision = AUDIT_UNKNOWN;
    SOUND(wt__audit_write(log, &line, NULL, &err));
    wt__audit_sync(log);
    wt__audit_close(log);
    json_decref(client);
    struct str text = text_of_file();
    const char *second = strchr(text.ptr, '\n') + 1;
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_non_null(strstr(
        text.ptr,
        "Z\",\"principal\":\"alice\",\"profile\":\"reading\",\"client\":{\"name\":\"c\"},\"method\":\"tools/call\","
        "\"asked\":\"files__read\",\"server\":\"files\",\"tool\":\"read\",\"effect\":\"read\",\"sha256\":\"00ff\","
        "\"policy\":\"0123456789abcdef\",\"arguments_sha256\":"
        "\"ef8caadddd0125d1b6730e1a83de06170c57977fa2e9f0ffbcba36e2d182241d\""));
    assert_non_null(strstr(text.ptr, "\"decision\":\"allowed\",\"trace\":\"00-1-2-01\",\"chain\":"));
    assert_null(strstr(text.ptr, "secret"));
    assert_non_null(strstr(second, "\"asked\":\"files__read\",\"policy\":"));
    assert_non_null(strstr(second, "\"decision\":\"unknown\",\"chain\":\""));
    free((char *)text.ptr);
    check_file(NULL);
}

/* It names the line of the decision by the beginning of its chain. */
static void a_second_line_says_what_came_of_it(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    struct audit_line line = a_line();
    struct audit_mark mark;
    char of[96];
    line.tool = line.effect = line.sha256 = NULL;
    line.method = "resources/read";
    line.uri = STR("file:///x");
    SOUND(wt__audit_write(log, &line, NULL, &err));
    line.uri = STR("");
    line.prompt = STR("review");
    SOUND(wt__audit_write(log, &line, &mark, &err));
    SOUND(wt__audit_end(log, &mark, &(struct audit_ending){.outcome = "ok", .bytes = 17, .ms = 1.25}, &err));
    wt__audit_close(log);
    struct str text = text_of_file();
    const char *second = strchr(text.ptr, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_non_null(strstr(text.ptr, "\"server\":\"files\",\"uri\":\"file:///x\",\"policy\":"));
    assert_non_null(strstr(second, "\"server\":\"files\",\"prompt\":\"review\",\"policy\":"));
    snprintf(of, sizeof of, "Z\",\"of\":\"%.16s\",\"outcome\":\"ok\",\"bytes\":17,\"ms\":1.2,\"chain\":\"",
             strstr(second, "\"chain\":\"") + strlen("\"chain\":\""));
    assert_non_null(strstr(third, of));
    free((char *)text.ptr);
    check_file(NULL);
}

/* What clients and servers say stays one string of one line, whatever it is. */
static void hostile_words_stay_within_their_member(void **state)
{
    static const char *const words[] = {
        "a\n{\"time\":\"x\"}",
        "\",\"decision\":\"denied",
        "\",\"chain\":\"0000000000000000000000000000000000000000000000000000000000000000\"}\n",
        "\xff\xfe\xc0\x80",
        "\x1b[2J\x07\x7f\r",
        "\xe2\x80\xa8\xe2\x80\xae",
        "\xf0\x9f",
        "",
    };
    (void)state;
    struct audit_log *log = open_log();
    size_t count = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int where = 0; where < 5; where++, count++) {
            struct audit_line line = a_line();
            json_t *client = json_pack("{s:o}", "name", wt__json_string(wt__str(words[i])));
            line.client = client;
            *(where == 0   ? &line.principal
              : where == 1 ? &line.server
              : where == 2 ? &line.tool
              : where == 3 ? &line.profile
                           : &line.method) = words[i];
            line.asked = line.trace = wt__str(words[i]);
            SOUND(wt__audit_write(log, &line, NULL, &err));
            json_decref(client);
        }
    wt__audit_close(log);
    check_file(NULL);
    struct str text = text_of_file();
    size_t lines = 0;
    for (const char *at = text.ptr, *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
        json_t *read = NULL;
        if (wt__json_parse(&read, at, (size_t)(end - at), &err) < 0)
            fail_msg("line %zu: %s", lines + 1, err.message);
        assert_true(wt__str_equal(wt__json_str(read, "decision"), STR("allowed")));
        json_decref(read);
    }
    assert_int_equal(lines, count);
    free((char *)text.ptr);
}

/* A client that says much of itself is left out of its line; the next start still finds the chain. */
static void a_line_is_bounded(void **state)
{
    char *words = malloc(1 << 20);
    (void)state;
    struct audit_log *log = open_log();
    struct audit_line line = a_line();
    memset(words, '\x01', (1 << 20) - 1);
    words[(1 << 20) - 1] = '\0';
    json_t *client = json_pack("{s:s}", "name", words);
    line.client = client;
    line.asked = line.trace = wt__str(words);
    line.tool = line.server = line.principal = words;
    for (int i = 0; i < 2; i++) {
        SOUND(wt__audit_write(log, &line, NULL, &err));
        wt__audit_close(log);
        log = open_log();
    }
    wt__audit_close(log);
    struct str text = text_of_file();
    assert_true(text.len < 2 * (AUDIT_LINE_BYTES_MAX + 100));
    assert_null(strstr(text.ptr, "\"client\""));
    free((char *)text.ptr);
    json_decref(client);
    free(words);
    check_file(NULL);
}

/* One without what the client says of itself would be no line of it; one with a part of that would be no JSON. */
static void a_line_is_written_whole_or_not(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    struct audit_line line = a_line();
    json_t *client = json_object(), *within = json_object();
    SOUND(json_object_set(client, "within", within));
    SOUND(json_object_set(within, "client", client)); /* without an end: it cannot be written */
    line.client = client;
    assert_int_equal(wt__audit_write(log, &line, NULL, &err), WT_ENOMEM);
    assert_true(wt__audit_is_failing(log, &err));
    json_object_clear(within);
    write_lines(log, 1);
    wt__audit_close(log);
    struct str text = text_of_file();
    assert_null(strstr(text.ptr, "\"within\""));
    free((char *)text.ptr);
    json_decref(within);
    json_decref(client);
    check_file(NULL);
}

/* ---------------------------------------------------------------- the chain */

static void the_chain_holds_over_restarts(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct audit_log *log = open_log();
        write_lines(log, i);
        wt__audit_close(log);
    }
    check_file(NULL);
    wt__audit_close(NULL);
    assert_int_equal(wt__audit_write(NULL, NULL, NULL, NULL), 0);
    assert_int_equal(wt__audit_end(NULL, NULL, NULL, NULL), 0);
    assert_false(wt__audit_is_failing(NULL, NULL));
    wt__audit_sync(NULL);
}

/* Where a line begins, and how long it is with its end. */
static struct str line_of(struct str text, int number)
{
    const char *at = text.ptr;
    for (int i = 1; i < number; i++)
        at = strchr(at, '\n') + 1;
    return (struct str){at, (size_t)(strchr(at, '\n') + 1 - at)};
}

static void each_change_shows(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    write_lines(log, 5);
    wt__audit_close(log);
    struct str whole = text_of_file();
    struct str third = line_of(whole, 3), fourth = line_of(whole, 4);
    size_t before = (size_t)(third.ptr - whole.ptr), behind = whole.len - before - third.len;
    struct buffer text = {0};
    /* Every byte of a line, but for those whose change makes it no line at all. */
    for (size_t i = 0; i < third.len - 1; i++) {
        wt__buffer_clear(&text);
        wt__buffer_str(&text, whole);
        text.ptr[before + i] ^= 1;
        if (wt__audit_check(wt__buffer_view(&text), &err) != WT_EFORMAT || !strstr(err.message, "line 3 "))
            fail_msg("byte %zu: %s", i, err.message);
    }
    wt__buffer_clear(&text); /* taken out */
    wt__buffer_append(&text, whole.ptr, before);
    wt__buffer_append(&text, fourth.ptr, behind);
    assert_int_equal(wt__audit_check(wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 3 does not follow from the one before it");
    wt__buffer_clear(&text); /* put in twice */
    wt__buffer_append(&text, whole.ptr, before + third.len);
    wt__buffer_append(&text, third.ptr, third.len + behind);
    assert_int_equal(wt__audit_check(wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 4 does not follow from the one before it");
    wt__buffer_clear(&text); /* changed about */
    wt__buffer_append(&text, whole.ptr, before);
    wt__buffer_str(&text, fourth);
    wt__buffer_str(&text, third);
    assert_int_equal(wt__audit_check(wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_int_equal(wt__audit_check(STR("\n"), &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 1 is no line of an audit");
    assert_int_equal(wt__audit_check(STR(""), &err), 0);
    wt__buffer_dispose(&text);
    free((char *)whole.ptr);
}

/* ---------------------------------------------------------------- what a crash left */

static void a_torn_last_line_is_cut(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    write_lines(log, 3);
    wt__audit_close(log);
    struct str whole = text_of_file();
    size_t before = (size_t)(line_of(whole, 3).ptr - whole.ptr);
    for (size_t len = before + 1; len < whole.len; len += 7) {
        put_file((struct str){whole.ptr, len});
        log = open_log();
        write_lines(log, 1);
        wt__audit_close(log);
        check_file(NULL);
    }
    put_file((struct str){whole.ptr, 40}); /* there was no more than a torn line */
    wt__audit_close(open_log());
    struct str nothing = text_of_file();
    assert_int_equal(nothing.len, 0);
    free((char *)nothing.ptr);
    free((char *)whole.ptr);
}

/* Files of others, which must be as they were afterwards. */
static void a_file_that_is_none_is_refused_and_left_as_it_was(void **state)
{
    static const char *const files[] = {"hello\n", "hello", "a\nb", "{\"time\":1}\n", "\n", "{}\n{\"time\":\"2026"};
    struct buffer large = {0};
    struct audit_log *log;
    (void)state;
    for (int i = 0; i < 3000; i++)
        wt__buffer_text(&large, "no line ends here");
    for (size_t i = 0; i <= sizeof files / sizeof *files; i++) {
        struct str before = i < sizeof files / sizeof *files ? wt__str(files[i]) : wt__buffer_view(&large);
        put_file(before);
        int rc = wt__audit_open(&log, path, &err);
        struct str after = text_of_file();
        if (rc != WT_EFORMAT || log || !strstr(err.message, " ends with no line of an audit") ||
            !wt__str_equal(before, after))
            fail_msg("%.40s: %d, %s", before.ptr, rc, rc < 0 ? err.message : "");
        free((char *)after.ptr);
    }
    wt__buffer_dispose(&large);
    assert_true(wt__audit_open(&log, "/nowhere/at/all", &err) < 0);
    assert_null(log);
}

/* A disk that is full in the middle of a line: that one is told as not written, and the next one is whole. */
static void what_cannot_be_written_whole_is_not_there(void **state)
{
    struct rlimit before, small;
    struct stat st;
    (void)state;
    struct audit_log *log = open_log();
    write_lines(log, 2);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = (struct rlimit){(rlim_t)st.st_size + 50, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct audit_line line = a_line();
    wt_error why, said;
    int rc = wt__audit_write(log, &line, NULL, &said);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, WT_EFULL);
    assert_non_null(strstr(said.message, path));
    assert_true(wt__audit_is_failing(log, &why));
    assert_string_equal(why.message, said.message);
    write_lines(log, 1);
    assert_false(wt__audit_is_failing(log, &why));
    wt__audit_close(log);
    check_file(NULL);
}

/* ---------------------------------------------------------------- many who write */

static void *write_some(void *log)
{
    write_lines(log, 50);
    return NULL;
}

/* Threads of one log, and another log of the same file, as two gateways of one operator have. */
static void many_write_one_chain(void **state)
{
    pthread_t threads[4];
    (void)state;
    struct audit_log *one = open_log(), *two = open_log();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, i % 2 ? one : two), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    wt__audit_close(one);
    wt__audit_close(two);
    check_file(NULL);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_path, remove_path)
    const struct CMUnitTest tests[] = {
        TEST(a_line_says_who_what_by_which_rule_and_what_came_of_it),
        TEST(a_second_line_says_what_came_of_it),
        TEST(hostile_words_stay_within_their_member),
        TEST(a_line_is_bounded),
        TEST(a_line_is_written_whole_or_not),
        TEST(the_chain_holds_over_restarts),
        TEST(each_change_shows),
        TEST(a_torn_last_line_is_cut),
        TEST(a_file_that_is_none_is_refused_and_left_as_it_was),
        TEST(what_cannot_be_written_whole_is_not_there),
        TEST(many_write_one_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
