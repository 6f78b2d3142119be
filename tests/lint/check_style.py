#!/usr/bin/env python3
"""What a machine can see of CONTRIBUTING.md's style, in C files.

A line may be excused by a comment on it: "style: NAME" with the name of the check.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BANNED = {
    # function: (files that may call it, what to use)
    "time": (["daemon/clock/"], "the now that you were given"),
    "clock_gettime": (["daemon/clock/", "tests/bench/"], "the now that you were given"),
    "gettimeofday": ([], "the now that you were given"),
    "localtime": ([], "clock/zone.h"), "localtime_r": ([], "clock/zone.h"),
    "gmtime": ([], "base/utc.h"), "gmtime_r": ([], "base/utc.h"), "mktime": ([], "clock/zone.h"),
    "strftime": ([], "base/utc.h"), "strptime": ([], "base/utc.h"),
    "strtok": ([], "strcspn"), "sprintf": ([], "snprintf or buf_printf"),
    "vsprintf": ([], "vsnprintf"), "strcpy": ([], "str_copy"), "strcat": ([], "buf_puts"),
    "strncpy": ([], "str_copy"), "strncat": ([], "buf_add"), "gets": ([], "getline"),
    "atoi": ([], "str_to_int64"), "atol": ([], "str_to_int64"), "atof": ([], "strtod"),
    "rand": ([], "struct entropy"), "random": ([], "struct entropy"), "srand": ([], "struct entropy"),
    "system": ([], "nothing"), "popen": ([], "nothing"), "tmpnam": ([], "mkstemp"),
    "mktemp": ([], "mkstemp"), "alloca": ([], "malloc"), "signal": ([], "sigaction"),
    "sleep": ([], "a condition to wait for"), "usleep": ([], "a condition to wait for"),
    "setlocale": ([], "nothing: the daemon runs in the C locale"),
}
# A test may be blunt with strings and run programs; it may not sleep, look at the clock or guess.
BLUNT = {"strcpy", "strcat", "sprintf", "atoi", "atol", "system", "popen"}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")


def code_only(text):
    """The same text with comments and strings blanked, lines kept."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0)) if m.group(0).startswith("/") else '""'
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


def main():
    faults = []
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split()
    for name in files:
        path = ROOT / name
        if not path.exists():
            continue
        text = path.read_text()
        lines = text.splitlines()

        def fault(number, check, why):
            if f"style: {check}" not in lines[number - 1]:
                faults.append(f"{name}:{number}: {check}: {why}")

        if not text.endswith("\n") or text.endswith("\n\n"):
            faults.append(f"{name}: end: end the file with one newline")
        for number, line in enumerate(lines, 1):
            if "\t" in line:
                fault(number, "tab", "indent with four spaces")
            if line != line.rstrip():
                fault(number, "trailing", "no white space at the end of a line")
            if len(line) > 100:
                fault(number, "width", f"{len(line)} columns; 100 at most")
        stripped = code_only(text).splitlines()
        raw = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                     lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S).splitlines()
        for number, line in enumerate(raw, 1):
            if "//" in line:
                fault(number, "comment", "write /* … */")
        for number, line in enumerate(stripped, 1):
            if re.match(r"\s*typedef\s+(struct|union|enum)\b", line):
                fault(number, "typedef", "structs are not typedef'd")
            for m in CALL.finditer(line):
                homes, instead = BANNED[m.group(1)]
                if name.startswith("tests/") and m.group(1) in BLUNT:
                    continue
                if not any(name.startswith(home) for home in homes):
                    fault(number, "banned", f"{m.group(1)}(): use {instead}")
        if name.endswith(".h") and not name.startswith("tests/"):
            if not text.startswith("/*"):
                faults.append(f"{name}:1: manual: a header begins with what it is for")
            if name.startswith("daemon/") or name.startswith("rules/"):
                if not re.search(r"#ifndef (\w+_H)\n#define \1\n", text):
                    faults.append(f"{name}: guard: an include guard ROOM_FILE_H")
                if len(text.split("*/")[0]) < 120:
                    faults.append(f"{name}:1: manual: purpose, ownership, units, threads, errors")
    print("\n".join(faults) or f"{len(files)} files in good style")
    return 1 if faults else 0


sys.exit(main())
