# SPDX-License-Identifier: Apache-2.0
"""Changes one place of a document, a table, a --set pair or a command line.

A document is a tree of Map (pairs of key and node: a key may come twice), list and str. Every choice comes from the random
numbers that are given, so a seed repeats it.
"""

import json
import re

import yaml

# Where readers and formulas break: the ends of every range, what is no number, and what no range names.
NUMBERS = [
    "0", "-0", "-1", "1", "2", "3", "7", "64", "1000", "65536", "1000000", "1000001", "1000000000", "2147483647",
    "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "-9223372036854775809", "1e9", "1e15", "1e18", "1e100", "1e308", "-1e308", "1e309", "1e-9",
    "1e-30", "1e-308", "5e-324", "0.5", "0.999999999999", "1.0000001", "1.5", "0x10", "0o17", "1_000", "1,5", "1e", "+1",
    "nan", ".nan", "inf", ".inf", "-.inf", "infinity", "x0", "x1", "x-1", "x1e-300", "x1e300", "xnan", "x", "x1.5",
]
MEANT = ["1", "2", "3", "4", "8", "10", "100", "0.1", "0.5", "0.9", "1e-6", "1e-3", "1e3", "1e4", "x0.5", "x2", "x1.01"]
UNITS = [
    "s", "ms", "us", "ns", "min", "h", "d", "B", "kB", "MB", "GB", "GiB", "TB", "TB/s", "GB/s", "Gb/s", "B/s", "TFLOP/s",
    "FLOP/s", "Hz", "GHz", "/s", "1/s", "W", "kW", "MW", "USD", "USD/h", "kUSD", "USD/kWh", "nJ/B", "%", "tok", "x", "",
    "µs", "YB", "GHz/s", "TB/s/s",
]
TEXTS = [
    "", " ", "~", "null", "true", "no", "a", "-", ".", "..", "/", "./", "../..", "no_such_entry", "x" * 5000, "é" * 300,
    "\U0001f600", "{", "}", "[", "a: b", "a, b", "'", '"', "\\", "%s%n", "$(id)", "<b>", "=1+1", "a\tb", "a\nb", "a\r\nb",
    "\x1b[31mred", "\x07", "\x7f", "\u202e", "a" * 70 + "_", "system.chip", "hbm.bandwidth", "./missing.yaml", "/dev/null",
]
RAW = [
    "null", "~", "{}", "[]", "[[]]", "[null]", "{a: {}}", "&a [*a]", "*a", "*nobody", "!!binary aGk=", "!!int x", "? a",
    "{<<: {a: 1}}", "[" * 60 + "]" * 60, "[" * 4000, "{a: " * 300 + "1" + "}" * 300, "|", "- 1", "{a: 1, a: 2}", "2001-01-01",
]
BYTES = [b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\r", b"\n", b"\t", b'"', b"'", b",", b",,,,", b":", b"#", b"  ", b"---\n",
         b"...\n", b"\x1b[2J", b"nan", b"inf", b"1e308", b"-1", b"0", b"{", b"}", b"[", b"]", b"&a ", b"*a ", b"<<: ", b"%"]
PLAIN = re.compile(r"[A-Za-z0-9_./+-][A-Za-z0-9_./+ %-]*[A-Za-z0-9_./%+-]|[A-Za-z0-9_]")

JSON_VALUE = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|true|false|null")


class Map(list):
    """A map as pairs of key and node, in order."""


class Raw(str):
    """Text that stands in the document as it is."""


def tree(text):
    """The tree of a document; its scalars stay text."""
    def of(node):
        if isinstance(node, dict):
            return Map([key, of(value)] for key, value in node.items())
        return [of(item) for item in node] if isinstance(node, list) else str(node)
    return of(yaml.load(text, getattr(yaml, "CBaseLoader", yaml.BaseLoader)))


def copy(node):
    if isinstance(node, Map):
        return Map([key, copy(value)] for key, value in node)
    return [copy(item) for item in node] if isinstance(node, list) else node


def scalar(text):
    return text if isinstance(text, Raw) or PLAIN.fullmatch(text) else json.dumps(text)


def flow(node):
    if isinstance(node, Map):
        return "{" + ", ".join(f"{scalar(key)}: {flow(value)}" for key, value in node) + "}"
    return "[" + ", ".join(map(flow, node)) + "]" if isinstance(node, list) else scalar(node)


def document(node):
    """The text of a tree, with one line for each key at its top."""
    if isinstance(node, Map) and node:
        return "".join(f"{scalar(key)}: {flow(value)}\n" for key, value in node)
    return flow(node) + "\n"


def number(rng, like=""):
    """A number of the kind of `like`, with its unit or another one: "3.35 TB/s"."""
    unit = re.fullmatch(r"\s*[-+.\de]+\s*(\D.*)?", like)
    unit = unit.group(1) if unit and unit.group(1) else ""
    value = rng.choice(MEANT if rng.random() < 0.5 else NUMBERS)
    dice = rng.random()
    if dice < 0.1 or (unit and dice < 0.2):
        unit = rng.choice(UNITS)
    return f"{value} {unit}".strip()


def value(rng, like, words):
    """What stands in place of the text `like`."""
    dice = rng.random()
    if dice < 0.55 or (re.match(r"\s*[-+.\d]", like) and dice < 0.75):
        return number(rng, like)
    if dice < 0.75:
        return rng.choice(words)
    return rng.choice(TEXTS) if dice < 0.9 else Raw(rng.choice(RAW))


def places(node, found):
    """Every (container, index) below a node."""
    if isinstance(node, Map):
        for pair in node:
            found.append((pair, 1))
            places(pair[1], found)
    elif isinstance(node, list):
        for i, item in enumerate(node):
            found.append((node, i))
            places(item, found)
    return found


def pairs_of(node, found):
    """Every pair of key and node below a node."""
    if isinstance(node, Map):
        found += node
    for child in ([pair[1] for pair in node] if isinstance(node, Map) else node if isinstance(node, list) else []):
        pairs_of(child, found)
    return found


def change_tree(rng, node, words, grafts):
    """Changes one place. `grafts` are trees whose parts may be put in."""
    found = places(node, [])
    if not found:
        return Raw(rng.choice(RAW))
    holder, i = rng.choice(found)
    here = holder[i]
    dice = rng.random()
    if dice < 0.62 and isinstance(here, str):
        holder[i] = value(rng, here, words)
    elif dice < 0.70 and isinstance(here, Map) and here:
        del here[rng.randrange(len(here))]
    elif dice < 0.76 and isinstance(here, Map) and here:
        here.append(copy(rng.choice(here)))  # twice
    elif dice < 0.80 and isinstance(here, Map) and here:
        pair = rng.choice(here)
        pair[0] = rng.choice([pair[0][:-1], pair[0] + "s", pair[0].upper(), rng.choice(TEXTS), rng.choice(words), "<<"])
    elif dice < 0.84 and isinstance(here, list) and here:
        here.append(copy(rng.choice(here)))
    elif dice < 0.88:
        holder[i] = [here] if rng.random() < 0.5 else Map([["a", here]])
    elif dice < 0.96:
        donor = rng.choice(grafts)
        pairs = pairs_of(donor, [])
        target = here if isinstance(here, Map) else node
        if pairs and isinstance(target, Map):
            pair = copy(rng.choice(pairs))
            target[:] = [old for old in target if old[0] != pair[0]] + [pair]
    else:
        holder[i] = Raw(rng.choice(RAW))
    return node


def change_bytes(rng, data):
    """Cuts, repeats or inserts bytes or lines."""
    dice = rng.random()
    at = rng.randrange(len(data) + 1)
    if dice < 0.25:
        return data[:at]
    if dice < 0.6:
        return data[:at] + rng.choice(BYTES) + data[at:]
    if dice < 0.75:
        return data[:at] + data[at + rng.randrange(1, 9):]
    lines = data.splitlines(keepends=True)
    if not lines:
        return rng.choice(BYTES)
    line = rng.randrange(len(lines))
    if dice < 0.85:
        del lines[line]
    elif dice < 0.95:
        lines.insert(rng.randrange(len(lines) + 1), lines[line])
    else:
        lines[line] *= 300
    return b"".join(lines)


def change_table(rng, text):
    """Changes cells, columns or rows of a CSV."""
    lines = [line.split(",") for line in text.splitlines()]
    if not lines:
        return ","
    dice = rng.random()
    column = rng.randrange(max(1, len(lines[0])))
    row = rng.randrange(len(lines))
    if dice < 0.55:
        rows = [rng.randrange(1, len(lines)) if len(lines) > 1 else 0] if rng.random() < 0.6 else range(1, len(lines))
        put = number(rng) if rng.random() < 0.7 else rng.choice(TEXTS)
        for r in rows:
            if column < len(lines[r]):
                lines[r][column] = put
    elif dice < 0.65:
        lines = [line[:column] + line[column + 1:] for line in lines]
    elif dice < 0.72:
        lines = [line + line[column:column + 1] for line in lines]
    elif dice < 0.79:
        lines[row] = lines[row][:column]
    elif dice < 0.85:
        lines[row] = lines[row] + [rng.choice(TEXTS)]
    elif dice < 0.92:
        lines = lines[:1] if rng.random() < 0.4 else lines[:row] + lines[row + 1:]
    else:
        lines[0][column if column < len(lines[0]) else 0] = rng.choice(TEXTS)
    return "\n".join(",".join(line) for line in lines) + "\n"


def as_json(node):
    """The text of a tree as JSON; what looks like a value of JSON is one."""
    if isinstance(node, Map):
        return "{" + ", ".join(f"{json.dumps(key)}: {as_json(value)}" for key, value in node) + "}"
    if isinstance(node, list):
        return "[" + ", ".join(map(as_json, node)) + "]"
    return node if isinstance(node, Raw) or JSON_VALUE.fullmatch(node) else json.dumps(node)


def change_json_lines(rng, text, words):
    """Changes a place of one line of JSON, or of JSON over several lines."""
    lines = text.splitlines()
    one = len(lines) < 2 or not lines[0].rstrip().endswith("}")
    at = 0 if one else rng.randrange(len(lines))
    try:
        changed = as_json(change_tree(rng, tree(text if one else lines[at]), words, [Map()]))
    except yaml.YAMLError:
        return text[: len(text) // 2]
    return changed if one else "\n".join(lines[:at] + [changed] + lines[at + 1:]) + "\n"


def far_value(rng, takes):
    """A value that the knob may have, by orders of magnitude from the usual one."""
    whole = "whole number" in takes
    ends = [float(end) for end in re.findall(r"\d[\d.e+-]*", takes)] if "number" in takes else []
    if whole:
        return str(int(min(10 ** rng.uniform(0, 6), ends[1] if len(ends) > 1 else 1e9)))
    if len(ends) > 1:
        return f"{rng.choice([ends[0], ends[1], rng.uniform(*ends[:2]), ends[1] * 10 ** rng.uniform(-9, 0)]):.6g}"
    if takes.startswith(("a ", "an ")) or ends:
        return f"x{10 ** rng.uniform(-7, 7):.3g}"
    return rng.choice(takes.split(", "))


def knob_value(rng, takes, words):
    """A value for --set from what `roofcast list knobs` says that the knob takes."""
    if rng.random() < 0.12:
        return value(rng, "", words)
    ends = re.findall(r"-?\d[\d.e+-]*", takes)
    if takes.startswith("a number") or takes.startswith("a whole number") or "whole number" in takes:
        low = float(ends[0]) if ends else 0.0
        high = float(ends[1]) if len(ends) > 1 else 1e12
        dice = rng.random()
        if dice < 0.2:
            return rng.choice(ends or ["0"])
        if dice < 0.55:
            drawn = max(low, 1e-9) * (max(high, 1e-9) / max(low, 1e-9)) ** rng.random()
            return str(int(drawn)) if "whole" in takes else f"{drawn:.4g}"
        return number(rng)
    if takes.startswith("a ") or takes.startswith("an "):
        if "text" in takes or "group" in takes or "list" in takes:
            return value(rng, "", words)
        return number(rng, takes.split(", ")[-1])
    if takes.startswith("number") or takes.startswith("whole"):
        return "[" + ", ".join(number(rng) for _ in range(rng.randrange(4))) + "]"
    if takes.startswith("texts"):
        return flow([value(rng, "", words) for _ in range(rng.randrange(3))])
    return rng.choice(takes.split(", "))
