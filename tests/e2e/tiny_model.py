"""Writes a BERT of two layers with random weights and the words of the tests: tiny_model.py FOLDER [TOKENS]

TOKENS: size of the vocabulary, filled up with placeholders, to imitate a multilingual model."""
import json
import os
import random
import struct
import sys


folder, draw = sys.argv[1], random.Random(1)
os.makedirs(folder)
words = "[PAD] [UNK] [CLS] [SEP] [MASK] weather forecast for a city rain wind and get tides water at harbour convert " \
    "currency money from one to another list invoices customer book table in restaurant cancel booking of the".split()
vocabulary = words + list("abcdefghijklmnopqrstuvwxyz.:") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz"]
vocabulary = list(dict.fromkeys(vocabulary))
vocabulary += [f"none{i}" for i in range(len(vocabulary), int(sys.argv[2]) if len(sys.argv) > 2 else 0)]
open(f"{folder}/vocab.txt", "w").write("".join(w + "\n" for w in vocabulary))
H, I, P = 16, 24, 64
json.dump({"model_type": "bert", "hidden_act": "gelu", "hidden_size": H, "num_attention_heads": 2, "num_hidden_layers": 2,
           "intermediate_size": I, "max_position_embeddings": P, "vocab_size": len(vocabulary), "type_vocab_size": 2,
           "layer_norm_eps": 1e-12, "architectures": ["BertModel"]}, open(f"{folder}/config.json", "w"))
shapes = {"embeddings.word_embeddings.weight": (len(vocabulary), H), "embeddings.position_embeddings.weight": (P, H),
          "embeddings.token_type_embeddings.weight": (2, H), "embeddings.LayerNorm.weight": (H,),
          "embeddings.LayerNorm.bias": (H,)}
for n in range(2):
    layer = f"encoder.layer.{n}."
    for name, o, i in [("attention.self.query", H, H), ("attention.self.key", H, H), ("attention.self.value", H, H),
                       ("attention.output.dense", H, H), ("intermediate.dense", I, H), ("output.dense", H, I)]:
        shapes[layer + name + ".weight"], shapes[layer + name + ".bias"] = (o, i), (o,)
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[layer + name + ".weight"] = shapes[layer + name + ".bias"] = (H,)
header, data = {}, b""
for name, shape in shapes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    base = 1.0 if name.endswith("LayerNorm.weight") else 0.0
    bytes_ = struct.pack(f"<{count}f", *(base + draw.uniform(-.3, .3) for _ in range(count)))
    header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
text = json.dumps(header).encode()
open(f"{folder}/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
