#!/usr/bin/env python3
"""What `cmake --preset release` installs is where the units, samples and defaults look for it."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    release = next(p for p in presets if p["name"] == "release")
    prefix = release["cacheVariables"].get("CMAKE_INSTALL_PREFIX", "/usr/local")
    program, web = f"{prefix}/bin/fourhanded", f"{prefix}/share/fourhanded/web"
    looks = [
        ("config/fourhanded.service", r"^ExecStart=(\S+)", program),
        ("config/mail/postfix-master.cf", r"argv=(\S+)", program),
        ("config/fourhanded.conf", r'^#web_directory = "(.*)";', web),
    ]
    faults = []
    for name, pattern, wanted in looks:
        found = re.search(pattern, (ROOT / name).read_text(), re.M)
        if not found or found.group(1) != wanted:
            faults.append(f"{name}: {found.group(1) if found else 'nothing'} where {wanted} is "
                          "installed")
    print("\n".join(faults) or f"{len(looks)} places, all below {prefix}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
