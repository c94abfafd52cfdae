# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share: a scenario, a sweep, and the program beside it."""

import json
import os
import pathlib
import subprocess

SOURCE = pathlib.Path(os.environ["ROOFCAST_SOURCE_DIR"])
SCENARIO = {
    "system": "hgx_h200",
    "model": "llama-3.1-70b",
    "precision": "fp8",
    "deployment": {"tensor_parallel": 8},
    "serving": {"stack": "vllm"},
    "traffic": {"input_tokens": 2048, "output_tokens": 512, "concurrency": 64},
}
SWEEP = {
    "base": SCENARIO,
    "axes": {"deployment.tensor_parallel": [1, 2, 4], "precision": ["bf16", "fp8"], "traffic.concurrency": [1, 64]},
    "where": ["tpot_mean_s <= 0.03"],
}
HBM = "system.chip.hbm.bandwidth"


def program(*arguments):
    """What the command prints."""
    done = subprocess.run([os.environ["ROOFCAST_BINARY"], *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def answer(*arguments):
    """What the command prints as JSON, without what every answer begins and ends with."""
    printed = json.loads(program(*arguments, "--json"))
    return {key: value for key, value in printed.items() if key not in ("roofcast", "units", "made_by")}
