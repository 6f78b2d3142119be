#!/usr/bin/env python3
"""docs/operations.md tells what each event that the log has as a warning or an error means, and the
metrics that it speaks of exist."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVENT = re.compile(r'log_event\(\s*LOG_LEVEL_(?:WARNING|ERROR),\s*"([a-z_]+)')


def main():
    manual = (ROOT / "docs/operations.md").read_text()
    told = set(re.findall(r"`([a-z_]+)", manual))
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "daemon/*.c"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split()
    events, sources = {}, ""
    for name in files:
        if (ROOT / name).exists():
            text = (ROOT / name).read_text()
            sources += text
            for event in EVENT.findall(text):
                events.setdefault(event, name)
    faults = [f"{name}: docs/operations.md does not tell of {event}"
              for event, name in sorted(events.items()) if event not in told]
    metrics = sorted(set(re.findall(r"fourhanded_[a-z_]+", manual)))
    faults += [f"docs/operations.md: there is no metric {m}" for m in metrics
               if m not in sources and m.removeprefix("fourhanded_") not in sources]
    print("\n".join(faults) or f"{len(events)} events, all told; {len(metrics)} metrics")
    return 1 if faults or not events else 0


if __name__ == "__main__":
    sys.exit(main())
