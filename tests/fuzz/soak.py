#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives roofcast calls that are wrong in one place or a few, over all of its commands, and judges what comes back.

soak.py ROOFCAST ROOT [--minutes N | --inputs N] [--seed N] [--jobs N] [--keep DIR] [--only I] [--sanitized]

A finding is
  - a signal, or the exit status 1 (an error in roofcast itself), or another one that no command has,
  - more than 5 s of the processor, where the call that was changed takes less than 1 s, and more where reference_s() is
    above 0.1 s; or 100 s by the clock,
  - more than 1 GB of memory,
  - "nan" or "inf" as a word in what it prints or writes, where its input has none; JSON that is none; a ragged CSV,
  - a refusal without a word,
  - an estimate that cannot be: p50 above p95, a negative time, a 90 % interval without its value in it.

Input I of seed N is always the same; --only I runs it again, in DIR, and prints all. Findings are told once for each
command, kind and message. The exit status is 1 if there are any, 77 where a module is missing.

--sanitized: ROOFCAST was built with sanitizers. It is slow and reserves much memory, so neither is judged.
"""

import argparse
import collections
import csv
import io
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

try:
    import calls
    import mutations
    import yaml
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-yaml)")
    sys.exit(77)

CPU_S, WALL_S, MEMORY = 5, 100, 1_000_000_000
REFERENCE_S = 0.1
TOO_LARGE = re.compile(rb"AddressSanitizer: (requested allocation size|allocator is out of memory|out of memory|allocator is trying)")
NO_NUMBER = re.compile(rb"(?i)(?<![\w.-])-?(nan|inf|infinity)(?![\w-])(?!\.\w)(?! Cache)")
# Work that takes long because it was asked to be long; docs/reliability.md says how much is legal.
ASKED = re.compile(rb"(?:requests|tasks|repeat|replications|rows|count|scenarios|responses|samples|concurrency|concurrent|replicas|turns|put_tokens)"
                   rb"\W{1,4}(\d+(?:\.\d+)?(?:e\d+)?)")
MUCH = 1e5
OPTION = re.compile(r"^  (?:-\w, )?(--[a-z0-9-]+)(?: (\{[^}]*\}|[A-Z=]+))?(\.\.\.)?(?:  |$)", re.M)
Call = collections.namedtuple("Call", "words files")
Result = collections.namedtuple("Result", "status cpu memory out err timed_out")


def reference_s():
    """How long fixed work takes here and now, in s of the processor."""
    start = time.process_time()
    sum(i * i % 7 for i in range(1_000_000))
    return time.process_time() - start


class Soak:
    """What all inputs share: the calls, their files, and the words of the program."""

    def __init__(self, roofcast, root, folder, sanitized=False):
        self.roofcast, self.folder, self.sanitized = roofcast, folder, sanitized
        self.calls = [Call(words, files) for words, files in calls.gather(roofcast, root, folder)]
        self.knobs = [(k["path"], k["takes"]) for k in json.loads(self.ask("list", "knobs", "--json"))["knobs"]]
        metrics = re.findall(r"^([a-z0-9_]+)  ", self.ask("list", "metrics"), re.M)
        ids = [path.stem for place in calls.FOLDERS.values() for path in (pathlib.Path(root) / place).glob("*.yaml")]
        choices = {word for _, takes in self.knobs if not takes.startswith(("a ", "an ")) for word in takes.split(", ")}
        self.metrics = metrics
        self.usual = [k for k in self.knobs if k[0].startswith(USUAL) and not k[1].startswith(("a text", "texts", "a list", "a group"))]
        self.words = sorted({*metrics, *ids, *choices, *(p for p, _ in self.knobs[::25])})
        self.options = {}
        self.trees = {}
        for name in [*calls.SCENARIOS, *calls.SWEEPS]:
            self.trees[name] = mutations.tree((folder / name).read_text())
        self.grafts = list(self.trees.values())
        self.commands = collections.defaultdict(list)
        for call in self.calls:
            self.commands[self.command(call.words)].append(call)

    def ask(self, *words):
        return subprocess.run([self.roofcast, *words], capture_output=True, text=True, check=True).stdout

    @staticmethod
    def command(words):
        """The command of a call, as the table has it."""
        first = words[0] if words else ""
        return " ".join(words[:2]) if first == "calibrate" else first

    def options_of(self, words):
        """(name, what it takes) of a command's options, as its help says."""
        depth = 2 if words[0] in ("calibrate", "kernel", "collective") else 1
        key = tuple(words[:depth])
        if key not in self.options:
            text = subprocess.run([self.roofcast, *key, "--help"], capture_output=True, text=True, check=False).stdout
            self.options[key] = [(name, takes) for name, takes, _ in OPTION.findall(text) if name != "--help"]
        return self.options[key]

    # ---------------------------------------------------------------- inputs

    def far(self, rng):
        """An assignment that is legal, and far from what there is."""
        path, takes = rng.choice(self.usual)
        return f"{path}={mutations.far_value(rng, takes)}"

    def assignment(self, rng):
        path, takes = rng.choice(self.knobs)
        if rng.random() < 0.05:
            path = rng.choice([path + "." + rng.choice(["x", "0", "base"]), path.split(".")[0], path + " ", path.upper(), ""])
        return f"{path}={mutations.knob_value(rng, takes, self.words)}"

    def range_of(self, rng):
        path, takes = rng.choice(self.knobs)
        low, high = (mutations.knob_value(rng, takes, self.words) for _ in range(2))
        dice = rng.random()
        return path if dice < 0.15 else f"{path}={low}..{high}" if dice < 0.7 else f"{path}={low},{high}"

    def argument(self, rng, name, takes):
        """A value for an option."""
        if takes.startswith("{"):
            return rng.choice([*takes[1:-1].split(","), rng.choice(mutations.TEXTS)])
        if takes == "PATH=VALUE":
            return self.assignment(rng)
        if takes == "PATH=RANGE" or name == "--vary":
            return self.range_of(rng)
        if takes in ("CONDITION", "METRIC", "COLUMN", "COLUMN=VALUE"):
            column = rng.choice([*self.metrics, "gpus", "fits", "meets", "point", "traffic.concurrency", rng.choice(mutations.TEXTS)])
            if takes == "CONDITION":
                return rng.choice(["fits", f"{column} {rng.choice(['<=', '>=', '<', '==', '=', ''])} {mutations.number(rng)}"])
            return f"{column}={mutations.number(rng)}" if takes == "COLUMN=VALUE" else column
        if takes == "FILE":
            return rng.choice(["o.csv", "o.html", "o.csv.gz", "-", "missing/o.csv", ".", "", "serve.yaml", "old.csv", "p.md"])
        if takes in ("CHIP", "SYSTEM", "STACK", "KIND", "WORD"):
            return rng.choice([*self.words, *mutations.TEXTS])
        return mutations.number(rng, "1 s" if rng.random() < 0.3 else "") if rng.random() < 0.8 else rng.choice(mutations.TEXTS)

    def change_words(self, rng, words):
        """Another option, another value, another order."""
        words = list(words)
        options = self.options_of(words)
        dice = rng.random()
        values = [i for i, word in enumerate(words) if i and words[i - 1].startswith("--") and not word.startswith("--")]
        if dice < 0.40 and any(name == "--set" for name, _ in options):
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                words += ["--set", self.assignment(rng)]
        elif dice < 0.62 and options:
            name, takes = rng.choice(options)
            words += [name] + ([self.argument(rng, name, takes)] if takes else [])
        elif dice < 0.90 and values:
            i = rng.choice(values)
            takes = dict(options).get(words[i - 1], "")
            words[i] = self.argument(rng, words[i - 1], takes) if takes else mutations.value(rng, words[i], self.words)
        elif dice < 0.94:
            words.insert(rng.randrange(1, len(words) + 1), rng.choice([rng.choice(mutations.TEXTS), rng.choice(words), "--", "-x", "--no-such"]))
        elif dice < 0.97 and len(words) > 1:
            del words[rng.randrange(1, len(words))]
        else:
            tail = words[1:]
            rng.shuffle(tail)
            words[1:] = tail
        return [word.replace("\0", "") for word in words]

    def change_file(self, rng, name):
        """The bytes of one of the files, changed."""
        path = self.folder / name
        kind = path.suffix
        if kind == ".yaml" and rng.random() < 0.85:
            if name not in self.trees:
                self.trees[name] = mutations.tree(path.read_text())
            changed = mutations.copy(self.trees[name])
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                changed = mutations.change_tree(rng, changed, self.words, self.grafts)
            return mutations.document(changed).encode("utf-8", "replace")
        text = path.read_text(errors="replace")
        if kind == ".csv" and rng.random() < 0.8:
            return mutations.change_table(rng, text).encode("utf-8", "replace")
        if kind in (".json", ".jsonl") and len(text) < 20_000 and rng.random() < 0.8:
            return mutations.change_json_lines(rng, text, self.words).encode("utf-8", "replace")
        data = path.read_bytes()
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = mutations.change_bytes(rng, data)
        return data

    def input(self, seed, i):
        """Input i: the call that it comes from, its words, and its files by name."""
        rng = random.Random(f"{seed}/{i}")
        base = rng.choice(self.commands[rng.choice(WEIGHTED)])
        words = list(base.words)
        files = {}
        for spec in base.files:
            name, _, target = spec.partition(">")
            files[target or name] = (self.folder / name).read_bytes()
        if rng.random() < 0.4 and any(name == "--set" for name, _ in self.options_of(words)):
            for _ in range(rng.choice([1, 1, 2, 3])):
                words += ["--set", self.far(rng)]
            return base, words, files
        changes = rng.choice([1, 1, 1, 1, 2, 3])
        for _ in range(changes):
            if base.files and rng.random() < 0.6:
                name, _, target = rng.choice(base.files).partition(">")
                files[target or name] = self.change_file(rng, name)
            else:
                words = self.change_words(rng, words)
        return base, words, files

    # ---------------------------------------------------------------- running and judging

    def run(self, words, files, folder):
        """Runs a call in a folder of its own."""
        for name, data in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(folder)}
        if any(name.startswith("own/") for name in files):
            environment["ROOFCAST_CATALOG"] = "own"

        def limits():
            if not self.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (8 * CPU_S, 8 * CPU_S + 1))
            resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
            process = subprocess.Popen([self.roofcast, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, preexec_fn=limits)
            timed_out = threading.Event()
            timer = threading.Timer(WALL_S, lambda: (timed_out.set(), os.kill(process.pid, signal.SIGKILL)))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        return Result(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024,
                      (folder / ".out").read_bytes(), (folder / ".err").read_bytes(), timed_out.is_set())

    def judge(self, words, files, result, folder):
        """Every (kind, message) that is wrong with a result."""
        found = []
        said = result.err.decode("utf-8", "replace").strip()
        given = b"\n".join([*files.values(), *(word.encode("utf-8", "replace") for word in words)])
        if self.sanitized:
            if result.timed_out or result.status == -signal.SIGXCPU or TOO_LARGE.search(result.err):
                return [("asked for", said[:100])]
        slow = result.timed_out or (result.cpu > CPU_S and result.cpu > CPU_S * reference_s() / REFERENCE_S)
        if not self.sanitized and (slow or result.memory > MEMORY or b"there is not enough memory" in result.err):
            kind = "slow" if slow else "memory"
            asked = any(float(n) >= MUCH for n in ASKED.findall(given)) or any(o in given for o in (b"--rows", b"--scenarios", b"--with-shipped"))
            asked = asked or "claims" in words  # the page of workloads takes 18 s
            return [("asked for" if asked else kind, f"{result.cpu:.0f} s of the processor, {result.memory / 1e6:.0f} MB")]
        if result.status < 0:
            found.append(("signal", f"{signal.Signals(-result.status).name} {said.splitlines()[0] if said else ''}"))
        elif result.status not in (0, 2, 3):
            told = [line for line in said.splitlines() if "Sanitizer: " in line or "runtime error: " in line] or said.splitlines()
            found.append(("error of its own", told[0] if told else f"exit status {result.status}"))
        elif result.status == 2 and not said:
            found.append(("refused without a word", ""))
        written = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()
                   and str(path.relative_to(folder)) not in files and path.suffix in (".csv", ".json", ".md", ".html", ".yaml")}
        texts = {"stdout": result.out, **written}
        if not re.search(rb"(?i)(?<![a-z])(nan|inf)", given):
            for name, text in texts.items():
                bare = re.sub(rb"(?s)<script.*?</script>|<style.*?</style>", b"", text) if b"<html" in text[:200] else text
                hit = NO_NUMBER.search(bare)
                if hit:
                    line = bare[bare.rfind(b"\n", 0, hit.start()) + 1:][:200].split(b"\n")[0]
                    found.append(("no number", f"{name}: {line.decode('utf-8', 'replace')}"))
        if b"\x1b" in result.out + result.err and b"always" not in given:
            found.append(("escape sequence", "stdout" if b"\x1b" in result.out else "stderr"))
        if result.status in (0, 3):
            found += self.judge_forms(words, texts)
        return found

    @staticmethod
    def judge_forms(words, texts):
        found = []
        stdout = texts["stdout"].decode("utf-8", "replace")
        tables = [word for option, word in zip(words, words[1:])
                  if option in ("--csv", "--out") or (option == "--timeline" and words[0] == "simulate")]  # of an estimate it is a drawing
        wants_json = ("--json" in words or "json" in words) and stdout.startswith(("{", "["))
        if wants_json:
            try:
                answer = json.loads(stdout, parse_constant=lambda name: bad_constant(name))
            except ValueError as error:
                found.append(("JSON", str(error)))
                answer = None
            if isinstance(answer, dict) and words[0] == "estimate":
                found += impossible(answer)
        for name, text in texts.items():
            if name in tables:
                try:
                    lengths = {len(row) for row in csv.reader(io.StringIO(text.decode("utf-8", "replace"), newline="")) if row}
                except csv.Error:
                    lengths = set()
                if len(lengths) > 1:
                    found.append(("CSV", f"{name}: rows of {sorted(lengths)} cells"))
        return found


def bad_constant(name):
    raise ValueError(f"{name} is no number of JSON")


def impossible(answer):
    """What cannot be in the JSON of an estimate."""
    found = []
    numbers = {key: x for key, x in answer.items() if isinstance(x, (int, float)) and not isinstance(x, bool)}
    for key, x in numbers.items():
        if x < 0 and key not in ("spare_host_s", "spare_host_usd"):  # a spare host may cost more than it saves
            found.append(("impossible", f"{key} is negative"))
        if key in ("attainment", "prefix_hit_rate", "prefill_share", "bubble_share", "tools_share", "mfu") and x > 1 + 1e-9:
            found.append(("impossible", f"{key} is above 1"))
        low, high = numbers.get("low90_" + key), numbers.get("high90_" + key)
        if low is not None and high is not None and not low * 0.999 <= x <= high * 1.001:
            found.append(("impossible", f"{key} is not within its interval"))
    for first, second in (("_p50_s", "_p95_s"), ("_p95_s", "_p99_s")):
        for key, x in numbers.items():
            if key.endswith(first) and x > numbers.get(key[: -len(first)] + second, x) * (1 + 1e-9):
                found.append(("impossible", f"{key} is above that of {second[1:4]}"))
    if answer.get("fits") and numbers.get("weights_b_per_gpu", 0) > numbers.get("memory_b_per_gpu", float("inf")) * (1 + 1e-9):
        found.append(("impossible", "weights are more than the memory used"))
    return found


# Knobs that most scenarios have.
USUAL = ("system.chip.compute", "system.chip.tensor", "system.chip.hbm", "system.chip.l2", "system.chip.power", "system.chip.nvlink",
         "system.chip.shared", "system.calibration", "system.scale", "system.latency", "system.price", "traffic.input", "traffic.output",
         "traffic.arrivals", "traffic.concurrency", "traffic.requests", "traffic.cached", "traffic.objectives", "traffic.agents",
         "deployment.tensor", "deployment.pipeline", "deployment.expert", "deployment.data", "deployment.context", "serving",
         "training", "run", "rl", "model.layers", "model.hidden", "model.vocab", "model.experts")
# Commands by the share of inputs that they get: those with the widest input get the most.
SHARES = {"estimate": 24, "simulate": 12, "sweep": 6, "solve": 6, "sensitivity": 4, "recommend": 3, "compare": 6, "brief": 4,
          "check": 8, "show": 3, "pareto": 5, "pack": 4, "kernel": 8, "collective": 4, "merge": 2, "report": 2, "reproduce": 1,
          "calibrate validate": 5, "calibrate fit": 1, "calibrate accuracy": 1, "calibrate claims": 1, "scale": 3, "blast-radius": 2}
WEIGHTED = []


def pattern(text):
    """A message without what differs from input to input."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|[-\d.e+]*\d[-\d.e+]*", "#", text)[:110]


def work(soak, options, worker, deadline, queue):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    i = worker
    while time.time() < deadline and (options.inputs is None or i < options.inputs):
        base, words, files = soak.input(options.seed, i)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="soak."))
        try:
            result = soak.run(words, files, folder)
            found = soak.judge(words, files, result, folder)
            queue.put((i, soak.command(base.words), words, result.status, result.cpu, result.memory, found))
            if found and options.keep:
                kept = pathlib.Path(options.keep) / str(i)
                shutil.copytree(folder, kept, dirs_exist_ok=True)
                (kept / ".command").write_text(shlex.join(["roofcast", *words]) + "\n")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        i += options.jobs
    queue.put(None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofcast")
    parser.add_argument("root")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep")
    parser.add_argument("--only", type=int)
    parser.add_argument("--sanitized", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak.") as stock:
        soak = Soak(os.path.abspath(options.roofcast), options.root, pathlib.Path(stock), options.sanitized)
        WEIGHTED.extend(c for c in soak.commands for _ in range(SHARES.get(c, 1)))
        if options.only is not None:
            return run_one(soak, options)
        return run_all(soak, options)


def run_one(soak, options):
    _, words, files = soak.input(options.seed, options.only)
    folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="soak."))
    folder.mkdir(parents=True, exist_ok=True)
    result = soak.run(words, files, folder)
    found = soak.judge(words, files, result, folder)
    print(f"cd {folder} && {shlex.join(['roofcast', *words])}\nexit status {result.status}, {result.cpu:.2f} s, "
          f"{result.memory / 1e6:.0f} MB\n{result.out.decode('utf-8', 'replace')}{result.err.decode('utf-8', 'replace')}")
    print(*(f"{kind}: {message}" for kind, message in found), sep="\n")
    return 1 if found else 0


def run_all(soak, options):
    deadline = time.time() + (options.minutes * 60 if options.minutes else 1e9 if options.inputs else 3600)
    queue = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(soak, options, w, deadline, queue)) for w in range(options.jobs)]
    for worker in workers:
        worker.start()
    tried, status, spent, findings = collections.Counter(), collections.Counter(), collections.Counter(), {}
    slowest, largest, long, running = 0, 0, 0, len(workers)
    while running:
        report = queue.get()
        if report is None:
            running -= 1
            continue
        i, command, words, code, cpu, memory, found = report
        tried[command] += 1
        status[command, code] += 1
        spent[command] += cpu
        slowest, largest = max(slowest, cpu), max(largest, memory)
        for kind, message in found:
            if kind == "asked for":
                long += 1
                continue
            key = (command, kind, pattern(message))
            if key not in findings:
                print(f"FOUND {kind}: {message[:300]}\n  --seed {options.seed} --only {i}: {shlex.join(['roofcast', *words])[:600]}", flush=True)
            findings[key] = findings.get(key, 0) + 1
    print(f"\n{'command':20}{'inputs':>8}{'done':>8}{'refused':>8}{'no':>6}{'findings':>9}{'CPU s':>8}")
    for command in sorted(tried):
        here = sum(1 for key in findings if key[0] == command)
        print(f"{command:20}{tried[command]:8}{status[command, 0]:8}{status[command, 2]:8}{status[command, 3]:6}{here:9}{spent[command]:8.0f}")
    print(f"{'all':20}{sum(tried.values()):8}{sum(n for (_, c), n in status.items() if c == 0):8}"
          f"{sum(n for (_, c), n in status.items() if c == 2):8}{sum(n for (_, c), n in status.items() if c == 3):6}{len(findings):9}"
          f"{sum(spent.values()):8.0f}")
    kinds = collections.Counter(key[1] for key in findings)
    print(f"slowest {slowest:.1f} s of the processor, largest {largest / 1e6:.0f} MB; seed {options.seed}; {long} took long as they were asked to; "
          + (", ".join(f"{n} {kind}" for kind, n in kinds.items()) or "no findings"))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
