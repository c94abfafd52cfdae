#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the source files that pages name exist.

A name between backticks that ends as a source does is a path from the root, or the end of one: `fields.hpp`. Pages of
measured logs name files of other repositories. docs/extending.md shows names of files to come.

check_docs.py ROOT         prints every name below ROOT that is of no file; exit status 1 if there is any
check_docs.py --self-test  plants such names in a scratch tree and expects them found
"""

import re

import checking

NAME = re.compile(r"`([\w./-]+\.(?:cpp|hpp|cu|cuh|py|js|cjs|cmake))`")
EXEMPT = re.compile(r"^(tests/measured_logs/.*|CHANGELOG\.md)$")
TO_COME = re.compile(r"(^|/)x(_command)?\.[ch]pp$")


def violations(root):
    """Every name of no file below root, as one line of text each."""
    files = checking.tracked(root)
    ends = {name[at:] for name in files for at in [0, *(m.end() for m in re.finditer("/", name))]}
    found = []
    for page in sorted(files):
        if not page.endswith(".md") or EXEMPT.match(page) or not (root / page).is_file():
            continue
        text = (root / page).read_text(encoding="utf-8")
        for match in NAME.finditer(text):
            if match.group(1) not in ends and not TO_COME.search(match.group(1)):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{page}:{line}: {match.group(1)} is of no file")
    return found


def self_test():
    """One planted name each; the clean tree must pass, and each plant must be named."""
    clean = {"sim/a.hpp": "", "docs/a.md": "`sim/a.hpp` and `a.hpp`, `x.yaml`, to come: `models/x.hpp`\n"}
    plants = [
        ("a path", {"docs/b.md": "\n`sim/b.hpp`\n"}, "docs/b.md:2: sim/b.hpp"),
        ("a name", {"README.md": "`b.cpp`\n"}, "README.md:1: b.cpp"),
        ("the end of a name", {"README.md": "`.a.hpp` `ta.hpp`\n"}, "ta.hpp"),
    ]
    return checking.planted(violations, clean, plants)


if __name__ == "__main__":
    checking.main(__doc__, violations, self_test)
