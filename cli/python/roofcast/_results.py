# SPDX-License-Identifier: Apache-2.0
"""What is known of an estimate, a simulation or a sweep."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._documents import Error, Scenario

if TYPE_CHECKING:
    import numpy
    import pandas


class Metric(NamedTuple):
    """A number of an estimate, and a column of a sweep."""

    name: str
    label: str  #: for people
    unit: str  #: SI: "s", "tok/s/GPU", "B"; empty for shares and counts
    description: str
    better: str  #: "higher", "lower" or ""
    bounds: str  #: the metric of whose 90 % interval this is an end; empty if it is none


_METRICS = tuple(Metric(*fields) for fields in _native.metrics())
_NAMES = tuple(metric.name for metric in _METRICS)


def metrics() -> tuple[Metric, ...]:
    """All metrics, in the order of the columns of a CSV, with their units."""
    return _METRICS


def current_name(name: str) -> str:
    """The name after a change, with a warning where it is another. The old one works for one release."""
    now: str = _native.current_name(name)
    if now != name:
        warnings.warn(f'"{name}" is now called "{now}"; the old name works until the next release', stacklevel=3)
    return now


class Estimate(dict[str, Any]):
    """A forecast. estimate["tpot_mean_s"] and estimate.tpot_mean_s are the number of a metric in SI units, NaN where
    the scenario has none. As a dict it has the metrics and texts of `roofcast estimate --format json`."""

    def __init__(self, forecast: _native.Forecast) -> None:
        self._forecast = forecast
        self.reason: str = forecast.reason  #: why the scenario cannot run, in one sentence; empty if it can
        self.fits: bool = not self.reason
        self.scenario: str = forecast.title  #: what was estimated, in words
        self.warnings: list[str] = forecast.warnings()  #: what it should be read with, a sentence each
        super().__init__(scenario=self.scenario, fits=self.fits, reason=self.reason)
        self.update(zip(_NAMES, forecast.values()))
        self.update(forecast.texts())

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is estimated again."""
        return type(self), (self._forecast,)

    def __missing__(self, name: str) -> Any:
        if (now := current_name(name)) != name:
            return self[now]
        message = _native.unknown_metric(name)
        raise Error(f"error: {message}", [("", 0, 0, "", message, "")])

    def __getattr__(self, name: str) -> Any:
        if (now := current_name(name)) in self:
            return self[now]
        raise AttributeError(_native.unknown_metric(name))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def interval(self, name: str) -> tuple[float, float] | None:
        """The 90 % interval of a metric: a server that runs is in it nine times in ten. None where there is none."""
        low, high = self.get(f"low90_{name}", math.nan), self.get(f"high90_{name}", math.nan)
        if math.isnan(low):
            self[name]  # an unknown name is an error
            return None
        return low, high

    def limited_by(self, name: str) -> str:
        """What limits a TTFT, a TPOT or a throughput, the cause with the greatest share: "HBM", "launch", ...; empty for others."""
        self[name]
        return self._forecast.limited_by(name)

    def iterations(self) -> list[dict[str, Any]]:
        """The iterations behind the estimate, and their operators: times in s, FLOP, bytes, bounds, of one GPU."""
        result: list[dict[str, Any]] = self._forecast.iterations() if self.fits else []
        return result

    def operators(self) -> pandas.DataFrame:
        """A row for each operator of each iteration; its figures are those of all its runs there."""
        import pandas

        frames = [pandas.DataFrame(each["operators"]).assign(iteration=each["name"]) for each in self.iterations()]
        return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()

    def __repr__(self) -> str:
        return f"<Estimate of {self.scenario}{'' if self.fits else ': ' + self.reason}>"


class Simulation:
    """A scenario simulated request by request. `summary` is what `roofcast simulate --format json` prints."""

    def __init__(self, summary: dict[str, Any], rows: str) -> None:
        self.summary = summary
        self._rows = rows

    def __getitem__(self, name: str) -> Any:
        return self.summary[name]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each request, with the columns of the CSV: times in s since the start, numbers of tokens."""
        import pandas

        return pandas.read_csv(io.StringIO(self._rows), keep_default_na=False, na_values=[""], float_precision="round_trip")


class Sweep(Mapping[str, Any]):
    """The points of a sweep, column by column: sweep["tpot_mean_s"] is a NumPy array with a number in SI units for each
    point, NaN where a point does not run. Columns are those of the CSV. `fits` and `meets` are arrays of bool, texts
    and values of axes are arrays of objects or numbers. The last axis changes fastest. The arrays are read-only: .copy()
    is one to work in."""

    def __init__(self, run: _native.SweepRun) -> None:
        self._run = run
        self._columns = run.columns()
        self._kept: dict[str, numpy.ndarray[Any, Any]] = {}  # also of columns that the CSV leaves out
        self.question: str = run.question
        #: by axis, its values as they were written
        self.axes: dict[str, list[str]] = dict(run.axes())
        #: how many recommended points a replay has confirmed, put outside the interval of the estimate, broken, or left
        #: as they were estimated
        self.replays: dict[str, int] = dict(zip(("confirmed", "differs", "broken", "estimated only"), run.replays))

    @property
    def points(self) -> int:
        return self._run.rows

    def __getitem__(self, column: str) -> numpy.ndarray[Any, Any]:
        column = column if column in self._columns else current_name(column)
        made = self._kept.get(column)
        if made is None:
            made = self._kept[column] = self._made(column, "")
            made.flags.writeable = False  # who asks again gets the same array
        return made

    def _made(self, column: str, empty: object) -> numpy.ndarray[Any, Any]:
        """A new array of a column; `empty` stands for texts that are."""
        import numpy

        if self._run.has_numbers(column):
            return self._run.numbers(column)
        texts, codes = self._run.texts(column)
        if column in ("fits", "meets"):
            return numpy.take(numpy.array([text == "true" for text in texts]), codes)
        values = numbers_of(texts) if column in self._run.knobs() else None
        if values is not None:
            return numpy.take(numpy.array(values), codes)
        return numpy.take(numpy.array([text or empty for text in texts], dtype=object), codes)

    def __contains__(self, column: object) -> bool:
        return column in self._columns

    def get(self, column: str, default: Any = None) -> Any:
        return self[column] if column in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def scenario(self, point: int) -> Scenario:
        """The scenario of a point."""
        return Scenario.of(self._run.scenario(point))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each point, a column for each of the CSV; what the CSV leaves empty is NaN."""
        import pandas

        # What pandas copies and sorts takes as long as a tenth of the sweep; these arrays are nobody else's.
        return pandas.DataFrame({column: self._made(column, math.nan) for column in self}, copy=False)

    def front(self) -> numpy.ndarray[Any, Any]:
        """The points of the Pareto front, by number."""
        import numpy

        found: numpy.ndarray[Any, Any] = numpy.flatnonzero(self["pareto_rank"] == 1)
        return found

    def __repr__(self) -> str:
        return f"<Sweep of {self.points} points over {', '.join(self.axes)}>"


_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def numbers_of(texts: list[str]) -> list[int] | list[float] | None:
    """The values of an axis as numbers, if all of them are."""
    if all(map(_INTEGER.fullmatch, texts)):
        return [int(text) for text in texts]
    return [float(text) for text in texts] if all(map(_NUMBER.fullmatch, texts)) else None
