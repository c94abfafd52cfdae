# SPDX-License-Identifier: Apache-2.0
"""The questions that the library answers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._documents import Changes, Documents, Scenario, assignments, changed, document_of, noting, path_of, text_of
from ._results import Estimate, Simulation, Sweep


@noting
def estimate(scenario: Documents, changes: Changes | None = None) -> Estimate:
    """The closed-form forecast of one scenario."""
    made = Estimate(_native.forecast(changed(scenario, changes)))
    for warning in made.warnings:
        warnings.warn(warning, stacklevel=3)
    return made


@noting
def simulate(
    scenario: Documents, changes: Changes | None = None, *, seed: int | None = None, warm_up: int = 0
) -> Simulation:
    """Simulates a scenario's requests; the same scenario and seed give the same numbers. `warm_up`: requests at the
    start that the summary also leaves out."""
    return Simulation(*_native.simulate(changed(scenario, changes), seed, warm_up))


@noting
def draw_runs(
    scenario: Documents, changes: Changes | None = None, *, runs: int = 1000, seed: int = 1
) -> dict[str, Any]:
    """Draws whole training runs of a scenario with the section run, failure by failure: times in s, beside the closed
    form."""
    result: dict[str, Any] = _native.draw_runs(changed(scenario, changes), runs, seed)
    return result


@noting
def sweep(sweep: Documents, *, threads: int = 0, replay: str = "recommended") -> Sweep:
    """Estimates every point of a sweep: {"base": scenario, "axes": {path: values}, "where": [...], "pareto": {...}}.

    `replay`: "recommended" replays the points of the front and the best of each group in the simulator, as the command
    line does; "all" replays every point; "none" replays nothing. `threads` 0: all cores; the numbers are the
    same whatever their number."""
    if replay not in _native.Replays.__members__:
        raise ValueError(f'roofcast: replay is "recommended", "all" or "none", not {replay!r}')
    if not 0 <= threads <= _native.most_threads:
        raise ValueError(f"roofcast: threads is 0 to {_native.most_threads}, not {threads!r}")
    return Sweep(_native.sweep(document_of(sweep, "sweep"), threads, _native.Replays.__members__[replay]))


@noting
def solve(
    scenario: Documents,
    vary: Mapping[str, Any] | Sequence[str],
    until: str | Sequence[str],
    *,
    minimize: str = "",
    maximize: str = "",
    changes: Changes | None = None,
    replay: bool = True,
) -> dict[str, Any]:
    """The value of the knobs of `vary` ({path: range}) that keeps the conditions of `until`.

    A range is "8..64", "1 /s..50 /s", "x0.5..x8" or a list; a sequence of paths has the usual ranges. A condition is
    "ttft_p95_s <= 0.5", or "ttft_p95 <= 500ms". The answer is what `roofcast solve --format json` prints."""
    conditions = [until] if isinstance(until, str) else [*until]
    result: dict[str, Any] = _native.solve(
        document_of(scenario), assignments(changes), _ranges(vary), conditions, minimize, maximize, not replay
    )
    return result


def _range_of(path: str, values: Any) -> str:
    values = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(values, Mapping):
        raise ValueError(f'roofcast: {path}: a range is "8..64" or a list, not {values!r}')
    if not isinstance(values, (list, tuple)):
        return text_of(values)
    texts = [text_of(value) for value in values]
    if any("," in text for text in texts):
        raise ValueError(f"roofcast: {path}: no value of a list may have a comma: {values!r}")
    return ",".join(texts)


def _ranges(vary: Mapping[str, Any] | Sequence[str]) -> list[str]:
    if not isinstance(vary, Mapping):
        return [vary] if isinstance(vary, str) else [*vary]
    return [f"{path_of(path)}={_range_of(path, values)}" for path, values in vary.items()]


@noting
def recommend(
    scenario: Documents,
    gpus: int,
    *,
    systems: Sequence[str] = (),
    precisions: Sequence[str] = (),
    stacks: Sequence[str] = (),
    rate: str = "",
    clients: int | None = None,
    where: str | Sequence[str] = (),
    minimize: str = "",
    maximize: str = "",
    pools: str = "both",
    changes: Changes | None = None,
    replay: bool = True,
) -> tuple[dict[str, Any], Scenario | None]:
    """The best deployment on a budget of GPUs: what `roofcast recommend --json` prints, and its scenario, if one meets
    the conditions.

    `systems`, `precisions` and `stacks` are tried; where there are none, the scenario says which. The deployment must
    carry `rate`, such as "8 /s", or so many `clients`; without both, with arrivals or a trace in the scenario it must
    carry these, else the number of clients is searched. `pools`: "one", "two" or "both"."""
    if pools not in ("one", "two", "both"):
        raise ValueError(f'roofcast: pools is "one", "two" or "both", not {pools!r}')
    lists = [names if isinstance(names, str) else ",".join(names) for names in (systems, precisions, stacks)]
    conditions = [where] if isinstance(where, str) else [*where]
    answer: dict[str, Any]
    answer, best = _native.recommend(
        document_of(scenario),
        gpus,
        lists,
        rate,
        "" if clients is None else str(clients),
        conditions,
        minimize,
        maximize,
        pools,
        assignments(changes),
        not replay,
    )
    return answer, None if best is None else Scenario.of(best)


@noting
def sensitivity(
    scenario: Documents,
    metrics: str | Sequence[str] = (),
    *,
    vary: Mapping[str, Any] | Sequence[str] = (),
    changes: Changes | None = None,
    step: float = 1.1,
    gain: float = 1.2,
    rows: int = 0,
    seed: int = 1,
) -> dict[str, Any]:
    """Elasticities of metrics, what would be left of them with a resource free, and where their intervals come from.

    `vary`: paths of knobs, or {path: range} to share out the variance. The answer is what `roofcast sensitivity
    --format json` prints, with times in s."""
    named = [metrics] if isinstance(metrics, str) else [*metrics]
    result: dict[str, Any] = _native.sensitivity(changed(scenario, changes), named, _ranges(vary), step, gain, rows, seed)
    return result


@noting
def compare(roadmap: Documents, *, replay: bool = True) -> dict[str, Any]:
    """What each option or feature of a roadmap gains over its workloads: gains as factors, with their 90 % intervals.

    `replay` says of each whether the simulator confirms it."""
    result: dict[str, Any] = _native.compare(document_of(roadmap, "roadmap"), not replay)
    return result


@noting
def brief(document: Documents, *, metric: str = "", replay: bool = True) -> str:
    """One page about a scenario, a sweep or a roadmap for people who decide, as Markdown."""
    name = os.fspath(document) if isinstance(document, (str, os.PathLike)) else "the document"
    return _native.brief(document_of(document, "document"), name, metric, not replay)
