"""Writes ../golden/static/: two static encoders with random rows, and the vectors of some texts, computed by numpy.

    python3 tests/encoder/make_static_golden.py      (needs numpy)

bytes/ has the layout of this project: rows of I8, each with a scale, and vocab.txt. floats/ has the layout of the
model2vec package: rows of F32, weights of tokens, and a tokenizer.json that adds no [CLS] and [SEP]. The tokens of the
texts are written out by hand, so that the vectors do not depend on the library's tokenizer. The random numbers have a
seed, so each run writes the same files.
"""
import json
import pathlib
import struct

import numpy as np

WORDS = "[PAD] [UNK] [CLS] [SEP] the weather in a city train ##s to book table rain ##y . 7".split()
# each text with its tokens; words that the vocabulary lacks have none, as in model2vec
TEXTS = [
    ("the weather in a city", "the weather in a city"),
    ("Trains to the CITY.", "train ##s to the city ."),
    ("rain rain rain", "rain rain rain"),
    ("a rainy table, 7 books!", "a rain ##y table 7 book ##s"),
    ("unheard of", ""),
    ("", ""),
    ("[CLS] the", "[CLS] the"),
]
DIM = 12


def write(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        dtype = {"int8": "I8", "float32": "F32"}[str(array.dtype)]
        raw = array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def vectors(rows):
    made = []
    for text, pieces in TEXTS:
        total = sum((rows[WORDS.index(p)] for p in pieces.split()), np.zeros(DIM))
        length = np.linalg.norm(total)
        made.append({"text": text, "vector": [round(float(x), 9) for x in (total / length if length else total)]})
    return made


def main():
    draw = np.random.default_rng(20)
    folder = pathlib.Path(__file__).resolve().parent.parent / "golden" / "static"
    for name in ("bytes", "floats"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": DIM, "normalize": True}
    small = draw.integers(-127, 128, (len(WORDS), DIM), dtype=np.int8)
    scale = draw.uniform(.001, .02, len(WORDS)).astype(np.float32)
    write(folder / "bytes" / "model.safetensors", {"embeddings.scale": scale, "embeddings": small})
    (folder / "bytes" / "vocab.txt").write_text("".join(word + "\n" for word in WORDS))
    (folder / "bytes" / "config.json").write_text(
        json.dumps(config | {"whichtool": {"fields": ["provider", "name"]}}) + "\n")
    wide = draw.normal(size=(len(WORDS), DIM)).astype(np.float32)
    weights = draw.uniform(.1, 3, len(WORDS)).astype(np.float32)
    write(folder / "floats" / "model.safetensors", {"embeddings": wide, "weights": weights})
    (folder / "floats" / "config.json").write_text(json.dumps(config | {"seq_length": 1000000}) + "\n")
    (folder / "floats" / "tokenizer.json").write_text(json.dumps({
        "added_tokens": [{"id": i, "content": WORDS[i], "special": True} for i in range(4)],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {word: i for i, word in enumerate(WORDS)}}}) + "\n")
    golden = {"bytes": vectors(scale.astype(np.float64)[:, None] * small),
              "floats": vectors(weights.astype(np.float64)[:, None] * wide)}
    with open(folder / "vectors.json", "w") as out:
        json.dump(golden, out, indent=1)
        out.write("\n")


main()
