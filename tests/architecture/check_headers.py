#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header of the product compiles alone, and twice in one file.

check_headers.py ROOT WORK COMPILER [FLAG...]         prints the headers that do not; exit status 1 if there are any
check_headers.py --self-test WORK COMPILER [FLAG...]  plants bad headers in a scratch tree and expects them found

Most headers include one of a few large ones. Such a header is compiled once with all it includes, and those that
include it are checked on top of that: what it brings, they bring themselves. This takes a quarter of the time. WORK keeps
what was found good, by the content of the header and of all it includes.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDERS = ["base", "hardware", "workloads", "models", "sim", "calibrate", "cli"]
LARGE = ["base/document/fields.hpp", "workloads/graph/operator.hpp", "sim/scenario/scenario.hpp",
         "sim/result/serving_estimate.hpp"]
INTERFACE = "sim/interface/"  # whose headers include each other as <roofcast/...>
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<(roofcast/[^>\n]+)>)', re.MULTILINE)


class Headers:
    """The headers below root and what each includes, itself among them."""

    def __init__(self, root):
        self.texts = {
            str(path.relative_to(root)): path.read_text(encoding="utf-8")
            for folder in FOLDERS for path in (root / folder).rglob("*.hpp")
        }
        self.below = {}
        for header in self.texts:
            reached, open_headers = {header}, [header]
            while open_headers:
                for quoted, installed in INCLUDE.findall(self.texts[open_headers.pop()]):
                    name = quoted or INTERFACE + installed
                    if name in self.texts and name not in reached:
                        reached.add(name)
                        open_headers.append(name)
            self.below[header] = reached

    def base_of(self, header):
        """The large header that brings the most of what this one includes, or None."""
        inside = [name for name in LARGE if name != header and name in self.below[header]]
        return max(inside, key=lambda name: len(self.below[name]), default=None)

    def digest(self, header, command):
        parts = [*command, *(f"{name}\n{self.texts[name]}" for name in sorted(self.below[header]))]
        return header + " " + hashlib.sha256("\0".join(parts).encode()).hexdigest()


def twice(header):
    return f'#include "{header}"\n' * 2


def compiled(command, root, text=None):
    """What the compiler says; empty when it says nothing bad."""
    command = [command[0], "-w", f"-I{root}", *command[1:]]  # this tree before any that the flags name
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def bad_headers(root, work, command):
    """The headers that do not stand alone, each with what the compiler says."""
    headers = Headers(root)
    known = work / "good_headers.txt"
    good = set(known.read_text(encoding="utf-8").splitlines()) if known.exists() else set()
    open_headers = [name for name in headers.texts if headers.digest(name, command) not in good]
    bad = {}

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def precompile(header):
            base = pathlib.Path(scratch) / header
            base.parent.mkdir(parents=True, exist_ok=True)
            base.write_text(twice(header), encoding="utf-8")
            return compiled([*command, "-x", "c++-header", base, "-o", f"{base}.gch"], root)

        def check(header):
            base = headers.base_of(header)
            on_top = ["-include", f"{scratch}/{base}"] if base and base not in bad else []
            return compiled([*command, *on_top, "-fsyntax-only", "-x", "c++", "-"], root, twice(header))

        bases = sorted({headers.base_of(name) for name in open_headers} - {None})
        for names, examine in [(bases, precompile), ([n for n in open_headers if n not in bases], check)]:
            for name, said in zip(names, pool.map(examine, names)):
                if said:
                    bad[name] = said

    work.mkdir(parents=True, exist_ok=True)
    good = {headers.digest(name, command) for name in headers.texts if name not in bad}
    known.write_text("".join(f"{line}\n" for line in sorted(good)), encoding="utf-8")
    return bad


def self_test(work, command):
    """Planted headers, each of which must be found, and nothing but them."""
    fields, scenario = LARGE[0], LARGE[2]
    clean = {
        fields: "#pragma once\n#include <string>\n",
        scenario: f'#pragma once\n#include <vector>\n#include "{fields}"\n',
        "sim/a.hpp": f'#pragma once\n#include "{scenario}"\ninline std::vector<std::string> names() {{ return {{}}; }}\n',
        "base/a.hpp": "#pragma once\n#include <vector>\nusing A = std::vector<int>;\n",
    }
    plants = {
        "a standard header that is missing": ("base/b.hpp", "#pragma once\nusing B = std::vector<int>;\n"),
        "one that only a neighbour includes": ("base/c.hpp", "#pragma once\nusing C = A;\n"),
        "one that only a larger header includes": (
            "sim/b.hpp", f'#pragma once\n#include "{fields}"\nusing B = std::vector<std::string>;\n'),
        "a header without a guard": ("base/d.hpp", "struct D {};\n"),
        "a large header": (scenario, f'#pragma once\n#include "{fields}"\nusing S = std::vector<int>;\n'),
    }
    failures = []
    for what, plant in [("nothing planted", None), *plants.items()]:
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            root = pathlib.Path(scratch)
            for name, text in [*clean.items(), *([plant] if plant else [])]:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            first = bad_headers(root, root / "work", command)
            again = bad_headers(root, root / "work", command)  # with what the first has kept
        expected = {plant[0]} if plant else set()
        if plant and plant[0] == scenario:
            expected.add("sim/a.hpp")  # does not compile without it
        if not (set(first) == set(again) == expected):
            failures.append(f"{what}: expected {sorted(expected)}, found {sorted(first)}, then {sorted(again)}")
    return failures


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    work, command = pathlib.Path(sys.argv[2]), sys.argv[3:]
    work.mkdir(parents=True, exist_ok=True)
    if sys.argv[1] == "--self-test":
        found = self_test(work, command)
    else:
        bad = bad_headers(pathlib.Path(sys.argv[1]).resolve(), work.resolve(), command)
        found = [f"{header} does not compile alone:\n{said}" for header, said in sorted(bad.items())]
    print("\n".join(found) if found else "no violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
