#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks each manifest of calibrate/measurements against its tables; README.md there says what a manifest is.

check_measurements.py ROOT         prints what is wrong below ROOT; exit status 1 if anything is, 77 without PyYAML
check_measurements.py --self-test  plants each kind of mistake in a scratch tree and expects it found
"""

import csv
import gzip
import hashlib
import json
import pathlib
import re
import sys

import checking

try:
    import yaml
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-yaml)")
    sys.exit(77)

FOLDER = "calibrate/measurements"
REQUIRED = ("title", "tables", "source", "licence", "date", "hardware", "stack", "timer")
KEYS = {*REQUIRED, "place", "meaning", "notes"}
LICENCES = {"Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "MIT"}
MOST_BYTES = 30_000_000
NO_TABLES = {"README.md", "LICENSE", ".gitattributes"}
NO_MANIFESTS = {"environment.yaml"}  # roofcast-bench writes it


def cells(path):
    """Names of the columns, and a list of cells for each; nothing for a document."""
    opened = (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="")
    with opened as file:
        if path.suffix == ".json":
            return None
        if ".jsonl" in path.name:
            rows = [json.loads(line) for line in file]
            return {name: [str(row.get(name, "")) for row in rows] for name in rows[0]}
        lines = list(csv.reader(file))
    if len({len(line) for line in lines}) != 1:
        raise ValueError("its lines differ in cells")
    return {column[0]: column[1:] for column in (lines if ".columns" in path.name else map(list, zip(*lines)))}


def wrong_table(path, said, where):
    """What a manifest says wrongly of one table."""
    if said.get("sha256") != hashlib.sha256(path.read_bytes()).hexdigest():
        yield f"{where}: sha256 is not that of the file"
    try:
        columns = cells(path)
    except (OSError, ValueError) as error:
        yield f"{where}: {error}"
        return
    if columns is None:
        return
    if said.get("columns") != list(columns):
        yield f"{where}: columns are {list(columns)}"
    rows = len(next(iter(columns.values())))
    if said.get("rows") != rows:
        yield f"{where}: rows are {rows}"


def wrong_values(manifest, columns, name):
    """Hardware, stacks and meanings that the first table does not have, or has and the manifest does not."""
    hardware, stack = manifest["hardware"], manifest["stack"]
    for what, said in (("hardware", hardware), ("stack", stack)):
        if isinstance(said, str):
            continue
        found = columns.get(said.get("column"))
        if found is None:
            yield f"{name}: {what}: no column {said.get('column')}"
            continue
        listed = set(said.get("values", said.get("versions", ())))
        if listed != set(found) - {""}:
            yield f"{name}: {what}: the table has {sorted(set(found) - {''})}"
        elif "versions" in said:
            pairs = set(zip(found, columns[said["version_column"]]))
            if {(each, version) for each, all in said["versions"].items() for version in all} != {
                    pair for pair in pairs if pair[1]}:
                yield f"{name}: {what}: the table has the versions {sorted(pairs)}"
    for column in manifest.get("meaning", {}):
        if column not in columns:
            yield f"{name}: meaning: no column {column}"


def violations(root):
    folder, notice = root / FOLDER, (root / "NOTICE").read_text(encoding="utf-8")
    found, described = [], set()
    for path in sorted(path for path in folder.rglob("*.yaml") if path.name not in NO_MANIFESTS):
        name = str(path.relative_to(root))
        manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
        missing, unknown = [key for key in REQUIRED if key not in manifest], sorted(set(manifest) - KEYS)
        if missing or unknown:
            found.append(f"{name}: missing {missing}, unknown {unknown}")
            continue
        if manifest["licence"] not in LICENCES:
            found.append(f"{name}: licence {manifest['licence']}")
        for source in manifest["source"]:
            repository = source.split("@")[0]
            if not re.search(rf"(?<![\w./-]){re.escape(repository)}(?![\w.-])", notice):
                found.append(f"{name}: NOTICE does not name {repository}")
        for table, said in manifest["tables"].items():
            file = path.parent / table
            described.add(file)
            if file.is_file():
                found += wrong_table(file, said, f"{name}: {table}")
            else:
                found.append(f"{name}: {table}: no such file")
        first = path.parent / next(iter(manifest["tables"]))
        if first.is_file() and not any(line.startswith(name) for line in found):
            found += wrong_values(manifest, cells(first), name)
    files = {path for path in folder.rglob("*") if path.is_file()}
    for path in sorted(files - described):
        if path.suffix != ".yaml" and path.name not in NO_TABLES:
            found.append(f"{path.relative_to(root)}: no manifest has it")
    size = sum(path.stat().st_size for path in files)
    if size > MOST_BYTES:
        found.append(f"{FOLDER}: {size} bytes, at most {MOST_BYTES}")
    if not described:
        found.append(f"{FOLDER}: no tables")
    return found


def self_test():
    """One planted mistake each; the clean tree must pass, and each plant must be named."""
    table, transposed = "system,fw,fw_version,ms\na,x,1,5\nb,y,2,6\n", "system,a,b\nfw,x,y\nfw_version,1,2\nms,5,6\n"
    def manifest(text, name, **changed):
        said = {"title": "t", "source": ["o/r@1"], "place": "docs/x.md", "licence": "MIT", "date": "2026", "timer": "a clock",
                "tables": {name: {"rows": 2, "sha256": hashlib.sha256(text.encode()).hexdigest(),
                                  "columns": ["system", "fw", "fw_version", "ms"]}},
                "hardware": {"column": "system", "values": ["a", "b"]},
                "stack": {"column": "fw", "version_column": "fw_version", "versions": {"x": ["1"], "y": ["2"]}},
                "meaning": {"ms": "ms"}}
        said.update(changed)
        return yaml.safe_dump({key: value for key, value in said.items() if value is not None})
    one, two = f"{FOLDER}/ops/one", f"{FOLDER}/ops/two"
    clean = {"NOTICE": "o/r\n", f"{FOLDER}/README.md": "", f"{one}.csv": table, f"{one}.yaml": manifest(table, "one.csv"),
             f"{two}.columns": transposed, f"{two}.yaml": manifest(transposed, "two.columns")}
    plants = [
        ("another digit", {f"{one}.csv": table.replace("5", "4")}, "one.yaml: one.csv: sha256 is not"),
        ("a lost row", {f"{one}.csv": table[:table.index("b,")]}, "one.csv: rows are 1"),
        ("a lost cell", {f"{one}.csv": table.replace(",5", "")}, "one.csv: its lines differ"),
        ("a renamed column", {f"{two}.columns": transposed.replace("ms", "us")}, "two.columns: columns are ['system'"),
        ("a table without a manifest", {f"{FOLDER}/new.csv": table}, "new.csv: no manifest has it"),
        ("a manifest without a table", {f"{one}.yaml": manifest(table, "gone.csv")}, "gone.csv: no such file"),
        ("a source without a notice", {"NOTICE": ""}, "NOTICE does not name o/r"),
        ("no licence", {f"{one}.yaml": manifest(table, "one.csv", licence=None)}, "missing ['licence']"),
        ("another licence", {f"{one}.yaml": manifest(table, "one.csv", licence="unknown")}, "licence unknown"),
        ("an unknown key", {f"{one}.yaml": manifest(table, "one.csv", note="")}, "unknown ['note']"),
        ("another chip", {f"{one}.yaml": manifest(table, "one.csv", hardware={"column": "system", "values": ["a"]})},
         "hardware: the table has ['a', 'b']"),
        ("another version", {f"{one}.yaml": manifest(table, "one.csv", stack={
            "column": "fw", "version_column": "fw_version", "versions": {"x": ["1"], "y": ["3"]}})},
         "stack: the table has the versions"),
        ("a meaning of no column", {f"{one}.yaml": manifest(table, "one.csv", meaning={"us": "µs"})},
         "meaning: no column us"),
        ("too many bytes", {f"{FOLDER}/README.md": "x" * MOST_BYTES}, "at most"),
    ]
    return checking.planted(violations, clean, plants)


if __name__ == "__main__":
    checking.main(__doc__, violations, self_test)
