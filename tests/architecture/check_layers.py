#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the arrows of the architecture: between folders, between the rooms
inside a folder, and between the files of a room.

check_layers.py ROOT         prints every violation below ROOT; exit status 1 if there is any
check_layers.py --self-test  plants each kind of violation in a scratch tree and expects it found
"""

import collections
import pathlib
import re
import subprocess

import checking

# Folder -> the folders it may include. Whoever may include a folder may include what lies below it.
ALLOWED = {
    "base": set(),
    "hardware": {"base"},
    "workloads": {"base"},
    "models": {"hardware", "workloads", "base"},
    "sim": {"models", "hardware", "workloads", "base"},
    "calibrate": {"sim", "models", "hardware", "workloads", "base"},
    "cli": {"calibrate", "sim", "models", "hardware", "workloads", "base"},
    "tests": {"cli", "calibrate", "sim", "models", "hardware", "workloads", "base"},
}

# Room -> the rooms of the same folder it may include, and what lies below those. "" is the folder's
# own files. A folder that is not here has no rooms.
ROOMS = {
    "base": {"": set(), "units": {""}, "document": {"units"}, "csv": {"document"},
             "statistics": {""}, "queueing": {"units"}},
    "hardware": {"": set()},
    "workloads": {"hugging_face": set(), "architecture": {"hugging_face"}, "graph": {"architecture"},
                  "traffic": {"architecture"}, "serving": {"graph", "traffic"}, "training": {"graph", "traffic"}},
    "models": {"": set(), "operators": {""}},
    "sim": {"scenario": set(), "iteration": {"scenario"}, "result": {"iteration"},
            "serving": {"result"}, "training": {"result"}, "replay": {"result"},
            "": {"serving", "training"}, "numerics": {""}, "cluster": {""}, "decide": {""}, "confirm": {"decide", "replay"},
            "recommend": {"confirm"}, "roadmap": {"confirm"}, "interface": {"decide", "replay"}},
    "calibrate": {"conventions": set(), "platforms": {"conventions"}, "operators": {"platforms"},
                  "logs": {"conventions"},
                  "imports": {"operators", "logs"}, "fit": {"operators"}, "accuracy": {"fit"}, "servers": {"platforms"},
                  "trainings": {"platforms"}, "bench": {"platforms"}},
    "cli": {"assets": set(), "tables": set(), "provenance": {"tables"}, "text": {"provenance", "assets"},
             "launch": {"text"}, "catalog": {"text"}, "check": {"text"}, "pages": {"text"}, "program": {"catalog"},
             "compare": {"pages", "program"}, "validate": {"pages", "program"}, "answers": {"pages", "program"}, "sweep": {"pages", "program"},
             "calibrate": {"program"}, "packing": {"tables"}, "recommend": {"launch", "pages"}, "briefs": {"pages"}, "kernels": {"pages"}, "question": {"program", "launch", "recommend"}, "simulate": {"pages"},
            "commands": {"check", "compare", "validate", "answers", "sweep", "calibrate", "packing", "recommend", "kernels", "question", "simulate"},
            "": {"commands"}, "python": {"commands"}},
}
MOST_FLOORS = 8  # of rooms above each other in one folder
MOST_FILES = 30  # of a folder's own sources

TOP_LEVEL = set(ALLOWED) | {
    "CMakeLists.txt", "CMakePresets.json", "README.md", "CONTRIBUTING.md", "CHANGELOG.md",
    "LICENSE", "NOTICE",
    "notebooks", "examples", "cmake", "docs", "scripts", ".ci",
    ".clang-format", ".clang-tidy", ".gitignore", ".git",
}

SOURCES = {".cpp", ".hpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hxx", ".ipp", ".inl", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def top_level_entries(root):
    """Names directly below root, without what git ignores (build trees)."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    )
    if listing.returncode == 0 and listing.stdout:
        names = {path.split("/")[0] for path in listing.stdout.split("\0") if path}
        return {name for name in names if (root / name).exists()}
    return {path.name for path in root.iterdir() if not path.name.startswith("build")}


def includes_of_folder(root, folder):
    """Yields (file, line number, included path, quoted) for every include in the folder."""
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(0)) + 1
            yield path, line, match.group(1) or match.group(2), match.group(1) is not None


def below(arrows, node):
    """All that can be reached from node."""
    reached, open_nodes = set(), [node]
    while open_nodes:
        for target in arrows[open_nodes.pop()] - reached:
            reached.add(target)
            open_nodes.append(target)
    return reached


def floors(arrows, node):
    """Rooms on the longest way down from node, itself among them; the arrows have no circle."""
    return 1 + max((floors(arrows, target) for target in arrows[node]), default=0)


def room_of(path):
    """The room of a path such as sim/decide/solve.hpp; "" for sim/estimate.hpp."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def circles(arrows):
    """One line for each circle of files, a header and its source being one file."""
    found, done = [], set()

    def visit(stem, way):
        if stem in way:
            found.append(" -> ".join([*way[way.index(stem):], stem]) + ": a circle of includes")
            return
        if stem in done:
            return
        for target in sorted(arrows.get(stem, ())):
            visit(target, [*way, stem])
        done.add(stem)

    for stem in sorted(arrows):
        visit(stem, [])
    return found


def violations(root):
    """Every violation below root, as one line of text each."""
    found = []
    edges = collections.defaultdict(list)  # (from, to) -> places
    files = collections.defaultdict(set)  # stem -> stems of the product it includes
    sources = collections.Counter()
    for folder in ALLOWED:
        for path in (root / folder).rglob("*"):
            if path.suffix in SOURCES | {".cu", ".cuh"}:
                sources[str(path.parent.relative_to(root))] += 1
        for path, line, included, quoted in includes_of_folder(root, folder):
            name = str(path.relative_to(root))
            place = f"{name}:{line}"
            target = included.split("/")[0]
            if target in ALLOWED and "/" in included:
                if target != folder:
                    edges[folder, target].append(place)
                elif folder in ROOMS:
                    here, there = room_of(name), room_of(included)
                    rooms = ROOMS[folder]
                    if here not in rooms:
                        found.append(f"{place}: {folder}/{here} is no room")
                    elif there != here and there not in below(rooms, here):
                        known = ", ".join(sorted(below(rooms, here))) or "no other room"
                        found.append(
                            f"{place}: {folder}/{here} includes {folder}/{there}; it may include {known}")
                stem, other = name.rsplit(".", 1)[0], included.rsplit(".", 1)[0]
                if stem != other:
                    files[stem].add(other)
            elif quoted:
                found.append(f'{place}: "{included}" is not a path from the repository root')

    for (source, target), places in sorted(edges.items()):
        if target not in ALLOWED[source]:
            allowed = ", ".join(sorted(ALLOWED[source])) or "nothing"
            found += [
                f"{place}: {source} includes {target}; it may include {allowed}"
                for place in places
            ]
        if source < target and (target, source) in edges:
            found.append(
                f"{source} and {target} include each other: {places[0]} and "
                f"{edges[target, source][0]}"
            )
    found += circles(files)
    for folder, rooms in ROOMS.items():
        tallest = max(floors(rooms, room) for room in rooms)
        if tallest > MOST_FLOORS:
            found.append(f"{folder}: {tallest} floors of rooms, at most {MOST_FLOORS}")
    for folder, count in sorted(sources.items()):
        if count > MOST_FILES:
            found.append(f"{folder}: {count} source files of its own, at most {MOST_FILES}")

    for name in sorted(top_level_entries(root) - TOP_LEVEL):
        found.append(f"{name}: not an entry of the top level")
    return found


def self_test():
    """One planted violation each; the clean tree must pass, and each plant must be named."""
    clean = {
        "README.md": "",
        "base/a.hpp": "#include <vector>\n",
        "hardware/a.cpp": '#include "base/a.hpp"\n#include "hardware/b.hpp"\n',
        "hardware/b.hpp": "",
        "models/a.cpp": '#include "hardware/b.hpp"\n#include <yaml-cpp/yaml.h>\n',
        "sim/scenario/a.hpp": "",
        "sim/decide/a.cpp": '#include "sim/estimate.hpp"\n#include "sim/scenario/a.hpp"\n',
        "sim/estimate.hpp": '#include "sim/serving/a.hpp"\n',
        "sim/serving/a.hpp": '#include "sim/serving/b.hpp"\n',
        "sim/serving/a.cpp": '#include "sim/serving/a.hpp"\n',
        "sim/serving/b.hpp": "",
        "tests/unit/a.cpp": '#include "models/a.hpp"\n',
        "build/generated.cpp": "",
    }
    plants = [
        ("against the arrow", {"base/b.cpp": '#include "sim/x.hpp"\n'}, "base includes sim"),
        ("a sibling", {"workloads/b.hpp": '\n#include "hardware/b.hpp"\n'},
         "workloads/b.hpp:2: workloads includes hardware"),
        ("angle brackets", {"base/b.cpp": "  #  include <cli/x.hpp>\n"}, "base includes cli"),
        ("each other", {"base/b.cpp": '#include "hardware/b.hpp"\n'},
         "base and hardware include each other"),
        ("a product folder that includes the tests", {"sim/b.cpp": '#include "tests/catch.hpp"\n'},
         "sim includes tests"),
        ("a relative path", {"sim/b.cpp": '#include "../base/a.hpp"\n'}, "repository root"),
        ("a bare name", {"sim/b.cpp": '#include "b.hpp"\n'}, "repository root"),
        ("a room against its arrow", {"sim/scenario/b.hpp": '#include "sim/serving/b.hpp"\n'},
         "sim/scenario includes sim/serving; it may include no other room"),
        ("a room that includes the folder above it", {"sim/serving/c.cpp": '#include "sim/estimate.hpp"\n'},
         "sim/serving/c.cpp:1: sim/serving includes sim/;"),
        ("a room beside another", {"sim/replay/b.cpp": '#include "sim/serving/b.hpp"\n'},
         "sim/replay includes sim/serving"),
        ("a room that is none", {"sim/helpers/b.cpp": '#include "sim/estimate.hpp"\n'},
         "sim/helpers is no room"),
        ("a circle of two files", {"sim/serving/b.cpp": '#include "sim/serving/a.hpp"\n'},
         "sim/serving/a -> sim/serving/b -> sim/serving/a: a circle"),
        ("a hall of files", {f"models/x{i}.cpp": "" for i in range(31)},
         "models: 32 source files of its own, at most 30"),
        ("a folder of the top level", {"utils/x.hpp": ""}, "utils: not an entry"),
        ("a file of the top level", {"setup.py": ""}, "setup.py: not an entry"),
    ]
    return checking.planted(violations, clean, plants)


if __name__ == "__main__":
    checking.main(__doc__, violations, self_test)
