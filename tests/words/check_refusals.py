#!/usr/bin/env python3
"""What people are told when something is refused comes from the catalogue.  usage: check_refusals.py ROOT

1. In the rooms whose failures reach people every refusal has a code: err_reason() with words of its
   own stands there only for faults, which nobody is told, and for what a reason's title says.
2. A code's English text in the sources is the catalogue's, and its values are those of the text;
   so are those of a table's rows {…, "refusal.x", "English"}, which a call says as row->code and
   row->english.
3. A Russian refusal has no words in Latin letters, a Romanian one is not the English one; what a
   program reads (in backticks), values and the names below excepted.
"""
import glob
import os
import re
import sys

root = sys.argv[1]
ROOMS = ["arbiter", "people", "http", "intake", "club"]
FILES = ["daemon/clock/zone.c", "daemon/board/png.c", "daemon/notify/webhook.c",
         "daemon/notify/tags.c", "daemon/store/notes.c", "daemon/store/webhooks.c",
         "daemon/store/writer.c"]
FAULTS = {"NO_MEMORY", "STORE_FAILED", "CORRUPT", "INTERNAL"}
# told to whoever runs the server or asks from its shell, not to players
OPERATORS = {
    "play by mail needs an address", "the delimiter must be +, - or nothing",
    "letter %ld is %s", "the account %s is %s already", "this bounce address is not one of ours",
}
# codes that words/ uses without an err: the sentences of moves that cannot be read
NO_SOURCE = {"several_moves", "no_such_move", "wrong_man", "no_capture", "wrong_victim", "no_move"}
# names, which are the same in every language
NAMES = {"API", "ASCII", "CRLF", "Europe", "Berlin", "HTTP", "JSON", "NUL", "PGN4", "UTC", "UTF",
         "cookie", "example", "https", "inert", "safe", "ntfy"}

faults = []


def calls(text):
    """Each call of a function that refuses: its name and its arguments' source."""
    for m in re.finditer(r"\b(err_reason|err_detail|ERR_DETAIL|form_error|FORM_ERROR)\(", text):
        i, depth, quote, start, parts = m.end(), 1, None, m.end(), []
        while depth:
            c = text[i]
            if quote:
                if c == "\\":
                    i += 1
                elif c == quote:
                    quote = None
            elif text.startswith("/*", i):
                i = text.index("*/", i) + 1
            elif c in "\"'":
                quote = c
            elif c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
            elif c == "," and depth == 1:
                parts.append(text[start:i])
                start = i + 1
            i += 1
        parts.append(text[start:i - 1])
        yield text.count("\n", 0, m.start()) + 1, m.group(1), [p.strip() for p in parts]


def literal(source):
    """The text of C's literals side by side; None when it is something else."""
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    source = re.sub(r"\bPRI([dux])64\b", r'"l\1"', source)
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', source)
    if not found or re.sub(r'"(?:[^"\\]|\\.)*"', "", source).strip():
        return None
    return "".join(found).replace('\\"', '"')


def catalogue(lang):
    texts = {}
    for line in open(os.path.join(root, f"daemon/words/refusals.{lang}.txt"), encoding="utf-8"):
        m = re.match(r"refusal\.([a-z0-9_]+)(?:\[[a-z]+\])? = (.*)$", line.rstrip("\n"))
        if m:
            texts[m.group(1)] = m.group(2)
    return texts


titles = {}
for m in re.finditer(r'X\((\w+), "[a-z_]+", ST_\w+, "\w+",\s*\\?\s*"([^"]*)"\)',
                     open(os.path.join(root, "daemon/base/status.h"), encoding="utf-8").read()):
    titles[m.group(1)] = m.group(2).lower()
if len(titles) < 50:
    faults.append(f"only {len(titles)} titles of reasons were found in base/status.h")

english, used = catalogue("en"), set()
people = {p for room in ROOMS for p in glob.glob(os.path.join(root, f"daemon/{room}/*.c"))}
people |= {os.path.join(root, f) for f in FILES}


def judge(at, code, text, values):
    """A sentence in the sources, and the values that it is given."""
    if not code.startswith("refusal."):
        faults.append(f"{at}: {code} is no refusal's code")
        return
    code = code[len("refusal."):]
    used.add(code)
    if english.get(code) != text:
        faults.append(f"{at}: refusal.{code} is {english.get(code)!r} in the catalogue")
    if values != set(re.findall(r"\{([a-z_]+)\}", text or "")):
        faults.append(f"{at}: refusal.{code} is given {sorted(values)}")


def rows(text):
    """The rows of tables that hold a code and its English text: line, code, text."""
    string = r'"(?:[^"\\\n]|\\.)*"'
    for m in re.finditer(rf'\{{[^{{}}"]*("refusal\.\w+"),\s*({string}(?:\s*{string})*)\}}', text):
        yield text.count("\n", 0, m.start()) + 1, literal(m.group(1)), literal(m.group(2))


for path in sorted(glob.glob(os.path.join(root, "daemon/*/*.c"))):
    where = os.path.relpath(path, root)
    source = open(path, encoding="utf-8").read()
    for line, name, parts in calls(source):
        at = f"{where}:{line}"
        if name == "err_reason":
            if path not in people or len(parts) < 3:
                continue
            reason = re.sub(r"^REASON_", "", parts[1])
            text = literal(parts[2])
            if reason in FAULTS or text == "%s" or text in OPERATORS:
                continue
            if text is None or text.lower() != titles.get(reason):
                faults.append(f"{at}: {parts[2]!r} has no code of the catalogue: use err_detail()")
            continue
        skip = 3 if name.lower() == "form_error" else 2
        if len(parts) < skip + 2:
            continue
        code, text = parts[skip], parts[skip + 1]
        values = set(re.findall(r'ERR_[A-Z]+\(\s*"([a-z_]+)"', " ".join(parts[skip + 2:])))
        if re.search(r"(\.|->)code$", code) and re.search(r"(\.|->)english$", text):
            for row, row_code, row_text in rows(source):
                judge(f"{where}:{row}", row_code, row_text, values)
        elif literal(code) is not None:  # else a declaration, or a function that passes one on
            judge(at, literal(code), literal(text), values)
faults += [f"refusal.{code} is never said" for code in sorted(set(english) - used - NO_SOURCE)]


def bare(text):
    """Without what is the same in every language."""
    text = re.sub(r"`[^`]*`|\{[a-z_]+\}|name@example\.org|\S*\d\S*", " ", text)
    return [w for w in re.findall(r"[A-Za-zÀ-ɏ]{3,}", text) if w not in NAMES]


for code, text in catalogue("ru").items():
    latin = [w for w in bare(text) if len(w) >= 4 or w.lower() in ("the", "not", "and", "you")]
    if latin:
        faults.append(f"refusal.{code} (ru) says {' '.join(latin)} in Latin letters")
for code, text in catalogue("ro").items():
    if text == english.get(code) and bare(text):
        faults.append(f"refusal.{code} (ro) is the English text")

print("\n".join(faults) or f"{len(english)} refusals, all of them from the catalogue")
sys.exit(1 if faults or len(english) < 100 else 0)
