#!/usr/bin/env python3
"""Rooms include only what the table in ARCHITECTURE.md lets them.

Reads the table "Rooms and arrows" (the document is the rule, so the two cannot drift apart) and
every #include of every room, its own headers apart.  Also: no cycle, no file outside a room, and
CMake links exactly what the table allows.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBC = set("""assert.h ctype.h errno.h fcntl.h inttypes.h limits.h locale.h math.h poll.h pthread.h
signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h
time.h unistd.h dirent.h pwd.h grp.h netdb.h arpa/inet.h netinet/in.h netinet/tcp.h net/if.h sys/file.h
sys/mman.h sys/prctl.h sys/resource.h sys/socket.h sys/stat.h sys/time.h sys/types.h sys/uio.h sys/un.h
sys/wait.h sys/ioctl.h sys/statvfs.h sys/inotify.h sys/eventfd.h sys/epoll.h sys/random.h
getopt.h libgen.h setjmp.h malloc.h asm/socket.h termios.h sched.h dlfcn.h""".split())
PURE = {"assert.h", "limits.h", "stdalign.h", "stdbool.h", "stddef.h", "stdint.h", "string.h",
        "stdatomic.h", "immintrin.h"}
EXTERNAL = {
    "libconfig": r"libconfig\.h", "sqlite3": r"sqlite3\.h", "sodium": r"sodium\.h|sodium/.*",
    "curl": r"curl/.*", "gmime": r"gmime/.*|glib\.h|glib/.*", "etpan": r"libetpan/.*",
    "cairo": r"cairo\.h|cairo/.*", "librsvg": r"librsvg/.*|glib\.h", "libpng": r"png\.h",
    "microhttpd": r"microhttpd\.h", "jansson": r"jansson\.h", "libsystemd": r"systemd/.*",
}


def table():
    rooms = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"`[a-z]+`", cells[0]):
            words = lambda s: [w for w in re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)", "", s))]
            rooms[cells[0].strip("`")] = (words(cells[1]), words(cells[2]))
    return rooms


def main():
    rooms = table()
    faults = []
    if "rules" not in rooms or "main" not in rooms:
        print("ARCHITECTURE.md: the table of rooms is missing")
        return 1
    allowed = {name: (set(rooms) - {"main"} if "every" in inc else set(inc)) | {name}
               for name, (inc, _) in rooms.items()}
    for name, inc in allowed.items():
        for other in inc - set(rooms):
            faults.append(f"ARCHITECTURE.md: {name} may include {other}, which is no room")
    # No cycle among the allowed arrows.
    order, open_ = [], set()

    def visit(room, path):
        if room in order:
            return
        if room in open_:
            faults.append("cycle: " + " -> ".join(path + [room]))
            return
        open_.add(room)
        for other in sorted(allowed[room] - {room}):
            visit(other, path + [room])
        order.append(room)

    for room in rooms:
        visit(room, [])
    for path in sorted([*ROOT.glob("rules/**/*.[ch]"), *ROOT.glob("daemon/**/*.[ch]")]):
        rel = path.relative_to(ROOT)
        room = "rules" if rel.parts[0] == "rules" else rel.parts[1]
        if room not in rooms:
            faults.append(f"{rel}: {room} is no room of ARCHITECTURE.md")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            m = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not m:
                continue
            quote, name = m.groups()
            where = f"{rel}:{number}"
            if quote == '"':
                target = name.split("/")[0]
                if "/" not in name:
                    faults.append(f'{where}: write "{room}/{name}"')
                elif target not in allowed[room]:
                    faults.append(f"{where}: {room} may not include {target}")
            else:
                libc = PURE if room == "rules" else LIBC
                ok = name in libc or any(
                    re.fullmatch(EXTERNAL[lib], name) for lib in rooms[room][1] if lib in EXTERNAL)
                if not ok:
                    faults.append(f"{where}: {room} may not include <{name}>")
    for cmake in sorted([ROOT / "rules/CMakeLists.txt", *ROOT.glob("daemon/*/CMakeLists.txt")]):
        if not cmake.exists():
            continue
        room = "rules" if cmake.parent.name == "rules" else cmake.parent.name
        text = re.sub(r"#.*", "", cmake.read_text())
        for m in re.finditer(r"fh_room\(\s*([a-z]+)\b([^)]*)\)", text):
            part = re.search(r"ROOMS([a-z0-9_\s]*)", m.group(2))
            linked = set(part.group(1).split()) if part else set()
            for other in linked - allowed.get(m.group(1), set()):
                faults.append(f"{cmake.relative_to(ROOT)}: {m.group(1)} may not link {other}")
    print("\n".join(faults) or f"{len(rooms)} rooms, no arrow against the table")
    return 1 if faults else 0


sys.exit(main())
