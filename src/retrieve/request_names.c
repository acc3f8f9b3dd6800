/* request_names.c: a request falls into tokens, at blanks and at signs that no name has inside. Three readings follow:
 *
 *   identifiers   of each token that is written as one: all of it, else the longest piece between its joints ('.', '/',
 *                 ':', "__") that is a name
 *   paths         of each token with method, host or open segments, by the fewest segments that have to stand for a
 *                 parameter
 *   cover         the tokens in names and fillers without anything left over, at the least cost; cheap, since a request
 *                 that is a sentence ends it at its first word that no name begins with
 *
 * Where the cover succeeds, its names count; else the identifiers and paths do. */
#include "retrieve/request_names.h"

#include <string.h>

#include "retrieve/path_name.h"
#include "retrieve/tool_names.h"
#include "text/analyser.h"
#include "text/name_hash.h"

enum {
    PIECES_MAX = 12,      /* of a token, between its joints */
    PATHS_MAX = 4,        /* of a request */
    PATH_SKIPPED_MAX = 2, /* first segments that only the request has: "/v1", "/api/v3" */
    PATH_VALUES_MAX = 8,  /* segments of a request that may be values */
    HINT_TOKENS = 3,      /* of a provider's name beside a tool's */
    HINTS_READ = 64       /* tokens that may be one, on either side */
};

struct token {
    size_t start, end;
    size_t parts;
    bool identifier;           /* written as no word of a sentence is */
    bool delimited;            /* more than blanks stand before it */
    struct request_name found; /* by itself, or with the method before it; run.count 0: none */
    size_t tokens;             /* that this is written in: 2 with a method */
};

struct reading {
    const struct names *names;
    struct str request;
    struct token *tokens; /* [count] */
    size_t count;
    size_t paths;     /* looked up so far */
    size_t providers; /* names beside which one was looked for so far */
};

/* ---------------------------------------------------------------- tokens */

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_one_of(char c, struct str signs)
{
    return memchr(signs.ptr, c, signs.len) != NULL;
}

/* Whether a sign can stand inside a name. */
static bool is_sign(char c)
{
    return is_one_of(c, STR("_-./:{}~@$%\\"));
}

static bool all_join(struct str between)
{
    size_t i = 0;
    while (i < between.len && is_sign(between.ptr[i]))
        i++;
    return i == between.len;
}

static bool has_delimiter(struct str between)
{
    for (size_t i = 0; i < between.len; i++)
        if (between.ptr[i] == '\n' || !wt__is_blank(between.ptr[i]))
            return true;
    return false;
}

static struct str slice(struct str text, size_t start, size_t end)
{
    return (struct str){text.ptr + start, end - start};
}

/* Where a token's piece ends that begins at `at`; *next: where the next one begins. */
static size_t piece_end(struct str token, size_t at, size_t *next)
{
    size_t end = at;
    while (end < token.len) {
        size_t signs = end;
        while (signs < token.len && is_sign(token.ptr[signs]))
            signs++;
        struct str between = slice(token, end, signs);
        bool joint = between.len > 1;
        for (size_t i = 0; i < between.len; i++)
            joint |= between.ptr[i] != '_' && between.ptr[i] != '-';
        if (joint) {
            *next = signs;
            return end;
        }
        end = signs > end ? signs : end + 1;
    }
    *next = token.len;
    return token.len;
}

/* With a sign, a digit or a capital inside; but "U.S." and "and/or" are words, too. */
static bool is_identifier(struct str token)
{
    enum { LETTERS = 3 }; /* of one of its pieces */
    size_t letters = 0;
    bool marked = false, readable = false;
    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i];
        bool capital = i > 0 && is_capital(c) && (is_small(token.ptr[i - 1]) || wt__is_digit(token.ptr[i - 1]));
        letters = is_sign(c) ? 0 : letters + 1;
        readable |= letters >= LETTERS;
        marked |= capital || wt__is_digit(c) || is_sign(c);
    }
    return marked && readable;
}

static int read_tokens(struct reading *reading, struct arena *arena, wt_error *err)
{
    struct str request = reading->request;
    size_t capacity = request.len / 2 + 1;
    struct word_part part = {0};
    capacity = capacity < REQUEST_TOKENS_MAX ? capacity : REQUEST_TOKENS_MAX;
    reading->tokens = wt__arena_array(arena, struct token, capacity);
    if (!reading->tokens)
        return wt__fail_nomem(err);
    while (wt__analyser_next_part(request, &part)) {
        struct token *last = reading->count > 0 ? &reading->tokens[reading->count - 1] : NULL;
        struct str between = slice(request, last ? last->end : 0, part.start);
        if (last && all_join(between)) {
            last->end = part.end;
            last->parts++;
            continue;
        }
        if (reading->count == capacity)
            break;
        reading->tokens[reading->count++] =
            (struct token){.start = part.start, .end = part.end, .parts = 1, .delimited = has_delimiter(between)};
    }
    for (size_t i = 0; i < reading->count; i++) {
        struct token *token = &reading->tokens[i];
        token->identifier = is_identifier(slice(request, token->start, token->end));
    }
    return 0;
}

/* ---------------------------------------------------------------- identifiers */

/* The name of that text, whose letters and digits lead to the state. */
static bool find_hash(const struct reading *reading, uint64_t state, struct str text, struct request_name *out)
{
    uint64_t hash = wt__name_hash_end(state);
    *out = (struct request_name){text, hash, wt__names_find(reading->names, hash), NAME_ANY_ROW, NAME_UNWRITTEN};
    return out->run.count > 0;
}

static bool look_up(const struct reading *reading, struct str text, struct request_name *out)
{
    return find_hash(reading, wt__name_hash_text(NAME_HASH_EMPTY, text), text, out);
}

/* Parts of the tokens that may be one name together. */
static size_t most_parts(const struct reading *reading)
{
    return reading->names->words < NAME_WORDS_MAX ? reading->names->words : NAME_WORDS_MAX;
}

/* The longest run of pieces that is a name, and of those of one length the last: "mcp__github__create_issue" is
 * create_issue of github before it is mcp__github. One piece has to look like a name, or stand behind "__". */
static bool find_pieces(const struct reading *reading, struct str token, struct request_name *out)
{
    size_t starts[PIECES_MAX], ends[PIECES_MAX], count = 0;
    for (size_t at = 0; at < token.len && count < PIECES_MAX; count++) {
        starts[count] = at;
        ends[count] = piece_end(token, starts[count], &at);
    }
    for (size_t len = count; len-- > 2;)
        for (size_t i = count - len + 1; i-- > 0;)
            if (look_up(reading, slice(token, starts[i], ends[i + len - 1]), out))
                return true;
    for (size_t i = count; i-- > 0;) {
        struct str piece = slice(token, starts[i], ends[i]);
        struct word_part part = {0};
        bool called = i > 0 && i + 1 == count && token.ptr[starts[i] - 1] == '_';
        size_t parts = 0;
        while (parts < 2 && wt__analyser_next_part(piece, &part))
            parts++;
        if ((called || parts == 2) && look_up(reading, piece, out))
            return true;
    }
    return false;
}

static bool find_identifier(const struct reading *reading, struct token *token)
{
    struct str text = slice(reading->request, token->start, token->end);
    token->tokens = 1;
    return look_up(reading, text, &token->found) || find_pieces(reading, text, &token->found);
}

/* ---------------------------------------------------------------- paths */

/* The run of a path whose segments `open` stand for parameters, by that method or by any. */
static bool look_up_path(const struct reading *reading, const struct path_name *path, size_t method, size_t first,
                         uint32_t open, struct request_name *out)
{
    for (size_t m = 0; m < PATH_METHODS; m++) {
        if (method < PATH_METHODS && m != method)
            continue;
        out->hash = wt__path_hash(path, m, first, open);
        out->run = wt__names_find(reading->names, out->hash);
        if (out->run.count > 0)
            return true;
    }
    return false;
}

/* Values may stand for parameters: those sets of segments are tried, the smallest first. One segment is no value. */
static bool look_up_values(const struct reading *reading, const struct path_name *path, size_t method, size_t first,
                           struct request_name *out)
{
    unsigned closed[PATH_VALUES_MAX], count = 0;
    for (size_t i = first; i < path->count; i++) {
        if (path->open >> i & 1)
            continue;
        if (count == PATH_VALUES_MAX)
            return look_up_path(reading, path, method, first, path->open, out);
        closed[count++] = (unsigned)i;
    }
    for (int values = 0; values < (int)count; values++)
        for (uint32_t set = 0; set < 1u << count; set++) {
            uint32_t open = path->open;
            for (unsigned i = 0; i < count; i++)
                open |= (set >> i & 1) << closed[i];
            if (__builtin_popcount(set) == values && look_up_path(reading, path, method, first, open, out))
                return true;
        }
    return false;
}

static size_t method_of(const struct reading *reading, size_t token)
{
    return wt__path_method(slice(reading->request, reading->tokens[token].start, reading->tokens[token].end));
}

static bool find_path(struct reading *reading, size_t at)
{
    struct token *token = &reading->tokens[at];
    struct str request = reading->request;
    size_t start = token->start;
    while (start > 0 && is_one_of(request.ptr[start - 1], STR("/{:")))
        start--;
    size_t end = token->end;
    while (end < request.len && request.ptr[end] == '}')
        end++;
    struct str text = slice(request, start, end);
    if (!memchr(text.ptr, '/', text.len))
        return false;
    bool told = at > 0 && method_of(reading, at - 1) < PATH_METHODS;
    bool path_like = told || memchr(text.ptr, '{', text.len) || memmem(text.ptr, text.len, "://", 3);
    struct path_name path;
    if (!path_like || reading->paths == PATHS_MAX || !wt__path_read(&path, text))
        return false;
    reading->paths++;
    size_t method = PATH_METHODS; /* the last one before it, at whatever distance */
    for (size_t i = at; i-- > 0 && method == PATH_METHODS;)
        method = method_of(reading, i);
    token->identifier = true;
    token->found = (struct request_name){.text = slice(request, told ? reading->tokens[at - 1].start : start, end),
                                         .row = NAME_ANY_ROW};
    token->tokens = told ? 2 : 1;
    for (size_t first = 0; first <= PATH_SKIPPED_MAX && first < path.count; first++)
        if (look_up_values(reading, &path, method, first, &token->found))
            return true;
    return false;
}

static void find_identifiers(struct reading *reading)
{
    for (size_t i = 0; i < reading->count; i++) {
        struct token *token = &reading->tokens[i];
        if (!find_path(reading, i) && (!token->identifier || !find_identifier(reading, token)))
            token->found = (struct request_name){.row = NAME_ANY_ROW};
    }
}

/* ---------------------------------------------------------------- which tool of a name */

/* The row of a name's tool of the provider that the tokens from `at` on name, or NAME_ANY_ROW. */
static uint32_t row_of_provider(const struct reading *reading, size_t at, struct str name)
{
    uint64_t state = NAME_HASH_EMPTY;
    for (size_t end = at; end < reading->count && end < at + HINT_TOKENS; end++) {
        const struct token *token = &reading->tokens[end];
        state = wt__name_hash_text(state, slice(reading->request, token->start, token->end));
        struct name_run run = wt__names_find(reading->names, wt__name_hash_end(wt__name_hash_text(state, name)));
        for (size_t i = run.first; i < run.first + run.count; i++)
            if (wt__name_kind(reading->names->entries[i]) == NAME_ID)
                return wt__name_row(reading->names->entries[i]);
    }
    return NAME_ANY_ROW;
}

/* Of several tools of one name that of the provider which is named nearest to it. */
static void find_provider(struct reading *reading, struct request_name *name)
{
    size_t begin = (size_t)(name->text.ptr - reading->request.ptr), end = begin + name->text.len, first = 0, last;
    if (name->run.count < 2 || reading->providers == REQUEST_PROVIDERS_MAX)
        return;
    reading->providers++;
    while (first < reading->count && reading->tokens[first].start < begin)
        first++;
    for (last = first; last < reading->count && reading->tokens[last].start < end;)
        last++;
    for (size_t far = 0; far < HINTS_READ && name->row == NAME_ANY_ROW; far++) {
        if (far < first)
            name->row = row_of_provider(reading, first - 1 - far, name->text);
        if (name->row == NAME_ANY_ROW && last + far < reading->count)
            name->row = row_of_provider(reading, last + far, name->text);
    }
}

static void find_written(const struct reading *reading, struct request_name *name)
{
    name->written = wt__name_hash_written(name->text);
    if (name->run.count < 2 || wt__names_find(reading->names, name->written).count == 0)
        name->written = NAME_UNWRITTEN;
}

/* Adds a name, unless it was said before and means the same. */
static void add(struct reading *reading, const struct request_name *name, struct request_name *items, size_t *count)
{
    struct request_name found = *name;
    if (*count == REQUEST_NAMES_MAX)
        return;
    find_provider(reading, &found);
    find_written(reading, &found);
    for (size_t i = 0; i < *count; i++)
        if (items[i].hash == found.hash && items[i].row == found.row)
            return;
    items[(*count)++] = found;
}

/* ---------------------------------------------------------------- cover */

/* What is said around names and says nothing of which tool is meant. */
static bool is_filler(struct str word)
{
    static const char *const words[] = {
        "a",      "also",   "an",    "and",     "another", "bitte", "both",     "call",      "can",    "could", "d",
        "do",     "e",      "et",    "execute", "first",   "for",   "function", "functions", "give",   "i",     "in",
        "invoke", "it",     "let",   "like",    "ll",      "load",  "me",       "need",      "next",   "of",    "oder",
        "or",     "please", "pls",   "plus",    "por",     "run",   "s",        "thank",     "thanks", "that",  "the",
        "then",   "them",   "these", "this",    "to",      "tool",  "tools",    "und",       "us",     "use",   "using",
        "want",   "we",     "with",  "would",   "y",       "you",   "your",     "favor",
    };
    char lower[16];
    bool digits = word.len > 0 && word.len <= 2;
    for (size_t i = 0; i < word.len; i++)
        digits = digits && wt__is_digit(word.ptr[i]);
    if (digits) /* of a list */
        return true;
    if (word.len >= sizeof lower)
        return false;
    for (size_t i = 0; i < word.len; i++)
        lower[i] = (char)(is_capital(word.ptr[i]) ? word.ptr[i] | 0x20 : word.ptr[i]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (wt__str_equal(wt__str(words[i]), (struct str){lower, word.len}))
            return true;
    return false;
}

enum { COST_FILLER = 3, COST_NAME = 4, COST_DELIMITER = 3, COST_NONE = 1 << 20 };

/* The cheapest way to have read the tokens before this one. */
struct step {
    int cost;
    size_t from;              /* the step before */
    struct request_name name; /* read last; run.count 0: a filler was */
};

static void reach(struct step *steps, size_t from, size_t to, int cost, const struct request_name *name)
{
    if (steps[from].cost + cost < steps[to].cost)
        steps[to] =
            (struct step){steps[from].cost + cost, from, name ? *name : (struct request_name){.row = NAME_ANY_ROW}};
}

/* Every name that begins with token `at`. */
static void reach_names(const struct reading *reading, struct step *steps, size_t at)
{
    const struct token *tokens = reading->tokens;
    uint64_t state = NAME_HASH_EMPTY;
    size_t parts = 0, most = most_parts(reading);
    int cost = COST_NAME;
    if (tokens[at].found.run.count > 0 && tokens[at].tokens == 1)
        reach(steps, at, at + 1, cost, &tokens[at].found);
    if (at + 1 < reading->count && tokens[at + 1].found.run.count > 0 && tokens[at + 1].tokens == 2)
        reach(steps, at, at + 2, cost, &tokens[at + 1].found);
    for (size_t end = at; end < reading->count; end++) {
        parts += tokens[end].parts;
        if (end > at && parts > most)
            return;
        cost += end > at && tokens[end].delimited ? COST_DELIMITER : 0;
        state = wt__name_hash_text(state, slice(reading->request, tokens[end].start, tokens[end].end));
        struct request_name name;
        if (find_hash(reading, state, slice(reading->request, tokens[at].start, tokens[end].end), &name))
            reach(steps, at, end + 1, cost, &name);
    }
}

static bool filler_at(const struct reading *reading, size_t at)
{
    const struct token *token = &reading->tokens[at];
    return is_filler(slice(reading->request, token->start, token->end));
}

/* A single plain word between others may mean anything; by itself it is the name. */
static bool stands_alone(const struct reading *reading, size_t at)
{
    const struct token *tokens = reading->tokens;
    return (at == 0 || tokens[at].delimited || filler_at(reading, at - 1)) &&
           (at + 1 == reading->count || tokens[at + 1].delimited || filler_at(reading, at + 1));
}

/* The names of the cheapest cover, if there is one, in order. */
static bool read_cover(struct reading *reading, const struct step *steps, struct request_names *out)
{
    size_t ends[COVER_TOKENS_MAX], count = 0;
    bool alone = true, sure = false;
    for (size_t at = reading->count; at > 0; at = steps[at].from) {
        if (steps[at].name.run.count == 0)
            continue;
        size_t from = steps[at].from;
        bool word = at == from + 1 && !reading->tokens[from].identifier;
        alone = alone && (!word || stands_alone(reading, from));
        sure = sure || !word;
        ends[count++] = at;
    }
    if (count == 0 || !(alone || sure))
        return false;
    while (count-- > 0)
        add(reading, &steps[ends[count]].name, out->items, &out->count);
    return true;
}

static int cover(struct reading *reading, struct arena *arena, struct request_names *out, wt_error *err)
{
    struct step *steps = wt__arena_array(arena, struct step, reading->count + 1);
    if (!steps)
        return wt__fail_nomem(err);
    for (size_t i = 1; i <= reading->count; i++)
        steps[i].cost = COST_NONE;
    steps[0].cost = 0;
    for (size_t at = 0; at < reading->count; at++) {
        if (steps[at].cost == COST_NONE)
            continue;
        if (filler_at(reading, at))
            reach(steps, at, at + 1, COST_FILLER, NULL);
        reach_names(reading, steps, at);
    }
    out->only = steps[reading->count].cost < COST_NONE && read_cover(reading, steps, out);
    return 0;
}

/* ---------------------------------------------------------------- spoken */

/* The longest name of several tokens that begins with token `at`. Returns the token behind it, or `at`. */
static size_t longest_name(const struct reading *reading, size_t at, struct request_name *out)
{
    uint64_t state = NAME_HASH_EMPTY;
    size_t parts = 0, behind = at, most = most_parts(reading);
    for (size_t end = at; end < reading->count; end++) {
        const struct token *token = &reading->tokens[end];
        struct request_name name;
        parts += token->parts;
        if (parts > most)
            break;
        state = wt__name_hash_text(state, slice(reading->request, token->start, token->end));
        if (end > at &&
            find_hash(reading, state, slice(reading->request, reading->tokens[at].start, token->end), &name)) {
            behind = end + 1;
            *out = name;
        }
    }
    return behind;
}

static void find_spoken(struct reading *reading, struct request_names *out)
{
    for (size_t at = 0, behind; at<reading->count; at = behind> at ? behind : at + 1) {
        struct request_name name;
        behind = longest_name(reading, at, &name);
        if (behind > at)
            add(reading, &name, out->spoken, &out->spoken_count);
    }
}

int wt__request_names(struct request_names *out, const struct names *names, struct str request, struct arena *arena,
                      wt_error *err)
{
    struct reading reading = {.names = names, .request = request};
    *out = (struct request_names){.count = 0};
    int rc = read_tokens(&reading, arena, err);
    if (rc < 0)
        return rc;
    find_identifiers(&reading);
    if (reading.count <= COVER_TOKENS_MAX)
        rc = cover(&reading, arena, out, err);
    for (size_t i = 0; !out->only && i < reading.count; i++)
        if (reading.tokens[i].found.run.count > 0)
            add(&reading, &reading.tokens[i].found, out->items, &out->count);
    if (!out->only && reading.count <= COVER_TOKENS_MAX)
        find_spoken(&reading, out);
    return rc;
}
