#!/usr/bin/env python3
"""Every code of the catalogue is used, and every code that is used is in the catalogue.

A code is used when it stands in quotes in a source, or when a source puts it together: a quoted
text that ends in "%s" or "%d" or is followed by "${" and whose part before that is the beginning of
the code, the rest of which stands in quotes somewhere, too, or is a number.  usage:
check_used.py ROOT
"""
import glob
import os
import re
import sys

root = sys.argv[1]
sources = [p for d in ("daemon", "web") for e in ("c", "h", "js", "html")
           for p in glob.glob(os.path.join(root, d, "**", "*." + e), recursive=True)]
codes = set()
for path in glob.glob(os.path.join(root, "daemon/words/*.txt")):
    if path.endswith("CMakeLists.txt"):
        continue
    for line in open(path, encoding="utf-8"):
        match = re.match(r"^([a-z][a-z0-9_.]*)(?:\[[a-z]+\])? = ", line)
        if match:
            codes.add(match.group(1))

literal, prefixes, words = set(), set(), set()
for path in sources:
    text = open(path, encoding="utf-8").read()
    literal |= set(re.findall(r"""["'`]([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)["'`]""", text))
    prefixes |= set(re.findall(r"""["'`]([a-z][a-z0-9_.]*[._])(?:%[.0-9]*[sd]|\$\{)""", text))
    prefixes |= set(re.findall(r"""["']([a-z][a-z0-9_.]*\.)["']\s*\+""", text))
    words |= {w.replace("-", "_") for w in re.findall(r"""["'`]([a-z0-9_-]+)["'`]""", text)}
# chess.c makes "colour.white" and "man.white.king" with a function
made = ("colour.", "man.")


def is_used(code):
    if code in literal or code.startswith(made):
        return True
    rests = [code[len(p):] for p in prefixes if code.startswith(p)]
    return any(r.isdigit() or r in words or all(w in words for w in r.split(".")) for r in rests)


heads = {code.split(".")[0] for code in codes}
faults = [f"not used: {code}" for code in sorted(codes) if not is_used(code)]
faults += [f"not in the catalogue: {code}" for code in sorted(literal - codes)
           if code.split(".")[0] in heads & {"letter", "news", "head", "subject", "event", "verdict",
                                             "words", "ui", "refusal", "cause", "result", "length", "house"}
           and not re.search(r"\.(js|css|svg|html|json)$", code)]
print("\n".join(faults) or f"{len(codes)} codes, all used")
sys.exit(1 if faults or not codes else 0)
