/* unigram_json.h: a tokenizer.json for a small unigram model. */
#ifndef WT_TESTS_TEXT_UNIGRAM_JSON_H
#define WT_TESTS_TEXT_UNIGRAM_JSON_H

#define UNIGRAM_TEMPLATE                                                                                               \
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"[CLS]\",\"type_id\":0}},"                \
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"[SEP]\",\"type_id\":0}}],\"pair\":["      \
    "{\"SpecialToken\":{\"id\":\"[CLS]\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},"                 \
    "{\"SpecialToken\":{\"id\":\"[SEP]\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1}},"                 \
    "{\"SpecialToken\":{\"id\":\"[SEP]\",\"type_id\":1}}],\"special_tokens\":{"                                        \
    "\"[CLS]\":{\"id\":\"[CLS]\",\"ids\":[1],\"tokens\":[\"[CLS]\"]},"                                                 \
    "\"[SEP]\":{\"id\":\"[SEP]\",\"ids\":[2],\"tokens\":[\"[SEP]\"]}}}"

#define UNIGRAM_ADDED                                                                                                  \
    "[{\"id\":0,\"content\":\"[PAD]\",\"normalized\":false},{\"id\":1,\"content\":\"[CLS]\",\"normalized\":false},"    \
    "{\"id\":2,\"content\":\"[SEP]\",\"normalized\":false},{\"id\":3,\"content\":\"[UNK]\",\"normalized\":true},"      \
    "{\"id\":90,\"content\":\"[MASK]\",\"normalized\":false}]"

#define UNIGRAM_SPECIAL_PIECES "[\"[PAD]\",0],[\"[CLS]\",0],[\"[SEP]\",0],[\"[UNK]\",0]"

/* Normalisers of models saved by transformers 4 and 5. The first lacks the character map of a real model. */
#define UNIGRAM_NORMALIZER_4                                                                                           \
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},"           \
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"}]}"
#define UNIGRAM_NORMALIZER_5                                                                                           \
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Replace\",\"pattern\":"                                       \
    "{\"Regex\":\"\\\\s{2,}|[\\\\n\\\\r\\\\t]\"},\"content\":\" \"},{\"type\":\"NFC\"},"                               \
    "{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}]}"

#define UNIGRAM_METASPACE                                                                                              \
    "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":\"always\",\"split\":true}"

/* pieces: the pieces after the special ones. Each is ,["text",score] with the comma before it. */
#define UNIGRAM_JSON(normalizer, pre_tokenizer, pieces)                                                                \
    "{\"added_tokens\":" UNIGRAM_ADDED ",\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre_tokenizer               \
    ",\"post_processor\":" UNIGRAM_TEMPLATE                                                                            \
    ",\"model\":{\"type\":\"Unigram\",\"unk_id\":3,\"vocab\":[" UNIGRAM_SPECIAL_PIECES pieces                          \
    "],\"byte_fallback\":false}}"

#endif
