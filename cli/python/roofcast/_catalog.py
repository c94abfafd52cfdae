# SPDX-License-Identifier: Apache-2.0
"""The catalog: chips, systems, models and what else has a name."""

from __future__ import annotations

import builtins
from typing import Any

from . import _native
from ._documents import noting


@noting
def list(kind: str) -> builtins.list[str]:
    """The ids of a kind of the catalog: list("system")."""
    return _native.ids(kind)


def kinds() -> builtins.list[str]:
    """The kinds of entries that the catalog has: "chip", "system", "model", ..."""
    return _native.kinds()


@noting
def show(kind: str, id: str, *, whole: bool = False) -> dict[str, Any]:
    """An entry of the catalog with its sources: show("chip", "h200_sxm")["tensor"]["bf16"] is "989 TFLOPS".

    With `whole`, what it names or is derived from is included."""
    result: dict[str, Any] = _native.entry(kind, id, whole).python()
    return result
