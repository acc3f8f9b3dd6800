/* alternatives.c: inserts the words that tools use next to everyday words (alternatives.h).
 *
 * The table is handwritten. A row stays if its alternatives are in the needed tools of training/requests clearly more
 * often than in others, or if too few requests have the phrase to tell. */
#include "retrieve/alternatives.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "retrieve/words.h"

enum { GAP_MAX = 4 /* words between a verb and its particle */ };

/* Phrases, ordered by their first letter. A '~' separates a verb from its particle. Other words may stand between them,
 * and the verb may be inflected ("called off"). The last word of other phrases may be a plural. */
static const struct {
    const char *phrase, *alternatives;
} rows[] = {
    {"address book", "contacts"},
    {"alarm", "alert"},
    {"away message", "vacation autoreply"},
    {"back~up", "backup"},
    {"bill", "invoice"},
    {"bin", "trash"},
    {"block~off", "reserve"},
    {"blurb", "summary abstract"},
    {"boot~out", "remove kick"},
    {"box", "server"},
    {"bring~back", "restore"},
    {"bring~up", "show open"},
    {"bug", "issue ticket"},
    {"bunch", "batch"},
    {"buttons", "actions"},
    {"call~off", "cancel"},
    {"call~up", "get"},
    {"canned answer", "template"},
    {"cash", "balance payment"},
    {"cash~out", "withdraw"},
    {"change~back", "revert"},
    {"chargeback", "dispute"},
    {"chat", "conversation message"},
    {"chip~in", "contribute donate"},
    {"chum", "friend"},
    {"clean~out", "clear delete"},
    {"clean~up", "delete"},
    {"clear~out", "delete empty"},
    {"clip", "video"},
    {"close~down", "close"},
    {"colleague", "member user"},
    {"coworker", "member user"},
    {"crew", "team"},
    {"customer list", "customers contacts"},
    {"cut~back", "reduce"},
    {"cv", "resume"},
    {"data centre", "region"},
    {"deadline", "due date"},
    {"deal", "opportunity"},
    {"deal~out", "distribute"},
    {"diary", "calendar"},
    {"dig~out", "search"},
    {"dig~up", "search"},
    {"disk", "file volume"},
    {"doc", "document"},
    {"door key", "access"},
    {"drop~off", "deliver"},
    {"drop~out", "leave unsubscribe"},
    {"fill~out", "submit"},
    {"fire~off", "send"},
    {"fire~up", "start launch"},
    {"fish~out", "retrieve"},
    {"folder", "directory label"},
    {"gathering", "event"},
    {"get~back to", "reply"},
    {"get~hold of", "contact"},
    {"get~rid of", "delete remove"},
    {"gig", "event"},
    {"give~away", "transfer"},
    {"give~back", "refund return"},
    {"give~out", "assign"},
    {"grade", "score"},
    {"group chat", "channel"},
    {"guy", "user"},
    {"hand~back", "return"},
    {"hand~out", "assign distribute"},
    {"hand~over", "transfer assign"},
    {"hang~up", "end"},
    {"help~out", "assist"},
    {"hiring", "recruiting candidate"},
    {"hold~back", "pause"},
    {"hold~off", "pause"},
    {"home page", "site"},
    {"hook~up", "connect integrate"},
    {"hop~over to", "switch"},
    {"house rules", "moderation policy"},
    {"hurry~up", "speed"},
    {"inbox", "messages"},
    {"jot~down", "create note"},
    {"keep~an eye on", "watch monitor"},
    {"keep~out", "block"},
    {"key", "token credential"},
    {"kick~off", "start trigger"},
    {"kick~out", "remove"},
    {"knock~off", "remove"},
    {"laptop", "device"},
    {"lay~off", "terminate"},
    {"lay~out", "arrange"},
    {"leave~a message", "send message"},
    {"let~into", "grant access"},
    {"let~see", "share access"},
    {"light~up", "turn on"},
    {"line~up", "queue"},
    {"link", "url"},
    {"list of songs", "playlist"},
    {"listen~in", "subscribe"},
    {"lock~down", "restrict"},
    {"lock~out", "disable block"},
    {"login", "credential session"},
    {"log~out", "revoke session"},
    {"look~for", "search"},
    {"look~over", "review"},
    {"look~through", "search list"},
    {"machine", "server instance"},
    {"mail", "message email"},
    {"make~a copy", "copy duplicate"},
    {"make~a note", "create note"},
    {"make~out", "create"},
    {"make~public", "publish"},
    {"make~up", "generate"},
    {"mark~down", "discount"},
    {"mark~off", "complete"},
    {"mates", "friends"},
    {"meetup", "event"},
    {"mix~up", "shuffle"},
    {"money", "balance payment"},
    {"nail~down", "schedule"},
    {"net", "network"},
    {"news", "articles"},
    {"note", "comment"},
    {"note~down", "create note"},
    {"nudge", "reminder"},
    {"outage", "incident"},
    {"paper", "document"},
    {"parcel", "shipment package"},
    {"password", "secret credential"},
    {"pass~along", "forward"},
    {"pass~on", "forward"},
    {"payday", "payroll"},
    {"pay~back", "refund"},
    {"pay~into", "deposit"},
    {"pay~off", "pay"},
    {"person in charge", "assignee owner"},
    {"phone~up", "call"},
    {"pic", "image photo"},
    {"pick~out", "select"},
    {"picture", "image"},
    {"pile~up", "queue"},
    {"ping", "notification"},
    {"pin~down", "locate"},
    {"plan", "subscription"},
    {"plug~in", "connect install"},
    {"point~at", "update set"},
    {"point~to", "update set"},
    {"popup", "dialog"},
    {"postcode", "zip"},
    {"price tag", "price"},
    {"programme", "schedule"},
    {"pull~apart", "split"},
    {"pull~down", "download remove"},
    {"pull~out", "extract"},
    {"pull~up", "open get"},
    {"push~back", "reschedule postpone"},
    {"push~out", "deploy publish"},
    {"push~through", "approve"},
    {"put~down", "record create"},
    {"put~forward", "propose"},
    {"put~in", "add"},
    {"put~into", "add move"},
    {"put~off", "postpone reschedule"},
    {"put~on hold", "pause"},
    {"put~on the", "add"},
    {"put~out", "publish"},
    {"put~through", "connect"},
    {"put~together", "create compile"},
    {"put~up", "post publish"},
    {"rates", "prices"},
    {"reel", "video"},
    {"ring~up", "call"},
    {"roll~back", "revert restore"},
    {"roll~out", "deploy"},
    {"room", "channel"},
    {"routine", "automation"},
    {"rule~out", "exclude"},
    {"run~by", "share"},
    {"run~down", "summary"},
    {"schedule", "calendar"},
    {"scratch~off", "remove"},
    {"send~back", "return"},
    {"send~off", "send"},
    {"send~out", "send"},
    {"set~aside", "reserve"},
    {"set~back", "revert"},
    {"set~up", "create configure"},
    {"shot", "image"},
    {"shut~off", "disable stop"},
    {"shut~out", "block"},
    {"sign-up sheet", "form"},
    {"sign~in", "login"},
    {"sign~off", "approve"},
    {"sign~out", "logout revoke session"},
    {"sign~up", "register subscribe create"},
    {"single~out", "select"},
    {"slide deck", "presentation"},
    {"smiley", "emoji reaction"},
    {"song list", "playlist"},
    {"songs", "tracks"},
    {"sort~out", "resolve"},
    {"speed~up", "increase"},
    {"spell~out", "describe"},
    {"spin~down", "stop"},
    {"spin~up", "create start"},
    {"spot", "location"},
    {"squeeze~in", "schedule"},
    {"staff", "employees"},
    {"stand-in", "delegate"},
    {"step~down", "leave"},
    {"store card", "loyalty"},
    {"strike~off", "remove"},
    {"strike~out", "remove"},
    {"summary", "report"},
    {"sum~up", "summarize"},
    {"swap~out", "replace"},
    {"swap~over", "replace"},
    {"switch~off", "disable"},
    {"switch~on", "enable"},
    {"switch~over", "switch"},
    {"take~away", "remove revoke"},
    {"take~back", "undo remove"},
    {"take~down", "delete remove"},
    {"take~off", "remove"},
    {"take~out", "remove"},
    {"talk", "conversation"},
    {"teammate", "member"},
    {"tear~down", "delete destroy"},
    {"telly", "tv"},
    {"tell~apart", "compare"},
    {"thing to do", "task"},
    {"thread", "conversation"},
    {"throw~away", "delete"},
    {"throw~in", "add"},
    {"throw~out", "remove delete"},
    {"thumbs up", "like reaction"},
    {"thumbs-up", "reaction"},
    {"tick~off", "complete"},
    {"tidy~up", "clean archive"},
    {"to-do", "task"},
    {"todo", "task"},
    {"touch~up", "edit"},
    {"track~down", "search find"},
    {"trade~in", "exchange"},
    {"try~again", "retry"},
    {"try~out", "test"},
    {"turn~away", "reject decline"},
    {"turn~back on", "enable"},
    {"turn~down", "decline reduce"},
    {"turn~into", "convert"},
    {"turn~off", "disable"},
    {"turn~on", "enable"},
    {"turn~over", "transfer"},
    {"type~up", "transcribe"},
    {"upvote", "vote like"},
    {"vm", "virtual machine"},
    {"vote", "poll"},
    {"voucher", "coupon"},
    {"wake~up", "start resume"},
    {"web address", "url"},
    {"weed~out", "filter"},
    {"whip~up", "create"},
    {"wind~down", "stop"},
    {"wipe~out", "delete"},
    {"wire~up", "connect"},
    {"word count", "statistics"},
    {"workmate", "colleague user"},
    {"work~out", "calculate"},
    {"wrap~up", "complete close"},
    {"write~back", "reply"},
    {"write~down", "create note"},
    {"write~off", "uncollectible"},
    {"write~out", "transcribe"},
    {"write~to", "send message"},
    {"write~up", "create"},
    {"zero~out", "reset"},
    {"zoom~in", "scale"},
};

/* True if the word is the first `len` bytes of `form` with one of the endings, or without an ending. */
static bool is_form(struct str word, const char *form, size_t len, const char *endings)
{
    char ending[WORD_LISTED_MAX] = "";
    if (word.len < len || word.len - len + 1 > sizeof ending)
        return false;
    for (size_t i = 0; i < len; i++)
        if (wt__lower_ascii(word.ptr[i]) != form[i])
            return false;
    for (size_t i = len; i < word.len; i++)
        ending[i - len] = wt__lower_ascii(word.ptr[i]);
    return word.len == len || wt__is_listed(ending, endings);
}

/* Reads the next word of the same clause, and moves *at behind it. Empty if a sign or the end comes first. */
static struct str next_clause_word(struct str text, size_t *at)
{
    static const char signs[] = ",;:?!()\n";
    size_t start = *at;
    struct str word = wt__next_word(text, at);
    for (size_t i = start; word.len > 0 && i < (size_t)(word.ptr - text.ptr); i++)
        if (memchr(signs, text.ptr[i], sizeof signs - 1))
            return (struct str){0};
    return word;
}

/* True if the words from `at` on begin with the rest of a phrase, such as "rid of". */
static bool follows(struct str text, size_t at, const char *rest)
{
    while (*rest) {
        size_t len = strcspn(rest, " ");
        bool last = rest[len] == '\0';
        struct str word = next_clause_word(text, &at);
        if (word.len == 0 || !is_form(word, rest, len, last ? " s es " : " "))
            return false;
        rest += len + !last;
    }
    return true;
}

/* True if a phrase begins with this word, which ends at `at`. */
static bool is_phrase(struct str text, struct str word, size_t at, const char *phrase)
{
    size_t len = strcspn(phrase, " ~");
    bool verb = phrase[len] == '~';
    if (!is_form(word, phrase, len, verb ? " s es ed d ing " : phrase[len] ? " " : " s es "))
        return false;
    if (!phrase[len])
        return true;
    for (size_t gap = 0; gap <= (verb ? GAP_MAX : 0); gap++) {
        if (follows(text, at, phrase + len + 1))
            return true;
        if (next_clause_word(text, &at).len == 0)
            return false;
    }
    return false;
}

/* Returns the alternatives of the longest phrase that begins with this word, or NULL. */
static const char *find_alternatives(struct str text, struct str word, size_t at)
{
    const size_t count = sizeof rows / sizeof *rows;
    const char *found = NULL, letter = wt__lower_ascii(word.ptr[0]);
    size_t first = 0, end = count, longest = 0;
    while (first < end) { /* finds the first row with this letter */
        size_t middle = (first + end) / 2;
        if (rows[middle].phrase[0] < letter)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t i = first; i < count && rows[i].phrase[0] == letter; i++) {
        size_t len = strlen(rows[i].phrase);
        if (len <= longest || !is_phrase(text, word, at, rows[i].phrase))
            continue;
        found = rows[i].alternatives;
        longest = len;
    }
    return found;
}

int wt__alternatives_insert(struct expanded_text *out, struct str text, struct arena *arena, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer expanded = {0};
    size_t copied = 0, at = 0;
    *out = (struct expanded_text){.text = text};
    for (struct str word; out->count < EXPANSIONS_MAX && (word = wt__next_word(text, &at)).len > 0;) {
        const char *alternatives = find_alternatives(text, word, at);
        if (!alternatives)
            continue;
        size_t place = (size_t)(word.ptr - text.ptr);
        wt__buffer_str(&expanded, (struct str){text.ptr + copied, place - copied});
        size_t before = expanded.len;
        wt__buffer_printf(&expanded, "(%s) ", alternatives);
        out->at[out->count] = copied = place;
        out->lengths[out->count++] = expanded.len - before;
    }
    if (out->count == 0)
        return 0;
    wt__buffer_str(&expanded, (struct str){text.ptr + copied, text.len - copied});
    const char *copy = expanded.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&expanded));
    WT_CHECK_ALLOC(copy, err);
    out->text = wt__str(copy);
    return 0;
}

struct str wt__expanded_part(const struct expanded_text *expanded, size_t from, size_t len)
{
    size_t start = from, end = from + len;
    for (size_t i = 0; i < expanded->count; i++) {
        start += expanded->at[i] < from ? expanded->lengths[i] : 0;
        end += expanded->at[i] < from + len ? expanded->lengths[i] : 0;
    }
    return (struct str){expanded->text.ptr + start, end - start};
}

struct str wt__inserted_part(const struct expanded_text *expanded, size_t i)
{
    size_t start = expanded->at[i];
    for (size_t before = 0; before < i; before++)
        start += expanded->lengths[before];
    return (struct str){expanded->text.ptr + start, expanded->lengths[i]};
}
