# SPDX-License-Identifier: Apache-2.0
"""What of the command line the Python module does not have: measurements and fits. Nothing is computed here."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pandas

SOURCE = pathlib.Path(__file__).resolve().parent.parent


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
    """What roofcast prints. RuntimeError, with what it says, where it ends with another status than 0."""
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def validate(kind, measured, *options):
    """A table of measurements (path or DataFrame) with the forecast of every row beside it. No column is renamed and no
    number rounded; only empty cells are missing."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(measured, pandas.DataFrame):
            frame, measured = measured, pathlib.Path(folder, "table.csv")
            frame.to_csv(measured, index=False)
        out = pathlib.Path(folder, "out.csv")
        run("calibrate", "validate", kind, measured, *options, "--out", out)
        return pandas.read_csv(out, keep_default_na=False, na_values=[""], float_precision="round_trip")
