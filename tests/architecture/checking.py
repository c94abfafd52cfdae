# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder have in common: files, planted violations, and the command line."""

import pathlib
import subprocess
import sys
import tempfile


def tracked(root):
    """Files below root that git knows, or all of them outside a checkout."""
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                              "--exclude-standard"], capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        return [name for name in listing.stdout.split("\0") if name]
    return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]


def planted(violations, clean, plants):
    """What goes wrong when each plant, (what, files, expected text), is put into a clean tree."""
    failures = []
    for what, plant, expected in [("nothing planted", {}, None), *plants]:
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            for name, text in {**clean, **plant}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = violations(root)
        if expected is None and found:
            failures.append(f"{what}: found {found}")
        elif expected is not None and not any(expected in line for line in found):
            failures.append(f'{what}: expected "{expected}", found {found}')
    return failures


def main(usage, violations, self_test):
    """CHECK ROOT or CHECK --self-test; exit status 1 where there is a violation."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    found = self_test() if sys.argv[1] == "--self-test" else violations(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "no violations")
    sys.exit(1 if found else 0)
