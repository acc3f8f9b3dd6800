#!/usr/bin/env python3
"""Writes the tokenizer of tests/golden/xlm_roberta, and the ids that the reference library gives to the texts below.

    make_xlm_roberta_golden.py FOLDER        needs the package tokenizers

The settings are those of XLM-RoBERTa's tokenizer.json, without its character map, which other tests cover. Runs of spaces
become one space, and words begin with U+2581. Texts are framed as <s> A </s> and <s> A </s> </s> B </s>. <mask> includes
the blank before it. The vocabulary is trained on the sentences below.
"""
import json
import os
import sys

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

SENTENCES = """Book a table for two in the restaurant tomorrow evening
Reserviere für morgen Abend einen Tisch für zwei Personen im Restaurant
Réserve une table pour deux personnes au restaurant demain soir
Reserva una mesa para dos personas en el restaurante mañana por la noche
Prenota un tavolo per due persone al ristorante domani sera
明天晚上在餐厅预订两个人的桌子
明日の夜、レストランに二人分の席を予約する
Забронируй столик на двоих в ресторане завтра вечером
احجز طاولة لشخصين في المطعم مساء الغد
What will the weather be in Lisbon next week?
Wie wird das Wetter nächste Woche in Lissabon?
Quel temps fera-t-il à Lisbonne la semaine prochaine ?
下周里斯本的天气怎么样""".splitlines()
TEXTS = SENTENCES + ["", " ", "  two  spaces\t and a tab ", "query: Wetter in Paris", "passage: weather: a forecast", "▁", "▁▁a",
                     "a <mask> b", "<s>in</s>", "<unk> x <pad>", "🙂 Tisch 🙂🙂", "Straßenbahn-Fahrplan (Linie 7)", "für\u00a0zwei",
                     "e\u0301te\u0301", "ﬁn", "天气weather天气", "x" * 40]

folder = sys.argv[1]
tokenizer = Tokenizer(models.Unigram())
tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
names = ["<s>", "<pad>", "</s>", "<unk>"]
tokenizer.train_from_iterator(SENTENCES * 4, trainers.UnigramTrainer(vocab_size=400, special_tokens=names, unk_token="<unk>",
                                                                     show_progress=False))
tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                         special_tokens=[("<s>", 0), ("</s>", 2)])
tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
with open(os.path.join(folder, "golden.jsonl"), "w", encoding="utf-8") as out:
    for text in TEXTS:
        print(json.dumps({"text": text, "ids": tokenizer.encode(text).ids}, ensure_ascii=False), file=out)
    for a, b in ((TEXTS[0], TEXTS[1]), ("", TEXTS[5])):
        print(json.dumps({"text": a, "pair": b, "ids": tokenizer.encode(a, b).ids}, ensure_ascii=False), file=out)
