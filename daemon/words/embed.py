#!/usr/bin/env python3
"""Turn the catalogue's texts into a table in C.

usage: embed.py OUT.c FILE...

The files are LANG.txt and PART.LANG.txt.  Lines: "code = text" or "code[form] = text", blank lines
and "# ..." comments.  Every fault is told as file:line, and then nothing is written.
"""
import os
import re
import sys

LANGS = ["en", "ru", "ro"]
FORMS = ["one", "few", "many", "other"]
WANTED = {"en": ["one", "other"], "ru": ["one", "few", "many"], "ro": ["one", "few", "other"]}
LINE = re.compile(r"^([a-z][a-z0-9_.]*)(?:\[([a-z]+)\])? = (.*)$")

faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def params(text):
    return set(re.findall(r"\{([a-z_]+)\}", text.replace("{{", "")))


def read(files):
    texts = {lang: {} for lang in LANGS}  # code -> {form or "": (text, where)}
    for name in files:
        lang = os.path.basename(name).split(".")[-2]
        if lang not in LANGS:
            fault(name, f"no such language: {lang}")
            continue
        with open(name, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                line, where = line.rstrip("\n"), f"{name}:{number}"
                if not line or line.startswith("#"):
                    continue
                match = LINE.match(line)
                if not match:
                    fault(where, "not of the form: code = text")
                    continue
                code, form, text = match.groups()
                form = form or ""
                if form and form not in WANTED[lang]:
                    fault(where, f"{lang} has the forms {', '.join(WANTED[lang])}, not {form}")
                if not text or text != text.strip() or any(ord(c) < 32 for c in text):
                    fault(where, "a text must not be empty nor begin or end with a blank")
                if lang == "ro" and re.search("[şţŞŢ]", text):
                    fault(where, "a cedilla where Romanian has a comma below: ș ț")
                rest = re.sub(r"\{\{|\{[a-z_]+\}", "", text)
                if "{" in rest:
                    fault(where, "a lone {")
                forms = texts[lang].setdefault(code, {})
                if form in forms:
                    fault(where, f"{code} is there already: {forms[form][1]}")
                forms[form] = (text, where)
    return texts


def check(texts):
    codes = sorted(set().union(*(t.keys() for t in texts.values())))
    for code in codes:
        have = {lang: t[code] for lang, t in texts.items() if code in t}
        for lang in LANGS:
            if lang not in have:
                fault(code, f"missing in {lang}")
        plural = {any(form for form in forms) for forms in have.values()}
        if len(plural) > 1:
            fault(code, "has plural forms in one language and none in another")
            continue
        want = None
        for lang, forms in have.items():
            need = set(WANTED[lang]) if True in plural else {""}
            for form in sorted(need ^ set(forms)):
                fault(f"{code} ({lang})", f"form {form or '(none)'} missing or too many")
            for text, where in forms.values():
                got = params(text)
                if True in plural:
                    got |= {"n"}  # "one" may say it in words
                if want is None:
                    want = got
                elif got != want:
                    fault(where, f"{code} takes {sorted(want)}, here {sorted(got)}")
    return codes


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    out, files = sys.argv[1], sys.argv[2:]
    texts = read(files)
    codes = check(texts)
    if faults:
        sys.exit("\n".join(faults))
    with open(out + ".new", "w", encoding="utf-8") as f:
        f.write('/* Made by embed.py from the texts in daemon/words; not to be edited. */\n'
                '#include "words/table.h"\n\nconst struct words_row words_table[] = {\n')
        for code in codes:
            plural = any(form for form in texts["en"][code])
            f.write(f"    {{{quote(code)}, {'true' if plural else 'false'}, {{")
            for lang in LANGS:
                forms = texts[lang][code]
                row = [forms[x][0] if x in forms else None for x in FORMS] if plural \
                    else [None, None, None, forms[""][0]]
                f.write("{" + ", ".join(quote(x) if x else "0" for x in row) + "}, ")
            f.write("}},\n")
        f.write("};\nconst size_t words_table_count = sizeof words_table / sizeof words_table[0];\n")
    os.replace(out + ".new", out)


main()
