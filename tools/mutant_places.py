"""mutant_places.py: finds the places of a source file to mutate, and their mutations, for tools/mutate.

The layout of clang-format is assumed: binary operators between blanks, and function bodies that open at the beginning of a
line. Regular expressions over the text without comments and strings then find the places, without a C parser. A wrong
place gives a mutant that does not compile, and another is drawn.
"""
import collections
import glob
import os
import random
import re

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

Mutant = collections.namedtuple("Mutant", "file line operator before after start end other")


def masked(text):
    """Returns the text with comments, strings and preprocessor lines blanked, at the same offsets."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def blank(found):
    return re.sub(r"[^\n]", " ", found.group())


def closing(text, at):
    """Returns the offset after the bracket that closes the one at `at`."""
    depth, close = 0, {"(": ")", "{": "}"}[text[at]]
    for i in range(at, len(text)):
        depth += (text[i] == text[at]) - (text[i] == close)
        if depth == 0:
            return i + 1
    return len(text)


def code_of(text):
    """Returns the text with everything except mutable code in functions blanked."""
    keep, at = bytearray(len(text)), 0
    while found := re.compile(r"^\{", re.M).search(text, at):
        at = closing(text, found.start())
        if text[:found.start()].rstrip().endswith(")"):
            keep[found.end():at - 1] = b"1" * (at - 1 - found.end())
    for found in re.finditer(r"static const [^;={}]*=\s*(\{)|\benum \w*\s*(\{)|\b(?:assert|wt__fail\w*)(\()", text):
        start = found.start(found.lastindex)
        end = closing(text, start)
        keep[start:end] = bytes(end - start)
    for found in re.finditer(r"[^;{}]*fail_nomem[^;{}]*;", text):
        keep[found.start():found.end()] = bytes(len(found.group()))
    return "".join(c if k or c == "\n" else " " for c, k in zip(text, keep))


def statements(text, code):
    """Yields (start, end, replacement) of each statement that can be removed."""
    for found in re.finditer(r"^ *(?=[^\s}])", code, re.M):
        start, before = found.end(), text[:found.end()].rstrip()[-6:]
        end = re.compile(r"[;{}]|$").search(text, start).end()
        body = text[start:end]
        if not re.search(r"([;{}):]|\belse)$", before) or not body.endswith(";") or body.count("(") != body.count(")"):
            continue
        if re.match(r"return\b", body):
            if not re.match(r"\s*\n\}", text[end:]):
                yield start, end, ";"
            elif re.match(r"return [^;]{2,};", body) and not code[start:end].isspace():
                yield start, end, "return 0;"
        elif re.match(r"(\(void\))?\w+\(", body) and not re.match(r"(if|while|for|switch|sizeof)\b", body):
            yield start, end, ";"
        elif re.match(r"\*?\w+(?:(?:->|\.)\w+|\[[^\]]*\])*(?: [-+*/|&^%]?= |\+\+;|--;)", body):
            yield start, end, ";"


SWAPS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
         "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",),
         "/=": ("*=",), "&&": ("||",), "||": ("&&",), "!": ("",), "break": ("continue",), "continue": ("break",)}


def changes(text, code):
    """Yields (operator, start, end, replacement)."""
    for operator, pattern in (("relation", r"(?<= )([<>]=?|[=!]=)(?= |\n)"),
                              ("arithmetic", r"(?<=[\w)\]] )([-+*/]=?)(?=[ \n])"),
                              ("logic", r"&&|\|\||!(?=[\w(*])"), ("jump", r"\b(break|continue)(?=;)")):
        for found in re.finditer(pattern, code):
            for other in SWAPS[found.group()]:
                yield operator, found.start(), found.end(), other
    for found in re.finditer(r"(?<![\w.])(?<!\{)(\d+)(\.\d+)?(f|u|U|L|UL|ULL)?\b(?![.\w])", code):
        line = code[code.rfind("\n", 0, found.start()) + 1:found.start()]
        if not re.match(r"\s*(static |const |unsigned |struct )*\w+ \*?\w+(\[\d+\])*\[$", line):  # size of an array
            for near in sorted({int(found[1]) + 1, max(int(found[1]) - 1, 0)} - {int(found[1])}):
                yield "constant", found.start(), found.end(), f"{near}{found[2] or ''}{found[3] or ''}"
    for found in re.finditer(r"\bif (\()", code):
        for other in "(1)", "(0)":
            yield "condition", found.start(1), closing(text, found.start(1)), other
    for start, end, other in statements(text, code):
        yield "statement", start, end, other


def mutants_of(path):
    """Returns all mutants of a file by line, and its number of lines."""
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        source = file.read()
    text, lines = masked(source), collections.defaultdict(list)
    for operator, start, end, other in changes(text, code_of(text)):
        first, last = source.rfind("\n", 0, start) + 1, source.find("\n", end)
        before, after = source[first:last], source[first:start] + other + source[end:last]
        line = source.count("\n", 0, start) + 1
        lines[line].append(Mutant(path, line, operator, " ".join(before.split()), " ".join(after.split()), start, end,
                                  other))
    return lines, source.count("\n")


def drawn(rooms, seed):
    """Yields mutants in the order of the sample, in proportion to the lines of each file."""
    order = []
    for path in (os.path.relpath(path, TOP) for room in rooms
                 for path in glob.glob(os.path.join(TOP, "src", room, "**", "*.c"), recursive=True)):
        lines, length = mutants_of(path)
        rng = random.Random(f"{seed} {path}")
        # Lines with more mutants are drawn more often.
        turns = sorted(lines, key=lambda n: -rng.random() ** (1 / len({m.operator for m in lines[n]})))
        begin = rng.random()
        for j, line in enumerate(turns):
            operator = rng.choice(sorted({m.operator for m in lines[line]}))
            order.append(((j + begin) / length, rng.choice([m for m in lines[line] if m.operator == operator])))
    return [mutant for _, mutant in sorted(order)]
