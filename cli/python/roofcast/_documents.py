# SPDX-License-Identifier: Apache-2.0
"""Documents in, errors out: scenarios, and dicts or files that become one."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Union

from . import _native

Documents = Union["Scenario", Mapping[str, Any], str, "os.PathLike[str]"]
Changes = Mapping[str, Any]
Function = TypeVar("Function", bound=Callable[..., Any])


class Problem(NamedTuple):
    """One mistake, and where it is."""

    file: str  #: or the name of the text; empty where the mistake has no place
    line: int  #: from 1 on; 0 where it has no place
    column: int  #: in characters, from 1 on
    path: str  #: the dotted key path; may be empty
    message: str
    excerpt: str  #: the line, and a caret below the column


class Error(ValueError):
    """Bad input. str() is the whole text that the command line prints; the attributes are those of the first problem."""

    def __init__(self, text: str, problems: Sequence[tuple[str, int, int, str, str, str]]) -> None:
        super().__init__(text.rstrip("\n"))
        self.problems = [Problem(*problem) for problem in problems]
        self.file, self.line, self.column, self.path, self.message, self.excerpt = self.problems[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), [tuple(problem) for problem in self.problems])


def _plain(value: Any) -> Any:
    """What json does not know: paths, numbers of NumPy, scenarios inside other documents."""
    if isinstance(value, Scenario):
        return value.to_dict()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"roofcast: {type(value).__name__} is no value of a document: {value!r}")


def text_of(value: Any) -> str:
    """A value as YAML has it: texts as they are, so that "x1.5" is a factor and "3 TB/s" a rate."""
    return value if isinstance(value, str) else _json_of(value)


def _json_of(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, default=_plain, allow_nan=False)
    except ValueError as error:  # the words of the json module name neither the value nor what is wrong
        raise ValueError(f"roofcast: a value is nan or infinite, or contains itself: {value!r}") from error


_named_catalog: str | None = None  # as ROOFCAST_CATALOG named it first


def _keep_catalog() -> None:
    """The library reads its catalog once. An answer from another one than the one that is named would be wrong."""
    global _named_catalog
    named = os.environ.get("ROOFCAST_CATALOG", "")
    if _named_catalog is None:
        if named:
            _native.use_catalog(os.path.abspath(named))  # whatever the working directory will be
        _named_catalog = named
    elif named != _named_catalog:
        raise RuntimeError(
            f"roofcast: ROOFCAST_CATALOG is {named!r} now; this process began with {_named_catalog!r} and keeps it. Set it before "
            "the first scenario or question, or begin another process"
        )


def path_of(path: str) -> str:
    """A dotted path of a knob. The library is asked for PATH=VALUE."""
    if not isinstance(path, str) or "=" in path:
        raise ValueError(f"roofcast: {path!r} is no path of a knob")
    return path


def assignments(values: Changes | None) -> list[str]:
    if values is not None and not isinstance(values, Mapping):
        raise TypeError(f"roofcast: changes are a dict of paths and values, not {values!r}")
    return [f"{path_of(path)}={text_of(value)}" for path, value in (values or {}).items()]


def document_of(source: Documents, name: str = "scenario") -> _native.Document:
    _keep_catalog()
    if isinstance(source, Scenario):
        return source._document
    if isinstance(source, Mapping):
        parts = {key: part for key, part in source.items() if isinstance(part, Scenario)}
        rest = {key: part for key, part in source.items() if key not in parts}
        document = _native.Document.parse(_json_of(rest, indent=1), name)
        for key, part in parts.items():
            document = document.with_part(key, part._document)
        return document
    path = os.fspath(source)
    if "\0" in path:
        raise ValueError(f"roofcast: {path!r} is no path of a file")
    return _native.Document.load(path)


class Scenario:
    """What runs, on what, under which traffic: a dict of sections, or a file.

    Names in it are ids of the catalog or paths; those in a dict start in the working directory. Its keys are checked
    when it is used.
    """

    def __init__(self, source: Documents) -> None:
        self._document = document_of(source)

    @classmethod
    def parse(cls, text: str, name: str = "scenario") -> Scenario:
        """A scenario from YAML or JSON text; messages call it `name`."""
        return cls.of(_native.Document.parse(text, name))

    @classmethod
    def of(cls, document: _native.Document) -> Scenario:
        made = cls.__new__(cls)
        made._document = document
        return made

    def set(self, path: str, value: Any) -> None:
        """Overrides a knob: set("system.chip.hbm.bandwidth", "x1.5"). "x1.5" multiplies what is there; a number without
        a unit is refused where the knob has one: "3.35 TB/s"."""
        _keep_catalog()
        self._document = self._document.overridden(assignments({path: value}))

    __setitem__ = set

    def __getitem__(self, path: str) -> Any:
        """What is at a dotted path, also inside a part that the scenario names. A quantity is a text with its unit."""
        _keep_catalog()
        return self._document.get(path)

    def __contains__(self, path: object) -> bool:
        try:
            self[str(path)]
        except Error:
            return False
        return isinstance(path, str)

    __iter__ = None  # type: ignore[assignment]  # a scenario is no list of its sections: to_dict() is

    def changed(self, changes: Changes) -> Scenario:
        """A copy with knobs overridden, outer ones first."""
        return Scenario.of(self._document.overridden(assignments(changes)))

    def yaml(self) -> str:
        """The document as YAML, overrides included. Paths of files are absolute, so that it may lie anywhere."""
        return self._document.yaml()

    def to_dict(self) -> dict[str, Any]:
        """The document as dicts and lists, overrides included. Paths of files are absolute."""
        result: dict[str, Any] = self._document.python()
        return result

    def __repr__(self) -> str:
        return f"Scenario({self.to_dict()!r})"


def changed(scenario: Documents, changes: Changes | None) -> _native.Document:
    document = document_of(scenario)
    return document.overridden(assignments(changes)) if changes else document


def noting(function: Function) -> Function:
    """Notes of the library (an entry of one's own that hides a built-in one, a key with a new name) become warnings."""

    @functools.wraps(function)
    def noted(*arguments: Any, **options: Any) -> Any:
        _keep_catalog()
        try:
            return function(*arguments, **options)
        finally:
            for note in _native.take_notes():
                warnings.warn(note.removeprefix("note: "), stacklevel=2)

    return noted  # type: ignore[return-value]
