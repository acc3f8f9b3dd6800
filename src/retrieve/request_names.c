/* request_names.c: finds tool names in a request. The request is split into tokens, at blanks and at signs that names
 * do not contain. Three readings follow:
 *
 *   identifiers   For each token that looks like an identifier: the whole token, or else the longest sequence of its
 *                 pieces that is a name. Pieces are separated by joints ('.', '/', ':', "__").
 *   paths         For each token with a method, a host or open segments (tool_names.h): the tool path that matches with
 *                 the fewest segments read as parameter values.
 *   cover         The whole request as names and filler words, at minimum cost. This is fast, because the cover of an
 *                 ordinary sentence fails at the first word that is neither a filler nor the start of a name.
 *
 * If the cover succeeds, its names count; otherwise the identifiers and paths do. */
#include "retrieve/request_names.h"

#include <string.h>

#include "retrieve/tool_names.h"
#include "text/analyser.h"

enum {
    PIECES_MAX = 12,      /* pieces per token */
    PATHS_MAX = 4,        /* paths per request */
    PATH_SKIPPED_MAX = 2, /* leading segments that only the request has: "/v1", "/api/v3" */
    PATH_VALUES_MAX = 8,  /* segments of a request that may be values */
    HINT_TOKENS = 3,      /* tokens of a provider's name near a tool's name */
    HINTS_READ = 64       /* tokens on either side that are searched for a provider */
};

struct token {
    size_t start, end;
    size_t parts;
    bool identifier;           /* has a form that words of a sentence do not have */
    bool delimited;            /* more than blanks precede it */
    struct request_name found; /* name of this token, perhaps with the method before it; run.count is 0 if not found */
    size_t tokens;             /* length of `found` in tokens: 2 with a method */
};

struct name_reading {
    const struct name_index *names;
    struct str request;
    struct token *tokens; /* [count] */
    size_t count;
    size_t paths;     /* paths looked up so far */
    size_t providers; /* names with a provider lookup so far */
};

/* ---------------------------------------------------------------- tokens */

static bool is_one_of(char c, struct str signs)
{
    return memchr(signs.ptr, c, signs.len) != NULL;
}

/* True if the sign can occur inside a name. */
static bool is_sign(char c)
{
    return is_one_of(c, STR("_-./:{}~@$%\\"));
}

/* True if there are only signs of names between two word parts. */
static bool is_joined(struct str between)
{
    size_t i = 0;
    while (i < between.len && is_sign(between.ptr[i]))
        i++;
    return i == between.len;
}

/* True if there is more than blanks between two tokens, or a line break. */
static bool has_delimiter(struct str between)
{
    for (size_t i = 0; i < between.len; i++)
        if (between.ptr[i] == '\n' || !wt__is_blank(between.ptr[i]))
            return true;
    return false;
}

static struct str slice_request(struct str text, size_t start, size_t end)
{
    return (struct str){text.ptr + start, end - start};
}

/* Returns the end of the piece of a token that begins at `at`. *next: start of the next piece. */
static size_t find_piece_end(struct str token, size_t at, size_t *next)
{
    size_t end = at;
    while (end < token.len) {
        size_t signs = end;
        while (signs < token.len && is_sign(token.ptr[signs]))
            signs++;
        struct str between = slice_request(token, end, signs);
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

/* True for a token with a sign, a digit or an inner capital, if at least LETTERS characters follow each other
 * without a sign. "U.S." has only single letters, so it is not an identifier. */
static bool is_code_identifier(struct str token)
{
    enum { LETTERS = 3 }; /* minimum length of one run without signs */
    size_t letters = 0;
    bool marked = false, readable = false;
    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i], before = i > 0 ? token.ptr[i - 1] : 'A';
        bool capital = c >= 'A' && c <= 'Z' && ((before >= 'a' && before <= 'z') || wt__is_digit(before));
        letters = is_sign(c) ? 0 : letters + 1;
        readable |= letters >= LETTERS;
        marked |= capital || wt__is_digit(c) || is_sign(c);
    }
    return marked && readable;
}

static int read_name_tokens(struct name_reading *reading, struct arena *arena, wt_error *err)
{
    struct str request = reading->request;
    size_t capacity = request.len / 2 + 1;
    struct word_part part = {0};
    capacity = capacity < REQUEST_TOKENS_MAX ? capacity : REQUEST_TOKENS_MAX;
    reading->tokens = wt__arena_array(arena, struct token, capacity);
    WT_CHECK_ALLOC(reading->tokens, err);
    while (wt__analyser_next_part(request, &part)) {
        struct token *last = reading->count > 0 ? &reading->tokens[reading->count - 1] : NULL;
        struct str between = slice_request(request, last ? last->end : 0, part.start);
        if (last && is_joined(between)) {
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
        token->identifier = is_code_identifier(slice_request(request, token->start, token->end));
    }
    return 0;
}

/* ---------------------------------------------------------------- identifiers */

/* Looks up the name with this hash state. text: the name as written in the request. */
static bool find_hash(const struct name_reading *reading, uint64_t state, struct str text, struct request_name *out)
{
    uint64_t hash = wt__name_hash_end(state);
    *out = (struct request_name){text, hash, wt__names_find(reading->names, hash), NAME_ANY_ROW, NAME_UNWRITTEN};
    return out->run.count > 0;
}

static bool look_up_name(const struct name_reading *reading, struct str text, struct request_name *out)
{
    return find_hash(reading, wt__name_hash_text(NAME_HASH_EMPTY, text), text, out);
}

/* Returns the maximum number of word parts of one name. */
static size_t max_name_parts(const struct name_reading *reading)
{
    return reading->names->words < NAME_WORDS_MAX ? reading->names->words : NAME_WORDS_MAX;
}

/* Finds the longest sequence of pieces that is a name. Of several sequences with the same length, the last one wins.
 * In "mcp__github__create_issue", github__create_issue is tried first, then mcp__github, then create_issue. A single
 * piece must have at least two word parts, or be the last piece and follow "__". */
static bool find_pieces(const struct name_reading *reading, struct str token, struct request_name *out)
{
    size_t starts[PIECES_MAX], ends[PIECES_MAX], count = 0;
    for (size_t at = 0; at < token.len && count < PIECES_MAX; count++) {
        starts[count] = at;
        ends[count] = find_piece_end(token, starts[count], &at);
    }
    for (size_t len = count; len-- > 2;)
        for (size_t i = count - len + 1; i-- > 0;)
            if (look_up_name(reading, slice_request(token, starts[i], ends[i + len - 1]), out))
                return true;
    for (size_t i = count; i-- > 0;) {
        struct str piece = slice_request(token, starts[i], ends[i]);
        struct word_part part = {0};
        bool called = i > 0 && i + 1 == count && token.ptr[starts[i] - 1] == '_';
        size_t parts = 0;
        while (parts < 2 && wt__analyser_next_part(piece, &part))
            parts++;
        if ((called || parts == 2) && look_up_name(reading, piece, out))
            return true;
    }
    return false;
}

static bool find_identifier(const struct name_reading *reading, struct token *token)
{
    struct str text = slice_request(reading->request, token->start, token->end);
    token->tokens = 1;
    return look_up_name(reading, text, &token->found) || find_pieces(reading, text, &token->found);
}

/* ---------------------------------------------------------------- paths */

/* Looks up a path whose segments `open` are parameters, with the given method or with any. */
static bool look_up_path(const struct name_reading *reading, const struct path_name *path, size_t method, size_t first,
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

/* Looks up a path with sets of segments as parameter values, smallest sets first. A path must keep one literal
 * segment. */
static bool look_up_values(const struct name_reading *reading, const struct path_name *path, size_t method,
                           size_t first, struct request_name *out)
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

static size_t read_token_method(const struct name_reading *reading, size_t token)
{
    return wt__path_method(slice_request(reading->request, reading->tokens[token].start, reading->tokens[token].end));
}

/* Looks up the path of a token. Returns false if the token is not a path or no tool has the path. */
static bool find_path(struct name_reading *reading, size_t at)
{
    struct token *token = &reading->tokens[at];
    struct str request = reading->request;
    size_t start = token->start;
    while (start > 0 && is_one_of(request.ptr[start - 1], STR("/{:")))
        start--;
    size_t end = token->end;
    while (end < request.len && request.ptr[end] == '}')
        end++;
    struct str text = slice_request(request, start, end);
    if (!memchr(text.ptr, '/', text.len))
        return false;
    bool told = at > 0 && read_token_method(reading, at - 1) < PATH_METHODS;
    bool path_like = told || memchr(text.ptr, '{', text.len) || memmem(text.ptr, text.len, "://", 3);
    struct path_name path;
    if (!path_like || reading->paths == PATHS_MAX || !wt__path_read(&path, text))
        return false;
    reading->paths++;
    size_t method = PATH_METHODS; /* the nearest method before the path */
    for (size_t i = at; i-- > 0 && method == PATH_METHODS;)
        method = read_token_method(reading, i);
    token->identifier = true;
    token->found = (struct request_name){
        .text = slice_request(request, told ? reading->tokens[at - 1].start : start, end), .row = NAME_ANY_ROW};
    token->tokens = told ? 2 : 1;
    for (size_t first = 0; first <= PATH_SKIPPED_MAX && first < path.count; first++)
        if (look_up_values(reading, &path, method, first, &token->found))
            return true;
    return false;
}

static void find_identifiers(struct name_reading *reading)
{
    for (size_t i = 0; i < reading->count; i++) {
        struct token *token = &reading->tokens[i];
        if (!find_path(reading, i) && (!token->identifier || !find_identifier(reading, token)))
            token->found = (struct request_name){.row = NAME_ANY_ROW};
    }
}

/* ---------------------------------------------------------------- choice among tools with one name */

/* Returns the row of the tool with this name and a provider named from token `at` on, or NAME_ANY_ROW. */
static uint32_t find_provider_row(const struct name_reading *reading, size_t at, struct str name)
{
    uint64_t state = NAME_HASH_EMPTY;
    for (size_t end = at; end < reading->count && end < at + HINT_TOKENS; end++) {
        const struct token *token = &reading->tokens[end];
        state = wt__name_hash_text(state, slice_request(reading->request, token->start, token->end));
        struct name_run run = wt__names_find(reading->names, wt__name_hash_end(wt__name_hash_text(state, name)));
        for (size_t i = run.first; i < run.first + run.count; i++)
            if (wt__name_kind(reading->names->entries[i]) == NAME_ID)
                return wt__name_row(reading->names->entries[i]);
    }
    return NAME_ANY_ROW;
}

/* Sets the row of a name with several tools to the tool of the nearest provider named in the request. */
static void find_provider(struct name_reading *reading, struct request_name *name)
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
            name->row = find_provider_row(reading, first - 1 - far, name->text);
        if (name->row == NAME_ANY_ROW && last + far < reading->count)
            name->row = find_provider_row(reading, last + far, name->text);
    }
}

/* Sets `written` if several tools have the name and some of them this exact spelling. */
static void find_written_name(const struct name_reading *reading, struct request_name *name)
{
    name->written = wt__name_hash_written(name->text);
    if (name->run.count < 2 || wt__names_find(reading->names, name->written).count == 0)
        name->written = NAME_UNWRITTEN;
}

/* Adds a name, unless the list has it for the same tool. */
static void add_request_name(struct name_reading *reading, const struct request_name *name, struct request_name *items,
                             size_t *count)
{
    struct request_name found = *name;
    if (*count == REQUEST_NAMES_MAX)
        return;
    find_provider(reading, &found);
    find_written_name(reading, &found);
    for (size_t i = 0; i < *count; i++)
        if (items[i].hash == found.hash && items[i].row == found.row)
            return;
    items[(*count)++] = found;
}

/* ---------------------------------------------------------------- cover */

/* True for words that occur around names and do not distinguish tools, and for the number of a list item. */
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
    bool list_number = word.len > 0 && word.len <= 2;
    for (size_t i = 0; i < word.len; i++)
        list_number = list_number && wt__is_digit(word.ptr[i]);
    return list_number || wt__str_among(word, words, sizeof words / sizeof *words);
}

enum { COST_FILLER = 3, COST_NAME = 4, COST_DELIMITER = 3, COST_NONE = 1 << 20 };

/* Cheapest reading of the tokens before a token. */
struct cover_step {
    int cost;
    size_t from;              /* previous step */
    struct request_name name; /* name read last; run.count is 0 for a filler */
};

static void extend_reading(struct cover_step *steps, size_t from, size_t to, int cost, const struct request_name *name)
{
    if (steps[from].cost + cost < steps[to].cost)
        steps[to] = (struct cover_step){steps[from].cost + cost, from,
                                        name ? *name : (struct request_name){.row = NAME_ANY_ROW}};
}

/* Extends the reading by every name that begins at token `at`. */
static void extend_by_names(const struct name_reading *reading, struct cover_step *steps, size_t at)
{
    const struct token *tokens = reading->tokens;
    uint64_t state = NAME_HASH_EMPTY;
    size_t parts = 0, most = max_name_parts(reading);
    int cost = COST_NAME;
    if (tokens[at].found.run.count > 0 && tokens[at].tokens == 1)
        extend_reading(steps, at, at + 1, cost, &tokens[at].found);
    if (at + 1 < reading->count && tokens[at + 1].found.run.count > 0 && tokens[at + 1].tokens == 2)
        extend_reading(steps, at, at + 2, cost, &tokens[at + 1].found);
    for (size_t end = at; end < reading->count; end++) {
        parts += tokens[end].parts;
        if (end > at && parts > most)
            return;
        cost += end > at && tokens[end].delimited ? COST_DELIMITER : 0;
        state = wt__name_hash_text(state, slice_request(reading->request, tokens[end].start, tokens[end].end));
        struct request_name name;
        if (find_hash(reading, state, slice_request(reading->request, tokens[at].start, tokens[end].end), &name))
            extend_reading(steps, at, end + 1, cost, &name);
    }
}

static bool is_filler_token(const struct name_reading *reading, size_t at)
{
    const struct token *token = &reading->tokens[at];
    return is_filler(slice_request(reading->request, token->start, token->end));
}

/* True if delimiters or fillers surround the token. A plain word next to other words is ambiguous; alone it is a
 * name. */
static bool is_isolated_token(const struct name_reading *reading, size_t at)
{
    const struct token *tokens = reading->tokens;
    return (at == 0 || tokens[at].delimited || is_filler_token(reading, at - 1)) &&
           (at + 1 == reading->count || tokens[at + 1].delimited || is_filler_token(reading, at + 1));
}

/* Reads the names of the cheapest cover in order. False if the cover has no name. Also false if every name is a
 * single plain word and one of them is not isolated. */
static bool read_cover(struct name_reading *reading, const struct cover_step *steps, struct request_names *out)
{
    size_t ends[COVER_TOKENS_MAX], count = 0;
    bool alone = true, sure = false;
    for (size_t at = reading->count; at > 0; at = steps[at].from) {
        if (steps[at].name.run.count == 0)
            continue;
        size_t from = steps[at].from;
        bool word = at == from + 1 && !reading->tokens[from].identifier;
        alone = alone && (!word || is_isolated_token(reading, from));
        sure = sure || !word;
        ends[count++] = at;
    }
    if (count == 0 || !(alone || sure))
        return false;
    while (count-- > 0)
        add_request_name(reading, &steps[ends[count]].name, out->items, &out->count);
    return true;
}

static int cover_request(struct name_reading *reading, struct arena *arena, struct request_names *out, wt_error *err)
{
    struct cover_step *steps = wt__arena_array(arena, struct cover_step, reading->count + 1);
    WT_CHECK_ALLOC(steps, err);
    for (size_t i = 1; i <= reading->count; i++)
        steps[i].cost = COST_NONE;
    steps[0].cost = 0;
    for (size_t at = 0; at < reading->count; at++) {
        if (steps[at].cost == COST_NONE)
            continue;
        if (is_filler_token(reading, at))
            extend_reading(steps, at, at + 1, COST_FILLER, NULL);
        extend_by_names(reading, steps, at);
    }
    out->only = steps[reading->count].cost < COST_NONE && read_cover(reading, steps, out);
    return 0;
}

/* ---------------------------------------------------------------- spoken */

/* Finds the longest name of several tokens that begins at token `at`. Returns the token after it, or `at`. */
static size_t find_longest_name(const struct name_reading *reading, size_t at, struct request_name *out)
{
    uint64_t state = NAME_HASH_EMPTY;
    size_t parts = 0, behind = at, most = max_name_parts(reading);
    for (size_t end = at; end < reading->count; end++) {
        const struct token *token = &reading->tokens[end];
        struct request_name name;
        parts += token->parts;
        if (parts > most)
            break;
        state = wt__name_hash_text(state, slice_request(reading->request, token->start, token->end));
        if (end > at &&
            find_hash(reading, state, slice_request(reading->request, reading->tokens[at].start, token->end), &name)) {
            behind = end + 1;
            *out = name;
        }
    }
    return behind;
}

/* Collects the longest names of several words in a sentence, from left to right. */
static void find_spoken(struct name_reading *reading, struct request_names *out)
{
    for (size_t at = 0, behind; at<reading->count; at = behind> at ? behind : at + 1) {
        struct request_name name;
        behind = find_longest_name(reading, at, &name);
        if (behind > at)
            add_request_name(reading, &name, out->spoken, &out->spoken_count);
    }
}

int wt__request_names(struct request_names *out, const struct name_index *names, struct str request,
                      struct arena *arena, wt_error *err)
{
    struct name_reading reading = {.names = names, .request = request};
    *out = (struct request_names){.count = 0};
    WT_TRY(read_name_tokens(&reading, arena, err));
    find_identifiers(&reading);
    if (reading.count <= COVER_TOKENS_MAX)
        WT_TRY(cover_request(&reading, arena, out, err));
    for (size_t i = 0; !out->only && i < reading.count; i++)
        if (reading.tokens[i].found.run.count > 0)
            add_request_name(&reading, &reading.tokens[i].found, out->items, &out->count);
    if (!out->only && reading.count <= COVER_TOKENS_MAX)
        find_spoken(&reading, out);
    return 0;
}
