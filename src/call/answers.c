/* answers.c: finds the answers of a request, such as "target: kitchen". See argument_reader.h. */
#include "call/argument_reader.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "retrieve/words.h"

static bool is_joint(char c)
{
    return c == ' ' || c == '_' || c == '-';
}

size_t wt__match_value(struct str request, size_t start, struct str value)
{
    size_t at = start;
    for (size_t i = 0; i < value.len; i++, at++) {
        if (at >= request.len)
            return 0;
        char a = request.ptr[at], b = value.ptr[i];
        if (!(is_joint(a) && is_joint(b)) && strncasecmp(&a, &b, 1) != 0)
            return 0;
    }
    if (at < request.len && (request.ptr[at] | 0x20) == 's')
        at++; /* "adults" matches "adult" */
    return at < request.len && wt__is_word_byte(request.ptr[at]) ? 0 : at;
}

static bool ends_answer(struct str request, size_t at)
{
    char c = at < request.len ? request.ptr[at] : 0;
    bool ends_sentence = at + 1 >= request.len || wt__is_blank(request.ptr[at + 1]);
    return c == 0 || strchr(",;\n", c) || (strchr(".!?", c) && ends_sentence);
}

static bool is_assignment(struct str request, size_t at)
{
    return at < request.len && (request.ptr[at] == ':' || request.ptr[at] == '=');
}

static size_t skip_blanks(struct str request, size_t at)
{
    while (at < request.len && request.ptr[at] == ' ')
        at++;
    return at;
}

/* Returns the position after blanks, commas and one "and" between two items. */
static size_t skip_list_separator(struct str request, size_t at)
{
    while (at < request.len && (request.ptr[at] == ' ' || request.ptr[at] == ','))
        at++;
    size_t in = at;
    struct str word = wt__next_word(request, &in);
    bool joint = wt__str_equal(word, STR("and")) && word.ptr == request.ptr + at;
    return joint ? skip_blanks(request, in) : at;
}

static size_t find_answer_clause_end(struct str request, size_t at)
{
    size_t end = at;
    while (end - at <= ANSWER_BYTES && !ends_answer(request, end))
        end++;
    return end;
}

/* Returns the end of the literal at `at` if the clause ends there too; else `at`. */
static size_t find_literal_end(const struct literals *literals, size_t at)
{
    for (size_t l = 0; l < literals->len; l++)
        if (literals->items[l].start == at && ends_answer(literals->request, literals->items[l].end))
            return literals->items[l].end;
    return at;
}

/* True if the text at `at` is a further item of a list. Apart from "and", "or" and articles at its beginning, the item
 * has 1 to ANSWER_PART_WORDS words, of which the first is not a stop word. It has no ":" or "=". */
static bool continues_list(struct str request, size_t at)
{
    struct str part = {request.ptr + at, find_answer_clause_end(request, at) - at};
    static const char *const small[] = {"and", "or", "a", "an", "the"};
    size_t in = 0, count = 0;
    struct str first = wt__next_word(part, &in);
    while (wt__str_among(first, small, sizeof small / sizeof *small))
        first = wt__next_word(part, &in);
    if (first.len == 0 || wt__is_stopword_any_case(first) || memchr(part.ptr, ':', part.len) ||
        memchr(part.ptr, '=', part.len))
        return false;
    for (struct str word = first; word.len > 0; word = wt__next_word(part, &in))
        count++;
    return count <= ANSWER_PART_WORDS;
}

static size_t find_answer_end(const struct literals *literals, const struct parameter *parameter, size_t start)
{
    struct str request = literals->request;
    size_t end = find_literal_end(literals, start);
    end = end > start ? end : find_answer_clause_end(request, start);
    while (parameter->list && end < request.len && request.ptr[end] == ',' && end - start <= ANSWER_BYTES) {
        size_t next = skip_list_separator(request, end), behind = find_literal_end(literals, next);
        if (behind == next && !continues_list(request, next))
            break;
        end = behind > next ? behind : find_answer_clause_end(request, next);
    }
    return end;
}

/* True if only blanks precede `at` in its clause. */
static bool begins_clause(struct str request, size_t at)
{
    while (at > 0 && request.ptr[at - 1] == ' ')
        at--;
    return at == 0 || ends_answer(request, at - 1);
}

/* Reads the answer after a parameter's name, which occupies bytes name .. at - 1. The name must be followed by ":" or
 * "=", or the clause must consist of the name and one word that is not a stop word. Otherwise returns an empty
 * answer. */
static struct argument_answer read_answer_at(const struct literals *literals, const struct parameter *parameter,
                                             size_t name, size_t at)
{
    struct str request = literals->request;
    bool assigned = is_assignment(request, at);
    struct argument_answer answer = {.name = name, .start = skip_blanks(request, at + assigned), .assigned = assigned};
    answer.end = find_answer_end(literals, parameter, answer.start);
    struct str text = {request.ptr + answer.start, answer.end - answer.start};
    size_t in = 0;
    struct str word = wt__next_word(text, &in);
    bool one = word.len > 0 && word.len == text.len && !wt__is_stopword_any_case(word);
    bool answers = assigned || (one && begins_clause(request, name));
    return text.len > 0 && text.len <= ANSWER_BYTES && answers ? answer : (struct argument_answer){0};
}

static struct argument_answer find_answer(const struct literals *literals, const struct parameter *parameter)
{
    struct str request = literals->request;
    size_t at = 0;
    for (struct str word; (word = wt__next_word(request, &at)).len > 0;) {
        size_t start = (size_t)(word.ptr - request.ptr),
               end = wt__match_value(request, start, wt__str(parameter->name));
        bool within = false; /* true inside a literal, such as a quoted text or an address */
        for (size_t l = 0; end > 0 && l < literals->len; l++)
            within |= literals->items[l].start < start && start < literals->items[l].end;
        struct argument_answer answer = {0};
        if (end > 0 && end < request.len && !within)
            answer = read_answer_at(literals, parameter, start, end);
        if (answer.end > 0)
            return answer;
    }
    return (struct argument_answer){0};
}

void wt__answers_read(struct argument_answer *out, const struct literals *literals, const struct parameters *parameters)
{
    for (size_t p = 0; p < parameters->len; p++)
        out[p] = find_answer(literals, &parameters->items[p]);
    for (size_t p = 0; p < parameters->len; p++)
        for (size_t other = 0; other < parameters->len; other++)
            if (out[p].end > 0 && out[other].start == out[p].start && out[other].name < out[p].name)
                out[p] = (struct argument_answer){0};
}

bool wt__answer_declines(struct str text, const struct parameter *parameter)
{
    static const char *const none = "none";
    bool declines = wt__str_among(wt__str_trim(text), &none, 1);
    for (size_t i = 0; declines && i < json_array_size(parameter->values); i++) {
        const char *value = json_string_value(json_array_get(parameter->values, i));
        declines = !value || strcasecmp(value, none) != 0;
    }
    return declines;
}

struct str wt__next_answer_part(struct str text, size_t *at)
{
    static const char *const joints[] = {"and", "or"};
    static const char around[] = " []\"'`,&";
    while (*at < text.len && strchr(around, text.ptr[*at]))
        ++*at;
    size_t start = *at, end = start;
    for (; end < text.len && !strchr(",&", text.ptr[end]); end++) {
        size_t in = end + 1;
        struct str rest = {text.ptr, text.len}, word = wt__next_word(rest, &in);
        bool next = text.ptr[end] == ' ' && word.ptr == text.ptr + end + 1;
        if (next && wt__str_among(word, joints, sizeof joints / sizeof *joints)) {
            *at = in;
            break;
        }
    }
    *at = *at > end ? *at : end;
    while (end > start && strchr(around, text.ptr[end - 1]))
        end--;
    return (struct str){text.ptr + start, end - start};
}

static int append_answer(json_t *list, struct str text)
{
    json_t *item = wt__json_string(text);
    return item && json_array_append_new(list, item) == 0 ? 0 : WT_ENOMEM;
}

/* Returns the end of the JSON array at `at`, after the closing bracket; `at` if the array does not end on the same line
 * and within ANSWER_BYTES. */
static size_t find_array_end(struct str request, size_t at)
{
    bool quoted = false;
    for (size_t end = at + 1; end < request.len && request.ptr[end] != '\n' && end - at <= ANSWER_BYTES; end++) {
        char c = request.ptr[end];
        if (c == '"')
            quoted = !quoted;
        else if (quoted && c == '\\')
            end++;
        else if (!quoted && c == ']')
            return end + 1;
    }
    return at;
}

static int read_text_array(json_t *list, struct str text)
{
    json_t *array = NULL;
    int rc = wt__json_parse(&array, text.ptr, text.len, NULL);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++)
        rc = json_is_string(json_array_get(array, i)) ? 0 : WT_EFORMAT;
    if (rc == 0 && json_array_extend(list, array) < 0)
        rc = WT_ENOMEM;
    json_decref(array);
    return rc;
}

static const struct literal *find_quoted_at(const struct literals *literals, size_t at)
{
    for (size_t l = 0; l < literals->len; l++)
        if (literals->items[l].start == at && literals->items[l].kind == LITERAL_QUOTED)
            return &literals->items[l];
    return NULL;
}

/* True if the clause at `at` is not an assignment, and has a word that is not a stop word. */
static bool has_more_text(struct str request, size_t at)
{
    struct str clause = {request.ptr + at, find_answer_clause_end(request, at) - at};
    size_t in = 0;
    for (struct str word; (word = wt__next_word(clause, &in)).len > 0;)
        if (!wt__is_stopword_any_case(word))
            return !memchr(clause.ptr, ':', clause.len) && !memchr(clause.ptr, '=', clause.len);
    return false;
}

/* True if an unquoted text is a single item: the text has no second part, and no further item follows the text. */
static bool is_single_item(struct str request, struct str text)
{
    size_t at = 0;
    struct str part = wt__next_answer_part(text, &at), more = wt__next_answer_part(text, &at);
    size_t end = (size_t)(text.ptr - request.ptr) + text.len;
    bool goes_on = end < request.len && request.ptr[end] == ',' && has_more_text(request, end + 1);
    return part.len > 0 && more.len == 0 && !goes_on;
}

int wt__answer_read_texts(json_t *list, size_t *end, bool *sure, const struct literals *literals,
                          const struct argument_answer *answer)
{
    struct str request = literals->request;
    *sure = true;
    if (request.ptr[answer->start] == '[') {
        *end = find_array_end(request, answer->start);
        int rc = read_text_array(list, (struct str){request.ptr + answer->start, *end - answer->start});
        return rc == 0 && json_array_size(list) == 0 ? WT_EFORMAT : rc;
    }
    int rc = 0;
    *end = answer->start;
    for (const struct literal *item = find_quoted_at(literals, *end); rc == 0 && item;
         item = find_quoted_at(literals, skip_list_separator(request, *end))) {
        *end = item->end;
        rc = append_answer(list, item->text);
    }
    if (rc < 0 || *end > answer->start)
        return rc;
    *end = find_answer_clause_end(request, answer->start);
    struct str text = wt__str_trim((struct str){request.ptr + answer->start, *end - answer->start});
    *sure = is_single_item(request, (struct str){request.ptr + answer->start, *end - answer->start});
    return text.len > 0 && text.len <= ANSWER_BYTES ? append_answer(list, text) : WT_EFORMAT;
}

static bool is_parameter_name(struct str word, const struct parameters *parameters)
{
    for (size_t p = 0; p < parameters->len; p++) {
        struct str name = wt__str(parameters->items[p].name);
        if (name.len >= word.len &&
            wt__match_value((struct str){name.ptr + name.len - word.len, word.len}, 0, word) > 0)
            return true;
    }
    return false;
}

struct str wt__next_unknown_answer(struct str request, size_t *at, const struct parameters *parameters,
                                   struct str *value)
{
    for (struct str word; (word = wt__next_word(request, at)).len > 0;) {
        size_t start = (size_t)(word.ptr - request.ptr), before = start, end = start + word.len;
        while (before > 0 && request.ptr[before - 1] == ' ')
            before--;
        while (end < request.len && (request.ptr[end] == '_' || wt__is_word_byte(request.ptr[end])))
            end++;
        word.len = end - start;
        if (before == 0 || !strchr(",;\n", request.ptr[before - 1]) || !is_assignment(request, end) ||
            wt__is_stopword_any_case(word) || is_parameter_name(word, parameters))
            continue;
        size_t begin = skip_blanks(request, end + 1);
        *at = find_answer_clause_end(request, begin);
        *value = (struct str){request.ptr + begin, *at - begin};
        if (value->len > 0)
            return (struct str){word.ptr, *at - start};
    }
    return STR("");
}
