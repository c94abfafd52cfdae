# SPDX-License-Identifier: Apache-2.0
"""The command line of roofcast from Python: documents in, dicts and pandas tables out.

Nothing is computed here. A scenario or sweep is a path, or a dict of the keys that its YAML would have; `changes` maps
dotted paths to values, as --set takes them: {"system.chip.hbm.bandwidth": "x1.5"}. Columns are those of the CSV, in SI
units with the unit in the name.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pandas
import yaml

SOURCE = pathlib.Path(__file__).resolve().parent.parent


class RoofcastError(RuntimeError):
    """What roofcast wrote to stderr, and its exit status."""

    def __init__(self, message, exit_status):
        super().__init__(message)
        self.exit_status = exit_status


def binary():
    """The program: ROOFCAST_BINARY, or that of the PATH, or the newest of the build trees beside this folder."""
    if named := os.environ.get("ROOFCAST_BINARY"):
        return named
    if installed := shutil.which("roofcast"):
        return installed
    built = sorted(SOURCE.glob("build/*/cli/roofcast"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise FileNotFoundError("roofcast is not installed, not built in build/, and ROOFCAST_BINARY is not set")
    return str(built[-1])


def run(*arguments):
    """What roofcast prints. RoofcastError, with what it says, where it ends with another status than 0."""
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RoofcastError(done.stderr.strip(), done.returncode)
    return done.stdout


def table(source):
    """A CSV of roofcast's as a DataFrame: no column renamed, no number rounded, only empty cells are missing."""
    return pandas.read_csv(source, keep_default_na=False, na_values=[""], float_precision="round_trip")


def show(kind, name):
    """An entry of the catalog, with its sources: show("chip", "h200_sxm")["tensor"]["bf16"] is "989 TFLOPS"."""
    return yaml.safe_load(run("show", kind, name))


def estimate(scenario, changes=None, explain=False):
    """Metrics of one scenario as a dict; with `explain` its iterations and their operators too."""
    return _answer("estimate", scenario, changes, ["--explain"] if explain else [])


def operators(explained):
    """The operators of an explained estimate, one a row, with the iteration they belong to. Times, FLOP and bytes are of
    one GPU and of all runs of the operator in the iteration."""
    iterations = [pandas.DataFrame(iteration["operators"]).assign(iteration=iteration["name"]) for iteration in explained["iterations"]]
    return pandas.concat(iterations, ignore_index=True)


def solve(scenario, vary, until, minimize=None, changes=None):
    """The value of the knobs of `vary` ({path: range}) that keeps the conditions of `until`."""
    options = [text for path, values in vary.items() for text in ("--vary", f"{path}={values}")]
    options += [text for condition in until for text in ("--until", condition)]
    return _answer("solve", scenario, changes, options + (["--minimize", minimize] if minimize else []))


def sensitivity(scenario, metric, changes=None):
    """Elasticities of a metric, what would be left of it with a resource free, and where its interval comes from."""
    return _answer("sensitivity", scenario, changes, ["--metric", metric])["metrics"][metric]


def sweep(document):
    """Every point of a sweep, one a row."""
    return _written(lambda path: ["sweep", path, "--quiet", "--csv"], document)


def simulate(scenario, changes=None):
    """Every request of a simulated server, one a row."""
    return _written(lambda path: ["simulate", path, *_turned(changes), "--csv"], scenario)


def validate(kind, measured, *options):
    """A table of measurements (path or DataFrame) with the forecast of every row beside it."""
    return _written(lambda path: ["calibrate", "validate", kind, path, *options, "--out"], measured)


def _turned(changes):
    texts = {path: value if isinstance(value, str) else json.dumps(value) for path, value in (changes or {}).items()}
    return [part for path, text in texts.items() for part in ("--set", f"{path}={text}")]


def _answer(command, scenario, changes, options):
    with tempfile.TemporaryDirectory() as folder:
        path = _path(scenario, folder)
        return json.loads(run(command, path, *_turned(changes), *options, "--format", "json"))


def _written(command, document):
    """The table that roofcast writes where the last of the arguments says."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.csv")
        run(*command(_path(document, folder)), out)
        return table(out)


def _path(document, folder):
    if isinstance(document, pandas.DataFrame):
        path = pathlib.Path(folder, "table.csv")
        document.to_csv(path, index=False)
    elif isinstance(document, dict):
        path = pathlib.Path(folder, "document.yaml")
        path.write_text(json.dumps(document, indent=2), encoding="utf-8")  # JSON is YAML
    else:
        path = document
    return path
