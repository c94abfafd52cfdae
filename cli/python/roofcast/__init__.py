# SPDX-License-Identifier: Apache-2.0
"""roofcast in Python: forecasts of AI workloads on GPU systems, in this process, without files.

    scenario = roofcast.Scenario("mine.yaml")             # or a dict of the keys that the YAML would have
    scenario["system.chip.hbm.bandwidth"] = "x1.5"        # a knob: its dotted path, and a value or a factor
    roofcast.estimate(scenario)["tpot_mean_s"]            # about a millisecond, most of it to read the scenario
    roofcast.sweep({"base": scenario, "axes": {"traffic.concurrency": [1, 8, 64]}}).to_pandas()   # many at once: 10 µs each

Wherever a scenario, a sweep or a roadmap is expected, a dict, a path of a YAML or JSON file, or a Scenario will do.
`changes` maps dotted paths of knobs to values: {"system": "hgx_b200", "traffic.concurrency": 64}. Figures are in SI
units, and the end of a metric's name says which: tpot_mean_s is in seconds, memory_b_per_gpu in bytes. `metrics()` has
the unit of each. Bad input raises roofcast.Error. What cannot run is no error: it is a result with a reason.

Every function may be called from several threads. The interpreter's lock is released while one computes.
"""

import atexit as _atexit

from . import _native
from ._catalog import kinds, list, show
from ._documents import Error, Problem, Scenario
from ._questions import brief, compare, draw_runs, estimate, recommend, sensitivity, simulate, solve, sweep
from ._results import Estimate, Metric, Simulation, Sweep, metrics

__version__: str = _native.version()

_atexit.register(_native.end_all)  # what other threads compute ends before the interpreter does

__all__ = [
    "Error", "Estimate", "Metric", "Problem", "Scenario", "Simulation", "Sweep", "brief", "compare", "draw_runs", "estimate",
    "kinds", "list", "metrics", "recommend", "sensitivity", "show", "simulate", "solve", "sweep",
]  # fmt: skip
