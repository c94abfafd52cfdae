#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no source names a chip, a system, a model or a calibration of the catalog, and that the engine names no
option of the command line.

What differs between them is a key of their entries; what is known of measured runs is a rule of
calibrate/conventions. A string literal may have an id only where it shows a user what to type:

    examples({...})          the footer of a command
    // example               at the end of the line: of a message or a help text

And that each file of tests has a namespace named like its path, since several are compiled as one:
tests/unit/sim/die_test.cpp has roofcast::unit_sim_die, or that in a namespace of roofcast.

check_names.py ROOT         prints every violation below ROOT; exit status 1 if there is any
check_names.py --self-test  plants each kind of violation in a scratch tree and expects it found
"""

import pathlib
import re

import checking

CATALOGS = ("hardware/chips", "hardware/systems", "hardware/calibrated", "workloads/models")
FOLDERS = ("base", "hardware", "workloads", "models", "sim", "calibrate", "cli")
ENGINE = {"base", "hardware", "workloads", "models", "sim"}  # a command adds its option to what these say
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LAYERS = ("unit", "laws", "golden", "cli", "bad_input", "validation")
SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
# Of no chip: the parameters that a chip nobody measured takes.
ROLES = {"generic"}

EXAMPLES = re.compile(r"examples\(\s*\{")
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'',
    re.DOTALL)


def ids(root):
    return {path.stem for catalog in CATALOGS for path in (root / catalog).glob("*.yaml")} - ROLES


def closing(text, start):
    """The end of the brackets that open at start, strings and comments left out."""
    depth, at = 0, start
    while at < len(text):
        token = TOKEN.match(text, at)
        if token:
            at = token.end()
            continue
        depth += (text[at] in "({[") - (text[at] in ")}]")
        at += 1
        if depth == 0:
            break
    return at


def literals(text):
    """Yields (offset, literal) of every string outside comments and examples({...})."""
    at = 0
    while at < len(text):
        if EXAMPLES.match(text, at) and not (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
            at = closing(text, at + len("examples"))
            continue
        token = TOKEN.match(text, at)
        if not token:
            at += 1
            continue
        if token.group()[0] in '"R':
            yield at, token.group()
        at = token.end()


def namespaces(root):
    """Files of tests that lack theirs."""
    for layer in LAYERS:
        for path in sorted((root / "tests" / layer).rglob("*_test.cpp")):
            name = "_".join(path.relative_to(root / "tests").with_suffix("").parts).removesuffix("_test")
            if not re.search(rf"^namespace roofcast(::\w+)*::{name} {{$", path.read_text(encoding="utf-8"), re.MULTILINE):
                yield f"{path.relative_to(root)}: has no namespace roofcast::{name}"


def violations(root):
    names = sorted(ids(root), key=len, reverse=True)
    if not names:
        return ["no catalog found"]
    pattern = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-]|\.\d)")
    found = [*namespaces(root)]
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8")
            lines = text.split("\n")
            for offset, literal in literals(text):
                names = [*pattern.finditer(literal), *(OPTION.finditer(literal) if folder in ENGINE else ())]
                for name in names:
                    line = text.count("\n", 0, offset + name.start())
                    if not lines[line].rstrip().endswith("// example"):
                        found.append(f"{path.relative_to(root)}:{line + 1}: names {name.group()}")
    return found


def self_test():
    """One planted violation each; the clean tree must pass, and each plant must be named."""
    clean = {
        "hardware/chips/h100_sxm.yaml": "", "hardware/systems/hgx_h100.yaml": "",
        "hardware/calibrated/generic.yaml": "", "hardware/calibrated/h100_sxm.vllm.yaml": "",
        "workloads/models/llama-3.1-8b.yaml": "",
        "cli/a.cpp": 'footer(examples({"run --set system=hgx_h100",\n "x) h100_sxm"}));  f("generic");\n',
        "cli/b.cpp": 'error("for example system=hgx_h100");  // example\n// h100_sxm\nint h100_sxm;\n',
        "sim/a.hpp": '#include "sim/llama.hpp"\nauto x = "my-llama-3.1-8b_2", y = "h100_sxm_2";\n',
        "tests/unit/a.cpp": 'chip("h100_sxm");\n',
        "tests/unit/b_test.cpp": "namespace roofcast::unit_b {\n",
        "tests/laws/c/d_test.cpp": "namespace roofcast::sim::laws_c_d {\n",
        "base/b.hpp": '// e.g. "--set"\n', "cli/f.cpp": 'error("--gpus");\n', "sim/d.cpp": 'x("a -- b, a--b, -g");\n',
    }
    plants = [
        ("a chip", {"sim/b.cpp": 'if (chip == "h100_sxm") {}\n'}, "sim/b.cpp:1: names h100_sxm"),
        ("a system", {"cli/c.cpp": '\nload("system: {base: hgx_h100}");\n'}, "cli/c.cpp:2: names hgx_h100"),
        ("a model", {"calibrate/a.cpp": 'x("llama-3.1-8b");\n'}, "names llama-3.1-8b"),
        ("a calibration", {"hardware/a.cpp": 'x("h100_sxm.vllm");\n'}, "names h100_sxm.vllm"),
        ("a raw string", {"base/a.hpp": 'auto x = R"(\n> h100_sxm\n)";\n'}, "base/a.hpp:2: names h100_sxm"),
        ("a CUDA source", {"calibrate/bench/a.cu": 'x("h100_sxm");\n'}, "a.cu:1: names h100_sxm"),
        ("after an example", {"cli/d.cpp": 'examples({"h100_sxm"}); x("h100_sxm");\n'}, "cli/d.cpp:1"),
        ("an option in the engine", {"sim/e.cpp": 'error("error: --gpus: x");\n'}, "sim/e.cpp:1: names --gpus"),
        ("a test without a namespace", {"tests/cli/a_test.cpp": "namespace roofcast {\n"}, "roofcast::cli_a"),
        ("another examples", {"cli/e.cpp": 'my_examples({"h100_sxm"});\n'}, "cli/e.cpp:1"),
    ]
    return checking.planted(violations, clean, plants)


if __name__ == "__main__":
    checking.main(__doc__, violations, self_test)
