#!/usr/bin/env python3
"""Converts a Python package's API reference to tools, one JSON object a line, for `whichtool add -`.

    python3 readers/python_api.py PACKAGE [OPTION...] | whichtool add -

    PACKAGE            an installed package by its name, or its folder
    --module NAME      only this module, such as numpy.fft; may be given more than once. Default: the package and its
                       public subpackages
    --exclude GLOB     leave out names such as numpy.testing.*; may be given more than once
    --methods          include public methods and properties of classes, also inherited ones
    --import           import the package, to read docstrings of functions in C and members created at run time. This
                       runs its code: use it only for packages that you trust

Without --import, files are only parsed. A module's public names are those in __all__ of its stub (.pyi) or else of its
source; without __all__, all definitions without a leading underscore. Functions and classes become tools; modules,
constants, exceptions and the classes of scalars do not. A docstring in NumPy's style gives description and parameters.
Unparsable files are reported on stderr and skipped.
"""
import argparse
import ast
import fnmatch
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys

DEPTH_MOST = 32             # maximum length of chains of imports and of base classes
FILE_BYTES_MOST = 8 << 20   # larger sources are skipped
DESCRIPTION_BYTES_MOST = 4000
PARAMETERS_MOST = 128
NOT_TOOLS = ("generic", "BaseException", "Exception", "Warning")  # their subclasses are not tools
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\s*$", re.M)
TYPES = {"int": "integer", "integer": "integer", "float": "number", "number": "number", "scalar": "number",
         "str": "string", "string": "string", "bool": "boolean", "boolean": "boolean", "dict": "object",
         "list": "array", "tuple": "array", "sequence": "array"}


class Module:
    """Source or stub of a module: its definitions, imports and public names."""

    def __init__(self, name, tree, is_package):
        self.name, self.is_package = name, is_package
        self.public, self.defined, self.imported, self.stars = [], {}, {}, []
        self.parts = []  # modules whose __all__ is added to this one
        for node in tree.body:
            self.read(node)

    def read(self, node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.defined[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            source = self.relative(node)
            for alias in node.names:
                if alias.name == "*":
                    self.stars.append(source)
                else:
                    self.imported[alias.asname or alias.name] = (source, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self.imported[alias.asname or alias.name] = (alias.name, None)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    self.assign(target.id, node)
        elif isinstance(node, (ast.If, ast.Try)):
            for child in node.body + node.orelse:
                self.read(child)

    def relative(self, node):
        if not node.level:
            return node.module
        parts = self.name.split(".")
        parts = parts[:len(parts) - node.level + self.is_package]
        return ".".join(parts + ([node.module] if node.module else []))

    def assign(self, name, node):
        if name != "__all__":
            self.defined.setdefault(name, node)
            return
        for part in ast.walk(node.value) if node.value else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                self.public.append(part.value)
            elif isinstance(part, ast.Attribute) and part.attr == "__all__":
                self.parts.append(ast.unparse(part.value))


class Package:
    def __init__(self, name):
        self.folder = folder_of(name)
        self.name = os.path.basename(self.folder)
        self.modules, self.added = {}, {}
        self.read_added_docstrings()

    def path(self, module):
        return os.path.join(os.path.dirname(self.folder), *module.split("."))

    def load(self, module, ending):
        """Returns the module's source (".py") or stub (".pyi"), or None if it cannot be read."""
        key = (module, ending)
        if key in self.modules:
            return self.modules[key]
        self.modules[key] = None
        path = self.path(module)
        for name, is_package in ((os.path.join(path, "__init__" + ending), 1), (path + ending, 0)):
            tree = parsed(name) if os.path.isfile(name) else None
            if tree:
                self.modules[key] = Module(module, tree, is_package)
                break
        return self.modules[key]

    def is_module(self, name):
        path = self.path(name)
        return os.path.isdir(path) or any(os.path.isfile(path + e) for e in (".py", ".pyi"))

    def public(self, module, depth=0):
        for ending in (".pyi", ".py"):
            loaded = self.load(module, ending)
            if loaded and (loaded.public or loaded.parts) and depth < DEPTH_MOST:
                names = list(loaded.public)
                for part in loaded.parts:
                    source, attribute = loaded.imported.get(part, (part, None))
                    names += self.public(f"{source}.{attribute}" if attribute else source, depth + 1)
                return list(dict.fromkeys(names))
        loaded = self.load(module, ".pyi") or self.load(module, ".py")
        return [n for n in loaded.defined if not n.startswith("_")] if loaded else []

    def find(self, module, name, ending, depth=0):
        """Returns (module, node) of the definition of a name, or None. Follows imports. A module without a file of this
        suffix is read from the other one: a module in C has only a stub."""
        loaded = self.load(module, ending) or self.load(module, ".pyi" if ending == ".py" else ".py")
        if not loaded or depth > DEPTH_MOST:
            return None
        if name in loaded.defined:
            node = loaded.defined[name]
            value = getattr(node, "value", None)
            if isinstance(value, ast.Name) and value.id != name:
                return self.find(module, value.id, ending, depth + 1) or (module, node)
            if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id in loaded.imported:
                source, attribute = loaded.imported[value.value.id]
                return self.find(f"{source}.{attribute}" if attribute else source, value.attr, ending, depth + 1)
            return module, node
        if name in loaded.imported and loaded.imported[name][1]:
            return self.find(*loaded.imported[name], ending, depth + 1)
        for source in loaded.stars:
            found = self.find(source, name, ending, depth + 1)
            if found:
                return found
        return None

    def bases(self, module, node, ending, depth=0):
        """Returns the names of all base classes, and (module, node) of those in the package."""
        names, nodes = set(), []
        for base in node.bases if depth < DEPTH_MOST else ():
            name = ast.unparse(base).split("[")[0].split(".")[-1]
            names.add(name)
            found = self.find(module, name, ending)
            if found and isinstance(found[1], ast.ClassDef) and found[1] is not node:
                more, above = self.bases(*found, ending, depth + 1)
                names |= more
                nodes += [found] + above
        return names, nodes

    def read_added_docstrings(self):
        """Returns the docstrings of C code: add_newdoc(place, name, docstring or (member, docstring))."""
        for folder, _, files in os.walk(self.folder):
            for file in files:
                if file.endswith(".py") and "newdoc" in file:
                    for node in ast.walk(parsed(os.path.join(folder, file)) or ast.Module([], [])):
                        self.add_docstring(node)

    def add_docstring(self, node):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("add_newdoc") and len(node.args) == 3):
            return
        try:
            _, name, text = (ast.literal_eval(a) for a in node.args)
        except ValueError:
            return
        if isinstance(text, str):
            self.added.setdefault(name, inspect.cleandoc(text))
        elif isinstance(text, tuple) and len(text) == 2:
            self.added.setdefault(f"{name}.{text[0]}", inspect.cleandoc(text[1]))


def folder_of(name):
    if os.path.isdir(name):
        return os.path.abspath(name)
    found = importlib.util.find_spec(name) if "." not in name else None
    places = list(found.submodule_search_locations or []) if found else []
    if not places:
        sys.exit(f"{name} is no package that is installed here, and no folder; the name is that of `import`")
    return places[0]


def parsed(path):
    try:
        if os.path.getsize(path) > FILE_BYTES_MOST:
            raise ValueError(f"over {FILE_BYTES_MOST >> 20} MiB")
        with open(path, encoding="utf-8") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError) as why:
        print(f"{path} is skipped: {why}", file=sys.stderr)
        return None


# ---------------------------------------------------------------- kinds of names

def kind(package, module, name):
    """Returns "function", "class", or None if the name is not a tool, and its definitions in source and stub."""
    source, stub = package.find(module, name, ".py"), package.find(module, name, ".pyi")
    for found, ending in ((source, ".py"), (stub, ".pyi")):
        if not found:
            continue
        node = found[1]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return "function", source, stub
        if isinstance(node, ast.ClassDef):
            above = package.bases(found[0], node, ending)[0] | {name}
            is_tool = not any(n in NOT_TOOLS or n.endswith(("Error", "Exception", "Warning")) for n in above)
            return "class" if is_tool else None, source, stub
    note = ast.unparse(stub[1].annotation) if stub and isinstance(stub[1], ast.AnnAssign) else ""
    called = package.added.get(name) is not None or re.search(r"ufunc|Callable", note, re.I)
    return "function" if called and not re.search(r"\bFinal\[(int|float|str|bool)", note) else None, source, stub


def docstring(package, found, name):
    text = ast.get_docstring(found[1]) if found and hasattr(found[1], "body") else None
    return text or package.added.get(name) or ""


# ---------------------------------------------------------------- docstrings in NumPy's style

def sections(text):
    """Returns the text before the first section, and the sections by name."""
    parts = SECTION.split(text)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def description(text, name):
    before = sections(text)[0].strip()
    lines = before.split("\n")
    if lines and re.match(rf"{re.escape(name.split('.')[-1])}\(.*\)$", lines[0].strip()):
        before = "\n".join(lines[1:]).strip()  # C functions have their signature in the first line
    before = re.sub(r"^\.\. [\w-]+::.*(\n[ \t]+.*)*", "", before, flags=re.M)
    before = re.sub(r":\w+:`~([^`]*\.)?([^`]*)`", r"\2", before)
    before = re.sub(r":\w+:`\.?([^`]*)`", r"\1", before).replace("``", "`")
    return re.sub(r"\s+", " ", before).strip().encode()[:DESCRIPTION_BYTES_MOST].decode(errors="ignore")


def schema_of(kind_text):
    first = re.split(r"[,;]|\bor\b|\(| of ", kind_text.strip())[0].strip().lower()
    choices = re.match(r"\{([^}]*)\}", kind_text.strip())
    if choices:
        try:
            return {"enum": list(dict.fromkeys(ast.literal_eval(f"[{choices[1]}]")))}
        except (ValueError, SyntaxError, TypeError):
            return {}
    alone = not re.search(r"\bor\b|array_like", kind_text)
    return {"type": TYPES[first]} if first in TYPES and alone else {}


def parameters(text):
    """Returns the JSON Schema of the section Parameters."""
    found, required = {}, []
    for entry in re.split(r"\n(?=\S)", sections(text)[1].get("Parameters", "").strip("\n")):
        head, _, body = entry.partition("\n")
        names, _, kind_text = head.partition(":")
        for name in names.split(","):
            name = name.strip().lstrip("*")
            if not name.isidentifier() or len(found) >= PARAMETERS_MOST:
                continue
            found[name] = schema_of(kind_text)
            about = re.sub(r"\s+", " ", body.replace("``", "`")).strip()
            found[name]["description"] = f"{kind_text.strip()}. {about}" if kind_text.strip() else about
            if not re.search(r"optional|default", kind_text):
                required.append(name)
    return {"type": "object", "properties": found, "required": required}


# ---------------------------------------------------------------- tools

def tool(module, name, text):
    return {"provider": module, "name": name, "description": description(text, name), "parameters": parameters(text)}


def members(package, found, ending, depth=0):
    """Returns the docstrings of a class's public methods and properties by name, with inherited ones and those of
    accessors (str = Accessor("str", StringMethods) adds str.lower)."""
    seen = {}
    for module, node in [found] + package.bases(*found, ending)[1]:
        for child in node.body:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                seen[child.name] = seen.get(child.name) or ast.get_docstring(child) or ""
            elif isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
                name, value = child.targets[0].id, child.value
                if isinstance(value, ast.Name) and value.id in seen:
                    seen.setdefault(name, seen[value.id])  # agg = aggregate
                elif isinstance(value, ast.Call) and value.args and isinstance(value.args[-1], ast.Name) and depth == 0:
                    accessor = package.find(module, value.args[-1].id, ending)
                    if accessor and isinstance(accessor[1], ast.ClassDef):
                        seen.setdefault(name, ast.get_docstring(accessor[1]) or "")
                        for inner, text in members(package, accessor, ending, 1).items():
                            seen.setdefault(f"{name}.{inner}", text)
    return {name: text for name, text in seen.items() if not name.startswith("_") and "._" not in name}


def tools_of(package, module, with_methods):
    for name in package.public(module):
        if name.startswith("_"):
            continue
        what, source, stub = kind(package, module, name)
        if what:
            text = docstring(package, source, name)
            yield tool(module, name, text)
        if what == "class" and with_methods:
            texts = {}
            for found, ending in ((source, ".py"), (stub, ".pyi")):
                if found and isinstance(found[1], ast.ClassDef):
                    for member, text in members(package, found, ending).items():
                        texts[member] = texts.get(member) or text or package.added.get(f"{name}.{member}", "")
            for member, text in texts.items():
                yield tool(module, f"{name}.{member}", text)


def public_modules(package, module, depth=0):
    yield module
    for name in package.public(module) if depth < 4 else ():
        inner = f"{module}.{name}"
        if not name.startswith("_") and package.is_module(inner):
            yield from public_modules(package, inner, depth + 1)


def of_import(package, tools, with_methods):
    """Completes the tools from the imported package: docstrings of C code, members created at run time."""
    sys.path.insert(0, os.path.dirname(package.folder))
    known, told = {(one["provider"], one["name"]) for one in tools}, set()
    for one in tools:
        found = imported(one, told)
        if found is not None and not one["description"]:
            one.update(tool(one["provider"], one["name"], inspect.getdoc(found) or ""))
        yield one
        for member in dir(found) if with_methods and isinstance(found, type) else ():
            name = f"{one['name']}.{member}"
            if not member.startswith("_") and (one["provider"], name) not in known:
                yield tool(one["provider"], name, inspect.getdoc(getattr(found, member, None)) or "")


def imported(one, told):
    try:
        found = importlib.import_module(one["provider"])
        for part in one["name"].split("."):
            found = getattr(found, part)
        return found
    except Exception as why:  # the package's code may raise anything
        if str(why) not in told:
            told.add(str(why))
            print(f"{one['provider']}.{one['name']}: {why}", file=sys.stderr)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--module", action="append")
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--methods", action="store_true")
    parser.add_argument("--import", dest="run", action="store_true")
    options = parser.parse_args()
    package = Package(options.package)
    tools = []
    for module in dict.fromkeys(options.module or public_modules(package, package.name)):
        if not package.is_module(module):
            sys.exit(f"there is no module {module} in {package.folder}")
        for one in tools_of(package, module, options.methods):
            full = f"{module}.{one['name']}"
            if not any(fnmatch.fnmatchcase(full, g) or fnmatch.fnmatchcase(module, g) for g in options.exclude):
                tools.append(one)
    if options.run:
        tools = list(of_import(package, tools, options.methods))
    try:
        for one in tools:
            print(json.dumps(one))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
