#!/usr/bin/env python3
"""Every function that a header of the program declares is called from another file.

One that its own file alone calls is static there.  One that nobody but tests calls is dead, unless
tests see or steer by it what the program does: then it stands in FOR_TESTS.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOR_TESTS = set("""
    clock_test test_clock_advance test_clock_set_wall
    courier_step lmtp_is_idle lmtp_server_wake
    engine_choose game_build position_count_moves position_is_ok
    event_type_str fen4_losses fen4_verdict_str mail_outcome_str pgn4_verdict_str
    http_print_routes plural_is_used settings_manual settings_parse
    audit_list held_get holders_list outages_list peek_store_path store_lock_holder
    zone_next_change zone_offset_format zone_to_utc
""".split())
# Not a header but the body of the engines, which is compiled once for each kind of processor.
BODIES = {"rules/engine_impl.h"}
# A declaration at the left border, of no inline function: type, name and an open bracket.
DECLARED = re.compile(r"^(?!static\b|INLINE\b)[a-zA-Z_][\w ]*[ *](\w+)\(", re.M)


def code_only(text):
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def main():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split()
    texts = {n: code_only((ROOT / n).read_text()) for n in names if (ROOT / n).exists()}
    users = collections.defaultdict(set)  # word: the files that have it
    for name, text in texts.items():
        for word in set(re.findall(r"\w+", text)):
            users[word].add(name)
    declared, faults = {}, []
    for name, text in texts.items():
        if name.endswith(".h") and name.startswith(("daemon/", "rules/")) and name not in BODIES:
            macros = "".join(re.findall(r"^#define (?:[^\n]*\\\n)*[^\n]*", text, re.M))
            for function in DECLARED.findall(text):
                if not re.search(rf"\b{function}\b", macros):
                    declared[function] = name
    for function, header in sorted(declared.items()):
        others = users[function] - {header}
        home = {n for n in others
                if re.search(rf"^[a-z][^;\n]*\b{function}\([^;{{]*\)\n\{{", texts[n], re.M)}
        ours = {n for n in others - home if n.startswith(("daemon/", "rules/"))}
        calls_itself = sum(len(re.findall(rf"\b{function}\b", texts[n])) for n in home) > 1
        if ours or (others - home and (calls_itself or function in FOR_TESTS)):
            continue
        faults.append(f"{header}: {function}() is called " +
                      ("by tests alone: " + " ".join(sorted(others - home)) if others - home else
                       "in its own file alone: make it static" if calls_itself else "by nobody"))
    faults += [f"{sys.argv[0]}: there is no {f}()" for f in sorted(FOR_TESTS - set(declared))]
    print("\n".join(faults) or f"{len(declared)} functions, each called from another file")
    return 1 if faults or len(declared) < 500 else 0


sys.exit(main())
