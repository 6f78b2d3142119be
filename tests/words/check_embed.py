#!/usr/bin/env python3
"""embed.py tells each fault of the texts with its file and line.  usage: check_embed.py ROOT"""
import os
import subprocess
import sys
import tempfile

embed = os.path.join(sys.argv[1], "daemon/words/embed.py")
GOOD = {"en": "a = x {p}\nb[one] = {n} man\nb[other] = {n} men\n",
        "ru": "a = ы {p}\nb[one] = {n} а\nb[few] = {n} б\nb[many] = {n} в\n",
        "ro": "a = x {p}\nb[one] = un om\nb[few] = {n} oameni\nb[other] = {n} de oameni\n"}
BAD = [  # language, replaced text, what must be told
    ("ru", ("a = ы {p}\n", ""), "a: missing in ru"),
    ("ru", ("{p}", "{q}"), "a takes ['p'], here ['q']"),
    ("ru", ("{p}", "p"), "ru.txt:1: a takes ['p'], here []"),
    ("ro", ("un om", "un om și o ţară"), "ro.txt:2: a cedilla"),
    ("ro", ("b[few] = {n} oameni\n", ""), "form few missing"),
    ("en", ("b[other]", "b[few]"), "en.txt:3: en has the forms"),
    ("en", ("a = ", "a="), "en.txt:1: not of the form"),
    ("en", ("{p}", "{p"), "a lone {"),
    ("en", ("b[one]", "a = y\nb[one]"), "en.txt:2: a is there already"),
    ("en", ("x {p}", "x {p} "), "end with a blank"),
    ("ru", ("b[one] = {n} а\nb[few] = {n} б\nb[many] = {n} в", "b = {n}"), "plural forms in one"),
]


def run(texts):
    with tempfile.TemporaryDirectory() as d:
        files = []
        for lang, text in texts.items():
            files.append(os.path.join(d, lang + ".txt"))
            with open(files[-1], "w", encoding="utf-8") as f:
                f.write(text)
        out = os.path.join(d, "out.c")
        done = subprocess.run([sys.executable, embed, out, *files], capture_output=True, text=True)
        return done.returncode, done.stderr, os.path.exists(out)


faults = []
if run(GOOD)[0] != 0:
    faults.append("good texts refused: " + run(GOOD)[1])
for lang, (old, new), told in BAD:
    assert old in GOOD[lang]
    code, err, is_written = run({**GOOD, lang: GOOD[lang].replace(old, new)})
    if code == 0 or told not in err or is_written:
        faults.append(f"{told!r} not told ({code}): {err}")
print("\n".join(faults) or f"{len(BAD)} faults told")
sys.exit(1 if faults else 0)
