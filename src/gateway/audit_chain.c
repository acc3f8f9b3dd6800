/* audit_chain.c: computes and checks the chain of an audit log, reads and writes its head, and replays its decisions
 * (audit.h). */
#include "gateway/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"

#define SEQ ",\"seq\":"
#define CHAIN ",\"chain\":\""
#define HMAC ",\"hmac\":\""
#define CONTINUES ",\"continues\":\""
#define END "\"}"
#define BEGIN "{\"time\":\""
enum { NUMBER_DIGITS = 18 };

/* ---------------------------------------------------------------- the key */

static int check_key_file(int fd, const char *path, wt_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return wt__fail_errno(err, "read", path);
    if (!S_ISREG(info.st_mode))
        return wt__fail(err, WT_EINVAL, "%s is not a regular file; the key of an audit log must be in one", path);
    if ((info.st_mode & 077) != 0 || (info.st_uid != geteuid() && info.st_uid != 0))
        return wt__fail(err, WT_EINVAL, "others can access the key in %s; run chmod 600, or create another key", path);
    return 0;
}

static int read_open_key(struct audit_key *out, int fd, const char *path, wt_error *err)
{
    char bytes[AUDIT_KEY_BYTES_MAX + 1];
    WT_TRY(check_key_file(fd, path, err));
    ssize_t got = wt__file_read_at(fd, bytes, sizeof bytes, 0);
    size_t len = got > 0 ? (size_t)got : 0;
    while (len > 0 && wt__is_blank(bytes[len - 1]))
        len--;
    bool fits = len >= AUDIT_KEY_BYTES_MIN && got <= AUDIT_KEY_BYTES_MAX;
    if (fits)
        wt__hmac_begin(&out->begun, (struct str){bytes, len});
    explicit_bzero(bytes, sizeof bytes);
    if (got < 0)
        return wt__fail_errno(err, "read", path);
    return fits ? 0
                : wt__fail(err, WT_EINVAL,
                           "the key in %s must have %d to %d bytes; create one with `openssl rand -hex 32 >FILE`", path,
                           AUDIT_KEY_BYTES_MIN, AUDIT_KEY_BYTES_MAX);
}

int wt__audit_key_read(struct audit_key *out, const char *path, wt_error *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "open", path);
    int rc = read_open_key(out, fd, path, err);
    close(fd);
    return rc;
}

void wt__audit_key_forget(struct audit_key *key)
{
    explicit_bzero(key, sizeof *key);
}

/* ---------------------------------------------------------------- links */

/* Writes the link of a line without an HMAC. before: link of the previous line. line: the line's text in front of its
 * own link. */
static void digest_line(char out[AUDIT_LINK_DIGITS + 1], const char *before, struct str line)
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, before, strlen(before));
    wt__sha256_update(&sha, line.ptr, line.len);
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, out);
}

/* Writes the link of a line with an HMAC. */
static void seal_line(char out[AUDIT_LINK_DIGITS + 1], const struct audit_key *key, const char *before, struct str line)
{
    struct hmac hmac = key->begun;
    unsigned char mac[32];
    wt__hmac_update(&hmac, before, strlen(before));
    wt__hmac_update(&hmac, line.ptr, line.len);
    wt__hmac_end(&hmac, mac);
    wt__sha256_hex(mac, out);
}

/* Appends the HMAC of text in hexadecimal digits. */
static void put_line_hmac(struct buffer *out, const struct audit_key *key, struct str text)
{
    char digits[AUDIT_LINK_DIGITS + 1];
    seal_line(digits, key, "", text);
    wt__buffer_text(out, digits);
}

/* Returns the number of bytes up to the end of the line's first member, "time". Returns 0 if "time" is not the first
 * member. */
static size_t time_length(struct str line)
{
    static const struct str begin = STR(BEGIN);
    const char *quote = wt__str_starts(line, begin) ? memchr(line.ptr + begin.len, '"', line.len - begin.len) : NULL;
    return quote ? (size_t)(quote + 1 - line.ptr) : 0;
}

/* Inserts the number of the line as its second member. */
static void insert_number(struct buffer *line, uint64_t number)
{
    struct buffer out = {0};
    struct str text = wt__buffer_view(line);
    const size_t at = time_length(text);
    wt__buffer_append(&out, text.ptr, at);
    wt__buffer_printf(&out, SEQ "%" PRIu64, number);
    wt__buffer_append(&out, text.ptr + at, text.len - at);
    out.failed |= line->failed;
    wt__buffer_dispose(line);
    *line = out;
}

void wt__audit_link(struct audit_chain *chain, const struct audit_key *key, struct buffer *line)
{
    char link[AUDIT_LINK_DIGITS + 1];
    insert_number(line, ++chain->number);
    if (key)
        seal_line(link, key, chain->link, wt__buffer_view(line));
    else
        digest_line(link, chain->link, wt__buffer_view(line));
    wt__buffer_printf(line, "%s%s" END "\n", key ? HMAC : CHAIN, link);
    memcpy(chain->link, link, sizeof link);
    chain->is_keyed = key != NULL;
    chain->has_number = true;
}

/* ---------------------------------------------------------------- reading */

struct parsed_line {
    struct str before, link; /* text before the link; digits of the link */
    bool is_keyed;           /* true if the link is an HMAC */
    bool has_number;
    uint64_t number; /* number of the line, from 1; 0 if has_number is false */
};

/* Removes `end` from the text. False if the text does not end with it. */
static bool cut_suffix(struct str *text, struct str end)
{
    bool ends = text->len >= end.len && memcmp(text->ptr + text->len - end.len, end.ptr, end.len) == 0;
    text->len -= ends ? end.len : 0;
    return ends;
}

/* Reads the number of the line, which follows the time, into *out. Returns the text after the number. Lines written by
 * earlier versions of whichtool have no number. */
static struct str read_line_number(struct parsed_line *out, struct str line)
{
    static const struct str seq = STR(SEQ);
    size_t at = time_length(line);
    struct str rest = {line.ptr + at, line.len - at};
    if (at == 0 || !wt__str_starts(rest, seq))
        return rest;
    size_t len = seq.len;
    while (len < rest.len && len < seq.len + NUMBER_DIGITS && wt__is_digit(rest.ptr[len]))
        out->number = out->number * 10 + (uint64_t)(rest.ptr[len++] - '0');
    out->has_number = true;
    return (struct str){rest.ptr + len, rest.len - len};
}

/* Splits a line, without its newline. Returns false if the line does not end in a link. */
static bool parse_line(struct parsed_line *out, struct str line)
{
    *out = (struct parsed_line){0};
    if (!cut_suffix(&line, STR(END)) || line.len < AUDIT_LINK_DIGITS)
        return false;
    line.len -= AUDIT_LINK_DIGITS;
    out->link = (struct str){line.ptr + line.len, AUDIT_LINK_DIGITS};
    out->is_keyed = cut_suffix(&line, STR(HMAC));
    if (!out->is_keyed && !cut_suffix(&line, STR(CHAIN)))
        return false;
    out->before = line;
    read_line_number(out, line);
    return true;
}

/* Reads "continues" only as the third member, since later members may contain text of a client or a server. */
struct str wt__audit_continues(struct str line)
{
    static const struct str continues = STR(CONTINUES);
    struct parsed_line unused = {0};
    struct str rest = read_line_number(&unused, line);
    if (rest.len < continues.len + AUDIT_LINK_DIGITS || !wt__str_starts(rest, continues))
        return (struct str){"", 0};
    return (struct str){rest.ptr + continues.len, AUDIT_LINK_DIGITS};
}

int wt__audit_check_line(struct audit_chain *chain, const struct audit_key *key, struct str line, wt_error *err)
{
    char link[AUDIT_LINK_DIGITS + 1];
    struct parsed_line parsed;
    const unsigned long long number = chain->number + 1;
    if (!parse_line(&parsed, line))
        return wt__fail(err, WT_EFORMAT, "line %llu is not a line of an audit log", number);
    if (parsed.is_keyed && !key)
        return wt__fail(err, WT_EINVAL, "line %llu and later lines have an HMAC; give their key with --audit-key FILE",
                        number);
    if (chain->is_keyed && !parsed.is_keyed)
        return wt__fail(err, WT_EFORMAT, "line %llu has no HMAC, but the lines before it do", number);
    struct str continues = wt__audit_continues(line);
    if (parsed.is_keyed && !chain->is_keyed && chain->number > 0 && continues.len == 0)
        return wt__fail(err, WT_EFORMAT, "line %llu has an HMAC, but the lines before it do not", number);
    if (chain->number == 0 && continues.len > 0) {
        memcpy(chain->link, continues.ptr, continues.len);
        chain->number = parsed.has_number && parsed.number > 0 ? parsed.number - 1 : 0;
    }
    if (parsed.is_keyed)
        seal_line(link, key, chain->link, parsed.before);
    else
        digest_line(link, chain->link, parsed.before);
    if (memcmp(link, parsed.link.ptr, AUDIT_LINK_DIGITS) != 0 ||
        (parsed.has_number && parsed.number != chain->number + 1))
        return wt__fail(err, WT_EFORMAT, "line %llu does not follow from the line before it%s", number,
                        parsed.is_keyed ? ", or was written with another key" : "");
    memcpy(chain->link, link, sizeof link);
    chain->number++;
    chain->is_keyed = parsed.is_keyed;
    chain->has_number = parsed.has_number;
    return 0;
}

/* ---------------------------------------------------------------- head */

#define SEAL ",\"hmac\":\""
enum { HEAD_BYTES_MAX = 4096 };

static int name_head_file(struct buffer *out, const char *path, wt_error *err)
{
    wt__buffer_printf(out, "%s" AUDIT_HEAD_SUFFIX, path);
    return out->failed ? wt__fail_nomem(err) : 0;
}

/* Checks the HMAC of a head. The HMAC authenticates the part of `text` in front of it. */
static int check_seal(struct str text, const struct audit_key *key, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer mac = {0};
    const char *seal = memmem(text.ptr, text.len, SEAL, sizeof SEAL - 1);
    size_t len = seal ? (size_t)(seal - text.ptr) : 0;
    const size_t end = len + sizeof SEAL - 1 + AUDIT_LINK_DIGITS;
    if (!key)
        return wt__fail(err, WT_EINVAL, "the log has an HMAC; give its key with --audit-key FILE");
    put_line_hmac(&mac, key, (struct str){text.ptr, len});
    if (mac.failed)
        return wt__fail_nomem(err);
    bool fits =
        seal && text.len >= end && wt__same_secret(text.ptr + end - AUDIT_LINK_DIGITS, mac.ptr, AUDIT_LINK_DIGITS);
    return fits ? 0 : wt__fail(err, WT_EFORMAT, "written with another key, or changed");
}

static int parse_head_text(struct audit_head *out, struct str text, const struct audit_key *key, wt_error *err)
{
    json_auto_t *root = NULL;
    *out = (struct audit_head){0};
    WT_TRY(wt__json_parse(&root, text.ptr, text.len, err));
    const json_t *bytes = json_object_get(root, "bytes"), *number = json_object_get(root, "seq");
    struct str link = wt__json_str(root, "chain");
    const json_t *keyed = json_object_get(root, "keyed");
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || !json_is_integer(number) ||
        json_integer_value(number) < 0 || !json_is_boolean(keyed) || (link.len != 0 && link.len != AUDIT_LINK_DIGITS))
        return wt__fail(err, WT_EFORMAT, "not the head of an audit log");
    out->bytes = (uint64_t)json_integer_value(bytes);
    out->chain.number = (uint64_t)json_integer_value(number);
    out->chain.is_keyed = json_is_true(keyed);
    out->chain.has_number = out->chain.number > 0;
    memcpy(out->chain.link, link.ptr, link.len);
    return out->chain.is_keyed ? check_seal(text, key, err) : 0;
}

int wt__audit_head_read(struct audit_head *out, const char *path, const struct audit_key *key, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    wt_error why;
    struct stat info;
    WT_TRY(name_head_file(&name, path, err));
    if (lstat(name.ptr, &info) != 0 && errno == ENOENT)
        return 0;
    WT_TRY(wt__file_read(&text, &len, name.ptr, HEAD_BYTES_MAX, err));
    int rc = parse_head_text(out, (struct str){text, len}, key, &why);
    return rc < 0 ? wt__fail(err, rc, "%s: %s", name.ptr, why.message) : 1;
}

static void put_head(struct buffer *out, uint64_t bytes, const struct audit_chain *chain, const struct audit_key *key)
{
    wt__buffer_printf(out, "{\"bytes\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"chain\":\"%s\",\"keyed\":%s", bytes,
                      chain->number, chain->link, chain->is_keyed ? "true" : "false");
    if (chain->is_keyed && key) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer mac = {0};
        put_line_hmac(&mac, key, wt__buffer_view(out));
        wt__buffer_text(out, SEAL);
        wt__buffer_str(out, wt__buffer_view(&mac));
        wt__buffer_char(out, '"');
        out->failed |= mac.failed;
    }
    wt__buffer_text(out, "}\n");
}

/* Replaces the head file. Sets its mode to 0600, the mode of the log, since a replaced file gets 0644. */
static int replace_head(const char *name, struct str text, wt_error *err)
{
    WT_CLEANUP(wt__replace_abort) struct replace replace = {.fd = -1};
    WT_TRY(wt__replace_begin(&replace, name, err));
    if (fchmod(replace.fd, 0600) != 0)
        return wt__fail_errno(err, "write", name);
    WT_TRY(wt__replace_write(&replace, text.ptr, text.len, err));
    return wt__replace_commit(&replace, err);
}

int wt__audit_head_write(const char *path, uint64_t bytes, const struct audit_chain *chain, const struct audit_key *key,
                         wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0}, text = {0};
    struct audit_head old;
    int rc = wt__audit_head_read(&old, path, key, err);
    if (rc < 0 || (rc > 0 && old.chain.number >= chain->number))
        return rc < 0 ? rc : 0;
    WT_TRY(name_head_file(&name, path, err));
    put_head(&text, bytes, chain, key);
    return text.failed ? wt__fail_nomem(err) : replace_head(name.ptr, wt__buffer_view(&text), err);
}

/* ---------------------------------------------------------------- replay */

/* Returns a member of a line as text; NULL if it is missing or not a string. */
static const char *member_text(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

/* Returns 1 if the policy allows the tool, resource or prompt of the line, or 0 if not. Returns -1 if the policy cannot
 * decide the line: its principal or server is missing, or it names no resource, no prompt, and no tool with an
 * effect. */
static int decide_line(const json_t *line, const struct policy *policy)
{
    int effect = wt__effect_parse(wt__json_str(line, "effect"));
    const struct policy_question question = {.principal = member_text(line, "principal"),
                                             .profile = member_text(line, "profile"),
                                             .server = member_text(line, "server"),
                                             .tool = member_text(line, "tool"),
                                             .own_name = member_text(line, "own_name"),
                                             .effect = (enum effect)effect};
    if (!question.server || !question.principal)
        return -1;
    if (member_text(line, "uri") || member_text(line, "prompt"))
        return wt__policy_allows_server(policy, question.principal, question.profile, question.server);
    return question.tool && effect >= 0 ? wt__policy_allows(policy, &question) : -1;
}

/* Counts the line. If its decision was made with this revision of the policy, decides again and compares. number:
 * number of the line, stored in first_differing for the first difference. */
static void replay_line(const json_t *line, const struct policy *policy, size_t number, struct audit_replay *out)
{
    struct str decision = wt__json_str(line, "decision");
    bool was_denied = wt__str_equal(decision, STR("denied"));
    int allows = decide_line(line, policy);
    out->allowed += wt__str_equal(decision, STR("allowed"));
    out->denied += was_denied;
    out->ended += member_text(line, "outcome") != NULL;
    /* A tenant's lists may have denied what the policy allows. */
    if (allows < 0 || (was_denied && member_text(line, "tenant")))
        return;
    if (!wt__str_equal(wt__json_str(line, "policy"), wt__str(wt__policy_revision(policy)))) {
        out->other_revisions++;
        return;
    }
    out->replayed++;
    if (allows != was_denied)
        return;
    if (out->differing++ == 0)
        out->first_differing = number;
}

static int replay_text(struct audit_replay *out, struct str text, const struct audit_key *key,
                       const struct policy *policy, wt_error *err)
{
    json_auto_t *line = NULL;
    if (out->lines == 0)
        out->is_continued = wt__audit_continues(text).len > 0;
    WT_TRY(wt__audit_check_line(&out->chain, key, text, err));
    out->lines++;
    out->keyed += out->chain.is_keyed;
    if (wt__json_parse(&line, text.ptr, text.len, NULL) < 0)
        return wt__fail(err, WT_EFORMAT, "line %zu is not JSON", out->lines);
    replay_line(line, policy, out->lines, out);
    return 0;
}

int wt__audit_replay(struct audit_replay *replay, struct str text, const struct audit_key *key,
                     const struct policy *policy, wt_error *err)
{
    replay->files++;
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len, taken = len + (end != NULL);
        WT_TRY(replay_text(replay, (struct str){text.ptr, len}, key, policy, err));
        text = (struct str){text.ptr + taken, text.len - taken};
    }
    return 0;
}
