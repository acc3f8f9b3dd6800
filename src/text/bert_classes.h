/* bert_classes.h: BERT's classes of code points. */
#ifndef WT_TEXT_BERT_CLASSES_H
#define WT_TEXT_BERT_CLASSES_H

#include <stdint.h>

enum bert_class {
    BERT_LETTER,      /* all others: part of a word */
    BERT_REMOVED,     /* controls, formats, private use, U+FFFD: ignored */
    BERT_SPACE,       /* ends a word */
    BERT_PUNCTUATION, /* a separate word */
    BERT_CJK,         /* ideograph: a separate word in models that split them */
    BERT_MARK         /* combining mark (Mn): removed if accents are stripped, else part of a word */
};

enum bert_class wt__bert_class(uint32_t c);

/* The classes of c < 128. */
extern const unsigned char wt__bert_ascii[128];

#endif
