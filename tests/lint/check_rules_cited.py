#!/usr/bin/env python3
"""Which rules of play has no test exercised?

Tests name the rules they exercise while they run: RULE("R-V12") of tests/support/rule.h appends
the number to the file that the environment variable FH_RULES_LOG names.  This script compares that
file with docs/rules-of-play.md:

    check_rules_cited.py [--docs FILE] [LOG...]      LOG defaults to $FH_RULES_LOG

It lists, one a line, and exits with 1 if there are any:
  - rules of the page that no test named,
  - numbers that a test named and the page does not have,
  - gaps in the page's own numbering.
"""
import argparse
import os
import pathlib
import re
import sys

NUMBER = re.compile(r"\bR-([CVFMT])([1-9][0-9]*)\b")
DEFINED = re.compile(r"^- \*\*R-([CVFMT])([1-9][0-9]*)\*\*", re.MULTILINE)


def name(rule):
    return "R-%s%d" % rule


def rules_in(text, pattern):
    return [(letter, int(number)) for letter, number in pattern.findall(text)]


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=pathlib.Path, default=root / "docs" / "rules-of-play.md")
    parser.add_argument("logs", metavar="LOG", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    logs = args.logs
    if not logs and os.environ.get("FH_RULES_LOG"):
        logs = [pathlib.Path(os.environ["FH_RULES_LOG"])]
    if not logs:
        parser.error("no LOG given, and FH_RULES_LOG is not set")

    page = args.docs.read_text(encoding="utf-8")
    defined = rules_in(page, DEFINED)
    faults = []
    for rule in sorted(set(rule for rule in defined if defined.count(rule) > 1)):
        faults.append(f"{name(rule)}: stands twice in {args.docs.name}")
    defined = set(defined)
    for letter in "CVFMT":
        numbers = [number for series, number in defined if series == letter]
        for number in sorted(set(range(1, max(numbers, default=1) + 1)) - set(numbers)):
            faults.append(f"{name((letter, number))}: missing in {args.docs.name}")
    for rule in sorted(set(rules_in(page, NUMBER)) - defined):
        faults.append(f"{name(rule)}: spoken of in {args.docs.name}, but not defined there")

    named = set()
    for log in logs:
        try:
            named.update(rules_in(log.read_text(encoding="utf-8"), NUMBER))
        except FileNotFoundError:
            faults.append(f"{log}: no such log; did the tests run with FH_RULES_LOG set?")
    for rule in sorted(defined - named):
        faults.append(f"{name(rule)}: no test names it")
    for rule in sorted(named - defined):
        faults.append(f"{name(rule)}: a test names it, but {args.docs.name} has no such rule")

    for fault in faults:
        print(fault)
    print(f"{len(defined & named)} of {len(defined)} rules are named by tests")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
