/* Tests the members of audit lines and the detection of changes to the file. */
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
#include "base/sha256.h"
#include "gateway/audit.h"
#include "text/unicode.h"

static wt_error err;
static char path[64], head_path[80], key_path[80];

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
    snprintf(head_path, sizeof head_path, "%s.head", path);
    snprintf(key_path, sizeof key_path, "%s.key", path);
    return fd < 0 || unlink(path) < 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    unlink(head_path);
    unlink(key_path);
    return 0;
}

static struct audit_log *open_log(void)
{
    struct audit_log *log;
    if (wt__audit_open(&log, path, NULL, &err) < 0)
        fail_msg("%s", err.message);
    return log;
}

static struct audit_line a_line(void)
{
    return (struct audit_line){.principal = "alice",
                               .tenant = "acme",
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
        SOUND(wt__audit_write_outcome(log, &mark, &(struct audit_outcome){.outcome = "ok", .bytes = (size_t)i}, &err));
    }
}

/* Checks, without a key, that each line of the text follows from the line before it. */
static int check_links(struct str text, wt_error *out)
{
    struct audit_chain chain = {0};
    int rc = 0;
    while (rc == 0 && text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len, taken = len + (end != NULL);
        rc = wt__audit_check_line(&chain, NULL, (struct str){text.ptr, len}, out);
        text = (struct str){text.ptr + taken, text.len - taken};
    }
    return rc;
}

/* Returns the text of a file, freed by the caller. */
static struct str read_text_file(const char *file)
{
    char *text = NULL;
    size_t len = 0;
    if (wt__file_read(&text, &len, file, 64 << 20, &err) < 0)
        fail_msg("%s", err.message);
    return (struct str){text, len};
}

static struct str text_of_file(void)
{
    return read_text_file(path);
}

static void put_file(struct str text)
{
    if (wt__file_replace(path, text.ptr, text.len, &err) < 0)
        fail_msg("%s", err.message);
}

static void check_file(const char *says)
{
    struct str text = text_of_file();
    int rc = check_links(text, &err);
    if (rc != (says ? WT_EFORMAT : 0) || (says && strcmp(err.message, says) != 0))
        fail_msg("%d, %s", rc, rc < 0 ? err.message : "");
    free((char *)text.ptr);
}

/* ---------------------------------------------------------------- members of a line */

static void writes_the_members_of_a_decision(void **state)
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
        "Z\",\"seq\":1,\"principal\":\"alice\",\"tenant\":\"acme\",\"profile\":\"reading\",\"client\":{\"name\":\"c\"},"
        "\"method\":\"tools/"
        "call\","
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

/* "of" in an outcome line is the beginning of the link of its decision line. */
static void links_an_outcome_to_its_decision(void **state)
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
    SOUND(wt__audit_write_outcome(log, &mark, &(struct audit_outcome){.outcome = "ok", .bytes = 17, .ms = 1.25}, &err));
    wt__audit_close(log);
    struct str text = text_of_file();
    const char *second = strchr(text.ptr, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_non_null(strstr(text.ptr, "\"server\":\"files\",\"uri\":\"file:///x\",\"policy\":"));
    assert_non_null(strstr(second, "\"server\":\"files\",\"prompt\":\"review\",\"policy\":"));
    snprintf(of, sizeof of, "Z\",\"seq\":3,\"of\":\"%.16s\",\"outcome\":\"ok\",\"bytes\":17,\"ms\":1.2,\"chain\":\"",
             strstr(second, "\"chain\":\"") + strlen("\"chain\":\""));
    assert_non_null(strstr(third, of));
    free((char *)text.ptr);
    check_file(NULL);
}

/* Text from clients and servers stays within one string of one line. */
static void escapes_hostile_text_in_lines(void **state)
{
    static const char *const words[] = {
        "a\n{\"time\":\"x\"}",
        "\",\"decision\":\"denied",
        "\",\"chain\":\"0000000000000000000000000000000000000000000000000000000000000000\"}\n",
        "\xff\xfe\xc0\x80",
        "\x1b[2J\x07\x7f\r",
        "\xe2\x80\xa8\xe2\x80\xae",
        "\xc2\x9b\xc2\x85\xe2\x80\x8b\xe2\x81\xa6\xf3\xa0\x81\x81",
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
    for (const char *at = text.ptr, *end = at + text.len; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        if (c != '\n' && wt__unicode_unseen(c))
            fail_msg("U+%04X is in the file", c);
    }
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

/* A long client description is left out of the line; the next start still accepts the chain. */
static void limits_the_length_of_a_line(void **state)
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

/* If the client description cannot be written, the log gets neither an incomplete line nor a line without the
 * description. */
static void writes_a_line_completely_or_not_at_all(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    struct audit_line line = a_line();
    json_t *client = json_object(), *within = json_object();
    SOUND(json_object_set(client, "within", within));
    SOUND(json_object_set(within, "client", client)); /* recursive, so that it cannot be written */
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

static void keeps_the_chain_over_restarts(void **state)
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
    assert_int_equal(wt__audit_write_outcome(NULL, NULL, NULL, NULL), 0);
    assert_false(wt__audit_is_failing(NULL, NULL));
    wt__audit_sync(NULL);
}

/* Returns a line of the text with its newline. */
static struct str line_of(struct str text, int number)
{
    const char *at = text.ptr;
    for (int i = 1; i < number; i++)
        at = strchr(at, '\n') + 1;
    return (struct str){at, (size_t)(strchr(at, '\n') + 1 - at)};
}

static void detects_each_change_of_the_log(void **state)
{
    (void)state;
    struct audit_log *log = open_log();
    write_lines(log, 5);
    wt__audit_close(log);
    struct str whole = text_of_file();
    struct str third = line_of(whole, 3), fourth = line_of(whole, 4);
    size_t before = (size_t)(third.ptr - whole.ptr), behind = whole.len - before - third.len;
    struct buffer text = {0};
    /* Change each byte of the third line except its newline. */
    for (size_t i = 0; i < third.len - 1; i++) {
        wt__buffer_clear(&text);
        wt__buffer_str(&text, whole);
        text.ptr[before + i] ^= 1;
        if (check_links(wt__buffer_view(&text), &err) != WT_EFORMAT || !strstr(err.message, "line 3 "))
            fail_msg("byte %zu: %s", i, err.message);
    }
    wt__buffer_clear(&text); /* without the third line */
    wt__buffer_append(&text, whole.ptr, before);
    wt__buffer_append(&text, fourth.ptr, behind);
    assert_int_equal(check_links(wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 3 does not follow from the line before it");
    wt__buffer_clear(&text); /* with the third line twice */
    wt__buffer_append(&text, whole.ptr, before + third.len);
    wt__buffer_append(&text, third.ptr, third.len + behind);
    assert_int_equal(check_links(wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 4 does not follow from the line before it");
    wt__buffer_clear(&text); /* with the third line after the fourth */
    wt__buffer_append(&text, whole.ptr, before);
    wt__buffer_str(&text, fourth);
    wt__buffer_str(&text, third);
    assert_int_equal(check_links(wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_int_equal(check_links(STR("\n"), &err), WT_EFORMAT);
    assert_string_equal(err.message, "line 1 is not a line of an audit log");
    assert_int_equal(check_links(STR(""), &err), 0);
    wt__buffer_dispose(&text);
    free((char *)whole.ptr);
}

/* ---------------------------------------------------------------- crashes */

static void put_head(struct str text)
{
    SOUND(wt__file_replace(head_path, text.ptr, text.len, &err));
}

/* Creates a log with headed + more decisions. *text: text of the log. *head: text of the head after the first `headed`
 * decisions, as a crash may leave it. The caller frees both texts. */
static void crashed_log(struct str *text, struct str *head, int headed, int more)
{
    struct audit_log *log = open_log();
    write_lines(log, headed);
    wt__audit_close(log);
    *head = read_text_file(head_path);
    log = open_log();
    write_lines(log, more);
    wt__audit_close(log);
    *text = text_of_file();
}

static void removes_a_torn_last_line(void **state)
{
    struct str whole, head;
    (void)state;
    crashed_log(&whole, &head, 1, 2);
    size_t before = (size_t)(line_of(whole, 3).ptr - whole.ptr);
    for (size_t len = before + 1; len < whole.len; len += 7) {
        put_file((struct str){whole.ptr, len});
        put_head(head);
        struct audit_log *log = open_log();
        write_lines(log, 1);
        wt__audit_close(log);
        check_file(NULL);
    }
    put_file((struct str){whole.ptr, 40}); /* only a torn line */
    unlink(head_path);
    wt__audit_close(open_log());
    struct str nothing = text_of_file();
    assert_int_equal(nothing.len, 0);
    free((char *)nothing.ptr);
    free((char *)whole.ptr);
    free((char *)head.ptr);
}

/* ---------------------------------------------------------------- incomplete logs */

static void refuses(struct audit_log *log, const char *says)
{
    struct audit_line line = a_line();
    wt_error why = {0};
    int rc = wt__audit_write(log, &line, NULL, &why);
    if (rc != WT_EFORMAT || !strstr(why.message, says))
        fail_msg("%d, %s: %s", rc, says, why.message);
    assert_true(wt__audit_is_failing(log, &why));
}

/* Writes fail while the file is moved, or while its lines are cut, changed or followed by text of other programs. */
static void refuses_lines_while_the_log_is_incomplete(void **state)
{
    char moved[80];
    (void)state;
    snprintf(moved, sizeof moved, "%s.moved", path);
    struct audit_log *log = open_log();
    write_lines(log, 2);
    struct str whole = text_of_file();
    SOUND(rename(path, moved));
    refuses(log, "was moved, removed or replaced");
    put_file(whole); /* a copy of the log is not the open file */
    refuses(log, "was moved, removed or replaced");
    SOUND(rename(moved, path));
    write_lines(log, 1);
    free((char *)whole.ptr);
    whole = text_of_file();
    size_t last = (size_t)(line_of(whole, 6).ptr - whole.ptr);
    SOUND(truncate(path, (off_t)last));
    refuses(log, "was cut after line 6");
    SOUND(truncate(path, 0));
    refuses(log, "was cut after line 6");
    int fd = open(path, O_WRONLY);
    assert_int_equal(write(fd, whole.ptr, whole.len - 10), whole.len - 10);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    refuses(log, "was changed after line 6");
    assert_int_equal(pwrite(fd, whole.ptr, whole.len, 0), whole.len);
    write_lines(log, 1);
    assert_int_equal(lseek(fd, 0, SEEK_END) > 0 && write(fd, "{}\n", 3) == 3, 1);
    refuses(log, "line 9 is not a line of an audit log");
    SOUND(truncate(path, lseek(fd, 0, SEEK_END) - 3));
    write_lines(log, 1);
    close(fd);
    wt__audit_close(log);
    check_file(NULL);
    free((char *)whole.ptr);
}

/* Tests damage to the log while no gateway runs. */
static void detects_a_damaged_log_at_the_next_start(void **state)
{
    struct audit_log *log = open_log();
    struct stat info;
    (void)state;
    write_lines(log, 2);
    wt__audit_close(log);
    assert_int_equal(stat(head_path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    struct str whole = text_of_file(), head = read_text_file(head_path);
    const struct {
        size_t len;
        const char *says;
    } rows[] = {{0, "was cut since line 4 was written"},
                {line_of(whole, 1).len, "was cut since line 4 was written"},
                {whole.len - line_of(whole, 4).len, "was cut since line 4 was written"},
                {whole.len - 1, "was cut since line 4 was written"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_file((struct str){whole.ptr, rows[i].len});
        if (wt__audit_open(&log, path, NULL, &err) != WT_EFORMAT || !strstr(err.message, rows[i].says))
            fail_msg("%zu bytes: %s", rows[i].len, err.message);
        struct str after = text_of_file();
        assert_int_equal(after.len, rows[i].len);
        free((char *)after.ptr);
    }
    unlink(path);
    assert_int_equal(wt__audit_open(&log, path, NULL, &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, "which ended with line 4, was moved or removed"));
    assert_int_not_equal(access(path, F_OK), 0);
    ((char *)whole.ptr)[whole.len - 5] ^= 1;
    put_file(whole);
    assert_int_equal(wt__audit_open(&log, path, NULL, &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, "was changed since line 4 was written"));
    ((char *)whole.ptr)[whole.len - 5] ^= 1;
    put_file(whole);
    unlink(head_path);
    assert_int_equal(wt__audit_open(&log, path, NULL, &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, ".head is missing"));
    put_head(STR("{\"bytes\":1}"));
    assert_int_equal(wt__audit_open(&log, path, NULL, &err), WT_EFORMAT);
    put_head(head);
    log = open_log();
    write_lines(log, 1);
    wt__audit_close(log);
    check_file(NULL);
    free((char *)whole.ptr);
    free((char *)head.ptr);
}

/* Tests a log of a version without sequence numbers and heads. */
static void continues_a_log_of_an_earlier_version(void **state)
{
    struct buffer text = {0};
    char link[65] = "";
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct sha256 sha;
        unsigned char digest[32];
        const char line[] = "{\"time\":\"2026-11-26T08:00:00.000Z\",\"principal\":\"ada\",\"decision\":\"denied\"";
        wt__sha256_begin(&sha);
        wt__sha256_update(&sha, link, strlen(link));
        wt__sha256_update(&sha, line, strlen(line));
        wt__sha256_end(&sha, digest);
        wt__sha256_hex(digest, link);
        wt__buffer_printf(&text, "%s,\"chain\":\"%s\"}\n", line, link);
    }
    put_file(wt__buffer_view(&text));
    struct audit_log *log = open_log();
    write_lines(log, 1);
    wt__audit_close(log);
    struct str after = text_of_file();
    assert_non_null(strstr(line_of(after, 4).ptr, "Z\",\"seq\":4,\"principal\":"));
    free((char *)after.ptr);
    wt__buffer_dispose(&text);
    check_file(NULL);
}

static size_t lines_of(const char *const *files, size_t count, const struct audit_key *key)
{
    struct audit_replay replay = {0};
    for (size_t i = 0; i < count; i++) {
        struct str text = read_text_file(files[i]);
        SOUND(wt__audit_replay(&replay, text, key, NULL, &err));
        free((char *)text.ptr);
    }
    assert_false(replay.is_continued);
    return replay.lines;
}

/* Gateways continue in the new file without losing a line. */
static void continues_after_a_rotation(void **state)
{
    char *kept = NULL;
    uint64_t number = 0;
    (void)state;
    assert_int_equal(wt__audit_rotate(&kept, &number, path, NULL, &err), WT_ENOTFOUND);
    struct audit_log *one = open_log(), *two = open_log();
    assert_int_equal(wt__audit_rotate(&kept, &number, path, NULL, &err), WT_EINVAL);
    write_lines(one, 2);
    write_lines(two, 1);
    struct str head = read_text_file(head_path);
    SOUND(wt__audit_rotate(&kept, &number, path, NULL, &err));
    assert_int_equal(number, 7);
    struct str next_head = read_text_file(head_path);
    assert_non_null(strstr(next_head.ptr, "\"seq\":7,"));
    free((char *)next_head.ptr);
    write_lines(one, 1);
    write_lines(two, 1);
    wt__audit_close(one);
    wt__audit_close(two);
    const char *files[] = {kept, path};
    assert_int_equal(lines_of(files, 2, NULL), 11);
    check_file(NULL); /* the new file alone */
    struct str first = read_text_file(kept), next = text_of_file();
    struct audit_replay replay = {0};
    assert_int_equal(wt__audit_replay(&replay, next, NULL, NULL, &err), 0);
    assert_true(replay.is_continued);
    assert_int_equal(wt__audit_replay(&replay, first, NULL, NULL, &err), WT_EFORMAT); /* in the wrong order */
    free((char *)first.ptr);
    put_head(head); /* simulates a rotation killed before it wrote the head */
    unlink(kept);
    wt__audit_close(open_log());
    free((char *)head.ptr);
    free((char *)next.ptr);
    free(kept);
}

/* Tests that an idle gateway continues in the new file after two rotations. Also tests that it notices when its log is
 * moved away and back. */
static void follows_rotations_while_idle(void **state)
{
    struct audit_log *idle = open_log(), *busy = open_log();
    char *kept, moved[80];
    uint64_t number = 0;
    (void)state;
    snprintf(moved, sizeof moved, "%s.moved", path);
    for (int i = 0; i < 2; i++) {
        write_lines(busy, 1);
        SOUND(wt__audit_rotate(&kept, &number, path, NULL, &err));
        SOUND(rename(kept, moved)); /* the second rotation may be within the same second */
        wt__audit_sync(idle);
        free(kept);
    }
    assert_false(wt__audit_is_failing(idle, &err));
    write_lines(idle, 1);
    check_file(NULL);
    SOUND(rename(path, moved));
    wt__audit_sync(idle);
    assert_true(wt__audit_is_failing(idle, &err));
    SOUND(rename(moved, path));
    wt__audit_sync(idle);
    assert_false(wt__audit_is_failing(idle, &err));
    wt__audit_close(idle);
    wt__audit_close(busy);
}

/* Tests a rotation that was killed between the new file and its head. */
static void finishes_a_rotation_without_a_head(void **state)
{
    char *kept = NULL;
    uint64_t number = 0;
    (void)state;
    struct audit_log *log = open_log();
    write_lines(log, 2);
    wt__audit_close(log);
    struct str head = read_text_file(head_path);
    SOUND(wt__audit_rotate(&kept, &number, path, NULL, &err));
    put_head(head);
    log = open_log();
    write_lines(log, 1);
    wt__audit_close(log);
    check_file(NULL);
    unlink(kept);
    free(kept);
    free((char *)head.ptr);
}

/* ---------------------------------------------------------------- keys */

static struct audit_key a_key(const char *text)
{
    struct audit_key key;
    SOUND(wt__file_replace(key_path, text, strlen(text), &err));
    SOUND(chmod(key_path, 0600));
    SOUND(wt__audit_key_read(&key, key_path, &err));
    return key;
}

#define KEY_ONE "0123456789abcdef0123456789abcdef"
#define KEY_TWO "0123456789abcdef0123456789abcdeF"

static void checks_mode_and_length_of_keys(void **state)
{
    struct audit_key key = a_key(KEY_ONE "\n"), same = a_key(KEY_ONE);
    (void)state;
    assert_memory_equal(&key, &same, sizeof key);
    SOUND(chmod(key_path, 0640));
    assert_int_equal(wt__audit_key_read(&key, key_path, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "others can access the key"));
    assert_null(strstr(err.message, KEY_ONE));
    SOUND(chmod(key_path, 0600));
    SOUND(wt__file_replace(key_path, "short\n", 6, &err));
    SOUND(chmod(key_path, 0600));
    assert_int_equal(wt__audit_key_read(&key, key_path, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "must have 32 to 4096 bytes"));
    assert_null(strstr(err.message, "short\n"));
    assert_int_equal(wt__audit_key_read(&key, "/dev/null", &err), WT_EINVAL);
    assert_int_equal(wt__audit_key_read(&key, "/nowhere/at/all", &err), WT_ENOTFOUND);
    wt__audit_key_forget(&key);
}

static struct audit_log *open_keyed(const struct audit_key *key)
{
    struct audit_log *log;
    SOUND(wt__audit_open(&log, path, key, &err));
    return log;
}

static void replay_says(struct str text, const struct audit_key *key, int code, const char *says)
{
    struct audit_replay replay = {0};
    int rc = wt__audit_replay(&replay, text, key, NULL, &err);
    if (rc != code || !strstr(err.message, says))
        fail_msg("%d, %s", rc, err.message);
}

/* Neither a line nor a whole log can be forged without the key. */
static void needs_the_key_to_check_lines(void **state)
{
    struct audit_key key = a_key(KEY_ONE), other = a_key(KEY_TWO);
    struct audit_log *log = open_keyed(&key), *refused;
    (void)state;
    write_lines(log, 2);
    wt__audit_close(log);
    assert_int_equal(wt__audit_open(&refused, path, NULL, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "--audit-key"));
    assert_int_equal(wt__audit_open(&refused, path, &other, &err), WT_EFORMAT);
    struct str text = text_of_file();
    struct audit_replay replay = {0};
    SOUND(wt__audit_replay(&replay, text, &key, NULL, &err));
    assert_int_equal(replay.keyed, 4);
    replay_says(text, NULL, WT_EINVAL, "line 1 and later lines have an HMAC");
    replay_says(text, &other, WT_EFORMAT, "or was written with another key");
    ((char *)line_of(text, 3).ptr)[40] ^= 1;
    replay_says(text, &key, WT_EFORMAT, "line 3 does not follow");
    free((char *)text.ptr);
    unlink(path);
    unlink(head_path);
    log = open_log(); /* a forged chain with its own head */
    write_lines(log, 2);
    wt__audit_close(log);
    assert_int_equal(wt__audit_open(&refused, path, &key, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "have no HMAC"));
}

/* A log without a key gets a key by a rotation. The next rotation then requires the key. */
static void adds_a_key_by_a_rotation(void **state)
{
    struct audit_key key = a_key(KEY_ONE);
    struct audit_log *log = open_log();
    struct audit_line line = a_line();
    char *kept[2];
    uint64_t number = 0;
    (void)state;
    write_lines(log, 1);
    SOUND(wt__audit_rotate(&kept[0], &number, path, &key, &err));
    assert_int_equal(wt__audit_write(log, &line, NULL, &err), WT_EINVAL); /* this log was opened without the key */
    wt__audit_close(log);
    log = open_keyed(&key);
    write_lines(log, 1);
    assert_int_equal(wt__audit_rotate(&kept[1], &number, path, NULL, &err), WT_EINVAL);
    wt__audit_close(log);
    const char *files[] = {kept[0], path};
    assert_int_equal(lines_of(files, 2, &key), 5);
    unlink(kept[0]);
    free(kept[0]);
}

static void refuses_a_file_with_and_without_hmacs(void **state)
{
    struct audit_key key = a_key(KEY_ONE);
    (void)state;
    for (int keyed_first = 0; keyed_first < 2; keyed_first++) {
        struct audit_chain chain = {0};
        struct buffer text = {0};
        for (int i = 0; i < 2; i++) {
            struct buffer line = {0};
            wt__buffer_text(&line, "{\"time\":\"2026-11-26T08:00:00.000Z\"");
            wt__audit_link(&chain, (i == 0) == keyed_first ? &key : NULL, &line);
            wt__buffer_str(&text, wt__buffer_view(&line));
            wt__buffer_dispose(&line);
        }
        replay_says(wt__buffer_view(&text), &key, WT_EFORMAT,
                    keyed_first ? "line 2 has no HMAC, but the lines before it do"
                                : "line 2 has an HMAC, but the lines before it do not");
        wt__buffer_dispose(&text);
    }
}

static void refuses_other_files_and_leaves_them_unchanged(void **state)
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
        int rc = wt__audit_open(&log, path, NULL, &err);
        struct str after = text_of_file();
        if (rc != WT_EFORMAT || log || !strstr(err.message, " an audit log") || !wt__str_equal(before, after))
            fail_msg("%.40s: %d, %s", before.ptr, rc, rc < 0 ? err.message : "");
        free((char *)after.ptr);
    }
    wt__buffer_dispose(&large);
    assert_true(wt__audit_open(&log, "/nowhere/at/all", NULL, &err) < 0);
    assert_null(log);
}

/* If the disk fills up within a line, the write fails and the next line is complete. */
static void leaves_no_partial_line_on_a_full_disk(void **state)
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

/* ---------------------------------------------------------------- concurrent writers */

static void *write_some(void *log)
{
    write_lines(log, 50);
    return NULL;
}

/* Writes from several threads and from two logs of one file, as two gateways do. */
static void writes_one_chain_from_many_threads(void **state)
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
        TEST(writes_the_members_of_a_decision),
        TEST(links_an_outcome_to_its_decision),
        TEST(escapes_hostile_text_in_lines),
        TEST(limits_the_length_of_a_line),
        TEST(writes_a_line_completely_or_not_at_all),
        TEST(keeps_the_chain_over_restarts),
        TEST(detects_each_change_of_the_log),
        TEST(removes_a_torn_last_line),
        TEST(refuses_lines_while_the_log_is_incomplete),
        TEST(detects_a_damaged_log_at_the_next_start),
        TEST(continues_a_log_of_an_earlier_version),
        TEST(continues_after_a_rotation),
        TEST(finishes_a_rotation_without_a_head),
        TEST(checks_mode_and_length_of_keys),
        TEST(needs_the_key_to_check_lines),
        TEST(adds_a_key_by_a_rotation),
        TEST(refuses_a_file_with_and_without_hmacs),
        TEST(follows_rotations_while_idle),
        TEST(refuses_other_files_and_leaves_them_unchanged),
        TEST(leaves_no_partial_line_on_a_full_disk),
        TEST(writes_one_chain_from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
