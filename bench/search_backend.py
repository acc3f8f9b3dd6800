#!/usr/bin/env python3
"""Validates answers to clients' own tool searches with the clients' packages, for every tool of catalogues.

    python3 bench/search_backend.py [--whichtool PROGRAM] [--library LIBRARY] DATA...

DATA is any input of `whichtool add`. Each is imported into a store of its own and exported completely by wt_export in the
formats anthropic-reference, anthropic-inline and openai-search. Each answer is put into the message or item that a client
sends, and validated by the types of the Python packages `anthropic` and `openai`, without unknown members. Each name must
be valid in the APIs and identify its tool, and each tool must occur once. Formats of a missing package are skipped and
reported.

Prints Markdown: the number of valid tools for each format. Exits with 1 if a tool is invalid, and prints the first one of
each catalogue and format; exits with 77 if neither package is installed.
"""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    pass


def need(true, what):
    if not true:
        raise Failed(what)


# ---------------------------------------------------------------- the library


class Tools(ctypes.Structure):
    _fields_ = [("len", ctypes.c_size_t), ("items", ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p)))]  # struct wt_tool begins with its id


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("line", ctypes.c_size_t), ("byte", ctypes.c_size_t),
                ("pointer", ctypes.c_char * 256), ("message", ctypes.c_char * 1024)]


class Store:
    def __init__(self, library, path):
        self.library, self.error, self.engine = library, Error(), ctypes.c_void_p()
        self.call("wt_open", ctypes.byref(self.engine), path.encode(), None)
        self.tools = ctypes.POINTER(Tools)()
        self.call("wt_list", self.engine, None, ctypes.byref(self.tools))
        self.ids = [self.tools.contents.items[i][0].decode() for i in range(self.tools.contents.len)]

    def call(self, function, *arguments):
        if getattr(self.library, function)(*arguments, ctypes.byref(self.error)) < 0:
            raise Failed(self.error.message.decode())

    def export(self, form):
        text = ctypes.c_char_p()
        tools = self.tools.contents
        self.call("wt_export", tools.items, ctypes.c_size_t(tools.len), form.encode(), ctypes.byref(text))
        value = json.loads(text.value)
        self.library.wt_string_free(text)
        return value

    def id_of(self, name):
        got = ctypes.POINTER(Tools)()
        self.call("wt_get", self.engine, name.encode(), ctypes.byref(got))
        tool = got.contents.items[0][0].decode()
        self.library.wt_tools_free(got)
        return tool

    def close(self):
        self.library.wt_tools_free(self.tools)
        self.library.wt_close(self.engine)


# ---------------------------------------------------------------- the packages' types


def known(value, *types):
    """Rejects unknown members, which pydantic ignores in a TypedDict."""
    for of in types:
        unknown = set(value) - set(of.__annotations__)
        need(not unknown, f"{of.__name__} has no {', '.join(sorted(unknown))}")


def references():
    from anthropic.types import ToolReferenceBlockParam, ToolResultBlockParam
    from pydantic import TypeAdapter
    result, block = TypeAdapter(ToolResultBlockParam), TypeAdapter(ToolReferenceBlockParam)

    def read(content):
        message = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content}
        need(len(list(result.validate_python(message)["content"])) == len(content), "a tool_result of another length")
        for each in content:
            known(block.validate_python(each, strict=True), ToolReferenceBlockParam)
            known(each, ToolReferenceBlockParam)
            yield each["tool_name"], None

    return read


def additions():
    from anthropic.types import beta
    from pydantic import TypeAdapter
    system, tool = TypeAdapter(beta.BetaSystemMessageParam), TypeAdapter(beta.BetaToolParam)
    block = TypeAdapter(beta.BetaRequestToolAdditionBlockParam)

    def read(content):
        message = {"role": "system", "content": content}
        need(len(list(system.validate_python(message)["content"])) == len(content), "a system message of another length")
        for each in content:
            block.validate_python(each)
            definition = each["tool"]["definition"]
            tool.validate_python(definition)
            known(each, beta.BetaRequestToolAdditionBlockParam)
            known(each["tool"], beta.BetaToolChangeToolDefinitionParam)
            known(definition, beta.BetaToolParam)
            need(each["tool"]["type"] == "tool_definition", "a reference where a definition was written")
            yield definition["name"], definition["input_schema"]

    return read


def search_output():
    from openai.types.responses import FunctionTool, ResponseToolSearchOutputItemParam as Output
    from openai.types.responses.response_tool_search_output_item_param_param import \
        ResponseToolSearchOutputItemParamParam as Sent
    from openai.types.responses.tool_search_output_namespace_tool import ToolFunction, ToolSearchOutputNamespaceTool
    from pydantic import TypeAdapter
    sent = TypeAdapter(Sent)

    def functions(tools):
        for each in tools:
            need(not each.model_extra, f"{type(each).__name__} has no {', '.join(each.model_extra or ())}")
            if isinstance(each, ToolSearchOutputNamespaceTool):
                need(NAME.fullmatch(each.name), f"a namespace called {each.name}")
                need(all(isinstance(tool, ToolFunction) for tool in each.tools), "other tools than functions")
                yield from functions(each.tools)
            else:
                need(isinstance(each, (FunctionTool, ToolFunction)), f"a {type(each).__name__}")
                need(each.defer_loading and each.strict is False, "a function that is not marked as deferred")
                yield each.name, each.parameters

    def read(tools):
        item = {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "status": "completed",
                "tools": tools}
        need(len(list(sent.validate_python(item)["tools"])) == len(tools), "a tool_search_output of another length")
        spaces = [each["name"] for each in tools if each["type"] == "namespace"]
        need(len(spaces) == len(set(spaces)), "a namespace stands there twice")
        yield from functions(Output.model_validate(item).tools)

    return read


FORMS = {"anthropic-reference": ("anthropic", references), "anthropic-inline": ("anthropic", additions),
         "openai-search": ("openai", search_output)}


def readers():
    found = {}
    for form, (package, make) in FORMS.items():
        try:
            found[form] = make()
        except ImportError as error:
            print(f"skipped: {form}: the Python package {package}: {error}", file=sys.stderr)
    return found


# ---------------------------------------------------------------- catalogues


def check(store, form, read):
    """Returns the number of valid tools."""
    seen = []
    for name, schema in read(store.export(form)):
        need(NAME.fullmatch(name), f"a tool called {name}")
        need(schema is None or schema.get("type") == "object", f"{name}: a schema that is not of an object")
        seen.append(store.id_of(name))
    need(sorted(seen) == sorted(store.ids), f"{len(seen)} tools of {len(store.ids)}")
    return len(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--whichtool", default=os.path.join(HERE, "..", "build", "whichtool"))
    parser.add_argument("--library", default=os.path.join(HERE, "..", "build", "libwhichtool.so"))
    options = parser.parse_args()
    forms = readers()
    if not forms:
        sys.exit(77)
    library = ctypes.CDLL(os.path.abspath(options.library))
    code = 0
    print(f"| catalogue | tools | {' | '.join(forms)} |\n|{'---|' * (2 + len(forms))}", flush=True)
    for data in options.data:
        data = data.rstrip("/")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tools.wt")
            subprocess.run([options.whichtool, "-s", path, "-q", "add", "--model", "", data], check=True,
                           stdout=subprocess.DEVNULL)
            store = Store(library, path)
            row = [os.path.basename(data), f"{len(store.ids):,}"]
            for form, read in forms.items():
                try:
                    row.append(f"{check(store, form, read):,}")
                except Exception as error:  # an error of the packages or ours is reported, and the next format follows
                    code = 1
                    row.append("failed")
                    print(f"{data}: {form}: {str(error)[:2000]}", file=sys.stderr)
            store.close()
        print(f"| {' | '.join(row)} |", flush=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
