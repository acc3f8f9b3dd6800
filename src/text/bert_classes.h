/* bert_classes.h: the classes that BERT's tokenizer sorts code points into. */
#ifndef WT_TEXT_BERT_CLASSES_H
#define WT_TEXT_BERT_CLASSES_H

#include <stdint.h>

enum bert_class {
    BERT_LETTER,      /* everything else: part of a word */
    BERT_REMOVED,     /* controls, formats, private use, U+FFFD: as if it were not there */
    BERT_SPACE,       /* ends a word */
    BERT_PUNCTUATION, /* a word of its own */
    BERT_CJK,         /* an ideograph: a word of its own in models that split them */
    BERT_MARK         /* combining (Mn): dropped where accents are stripped, else part of a word */
};

enum bert_class wt__bert_class(uint32_t c);

/* The same for c < 128. */
extern const unsigned char wt__bert_ascii[128];

#endif
