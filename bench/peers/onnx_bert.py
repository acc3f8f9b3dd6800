"""Writes a BERT model of the hub as a graph of ONNX Runtime's fused operators for BERT, in fp32 or bytes.

These are the operators that ONNX Runtime's own optimizer makes of an exported model: embeddings with their norm, attention,
residuals with norm, and bias with GELU. Writing them directly needs neither PyTorch nor an export."""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

LONGEST = 512
MICROSOFT = "com.microsoft"


def read_weights(path):
    """Reads the fp32 tensors of a safetensors file."""
    with open(path, "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    head.pop("__metadata__", None)
    return {name.removeprefix("bert."): np.frombuffer(data[slice(*of["data_offsets"])], np.float32).reshape(of["shape"])
            for name, of in head.items() if of["dtype"] == "F32"}


class Graph:
    """A graph that grows by one operator at a time."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.weights = read_weights(os.path.join(folder, "model.safetensors"))
        self.nodes, self.constants, self.epsilon = [], [], self.config["layer_norm_eps"]

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def weight(self, name, transposed=False):
        return self.constant(name, self.weights[name].T if transposed else self.weights[name])

    def add(self, operator, inputs, name, domain="", outputs=None, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, outputs or [name], name=name, domain=domain, **attributes))
        return name

    def norm(self, name):
        return [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]

    def embeddings(self):
        words, positions, kinds = (self.weight(f"embeddings.{name}_embeddings.weight")
                                   for name in ("word", "position", "token_type"))
        self.add("EmbedLayerNormalization", ["ids", "types", words, positions, kinds,
                                             *self.norm("embeddings.LayerNorm"), "mask"], "embedded", MICROSOFT,
                 ["embedded", "lengths"], epsilon=self.epsilon)
        return "embedded"

    def layer(self, number, x):
        name = f"encoder.layer.{number}."
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        qkv = self.constant(f"{name}qkv", np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1))
        biases = self.constant(f"{name}qkv_bias", np.concatenate([self.weights[f"{part}.bias"] for part in parts]))
        attention = self.add("Attention", [x, qkv, biases, "lengths"], f"{name}attention", MICROSOFT,
                             num_heads=self.config["num_attention_heads"])
        x = self.residual(attention, x, f"{name}attention.output")
        wide = self.add("MatMul", [x, self.weight(f"{name}intermediate.dense.weight", True)], f"{name}wide")
        wide = self.add("BiasGelu", [wide, self.weight(f"{name}intermediate.dense.bias")], f"{name}gelu", MICROSOFT)
        return self.residual(wide, x, f"{name}output")

    def residual(self, x, before, name):
        product = self.add("MatMul", [x, self.weight(f"{name}.dense.weight", True)], f"{name}.product")
        norm = [*self.norm(f"{name}.LayerNorm"), self.weight(f"{name}.dense.bias")]
        return self.add("SkipLayerNormalization", [product, before, *norm], f"{name}.norm", MICROSOFT, epsilon=self.epsilon)

    def mean(self, x):
        mask = self.add("Cast", ["mask"], "mask_float", to=TensorProto.FLOAT)
        mask = self.add("Unsqueeze", [mask, self.constant("last", np.array([2]))], "mask_column")
        kept = self.add("Mul", [x, mask], "kept")
        self.constant("tokens", np.array([1]))
        summed = self.add("ReduceSum", [kept, "tokens"], "sum", keepdims=0)
        count = self.add("ReduceSum", [mask, "tokens"], "count", keepdims=0)
        return self.add("LpNormalization", [self.add("Div", [summed, count], "mean")], "vector", axis=1, p=2)

    def score(self, x):
        first = self.add("Gather", [x, self.constant("first", np.array(0))], "first_token", axis=1)
        pooled = self.add("Gemm", [first, self.weight("pooler.dense.weight", True), self.weight("pooler.dense.bias")], "pooled")
        pooled = self.add("Tanh", [pooled], "tanh")
        logits = self.add("Gemm", [pooled, self.weight("classifier.weight", True), self.weight("classifier.bias")], "logit")
        return self.add("Squeeze", [logits, self.constant("column", np.array([1]))], "logits")

    def save(self, path, output, shape):
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "tokens"]) for name in ("ids", "mask", "types")]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "bert", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
        return path


def write(model, path, scores=False):
    """Writes the model with its mean vector of length 1, or with the logit of its classifier."""
    graph = Graph(model)
    x = graph.embeddings()
    for number in range(graph.config["num_hidden_layers"]):
        x = graph.layer(number, x)
    if scores:
        return graph.save(path, graph.score(x), ["batch"])
    return graph.save(path, graph.mean(x), ["batch", graph.config["hidden_size"]])


def write_bytes(graph):
    """Quantizes a graph as ONNX Runtime recommends for processors: weights per channel, activations as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(graph, graph + ".bytes", per_channel=True, weight_type=QuantType.QInt8,
                     extra_options={"DefaultTensorType": TensorProto.FLOAT})
    return graph + ".bytes"
