# SPDX-License-Identifier: Apache-2.0
"""What the Python module promises of the process that it is in: threads, interrupts, environment."""

import ast
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import numpy

import roofcast
from cases import SCENARIO, SOURCE, SWEEP


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_a_sweep_before_it_is_done(self):
        before = time.process_time()
        timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            roofcast.sweep(SOURCE / "examples" / "llama70b_million.yaml", threads=1, replay="none")
        timer.join()
        self.assertLess(time.process_time() - before, 8)  # of a million points it would be more than 20

    def test_ctrl_c_ends_a_simulation_before_it_is_done(self):
        before = time.process_time()
        timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            roofcast.simulate(SCENARIO, {"traffic.output_tokens": {"uniform": [2, 200]}, "traffic.requests": 4_000_000})
        timer.join()
        self.assertLess(time.process_time() - before, 8)  # of all requests it would be more than 20


class Process(unittest.TestCase):
    def test_threads_compute_the_same_at_the_same_time(self):
        def work(index):
            numbers = [roofcast.estimate(SCENARIO, {"traffic.concurrency": load}).tpot_mean_s for load in (1, 16, 64)]
            results[index] = (numbers, list(roofcast.sweep(SWEEP, threads=1)["ttft_p95_s"]))

        results = [None] * 6
        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results[1:]:
            numpy.testing.assert_equal(result, results[0])

    def test_other_threads_run_while_one_computes(self):
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        ticking = threading.Thread(target=tick)
        ticking.start()
        start = time.perf_counter()
        roofcast.sweep({**SWEEP, "axes": {"traffic.concurrency": {"from": 1, "to": 20000, "step": 1}}}, replay="none", threads=1)
        end = time.perf_counter()
        done.set()
        ticking.join()
        self.assertGreater(sum(start < tick < end for tick in ticks), 3)

    def test_an_entry_that_hides_a_built_in_one_is_a_warning(self):
        script = ("import roofcast, sys, warnings\nwith warnings.catch_warnings(record=True) as notes:\n"
                  "    warnings.simplefilter('always')\n    roofcast.show('chip', 'h200_sxm')\nprint(notes[0].message)")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "chips").mkdir()
            entry = (SOURCE / "hardware/chips/h200_sxm.yaml").read_text(encoding="utf-8")
            pathlib.Path(folder, "chips", "h200_sxm.yaml").write_text(entry, encoding="utf-8")
            done = subprocess.run([os.sys.executable, "-c", script], env={**os.environ, "ROOFCAST_CATALOG": folder},
                                  capture_output=True, text=True, check=True)
        self.assertIn("h200_sxm", done.stdout)

    def test_a_catalog_that_is_named_too_late_is_refused(self):
        roofcast.list("chip")
        os.environ["ROOFCAST_CATALOG"] = "late"
        try:
            with self.assertRaisesRegex(RuntimeError, "ROOFCAST_CATALOG is 'late' now"):
                roofcast.list("chip")
        finally:
            del os.environ["ROOFCAST_CATALOG"]

    def test_a_catalog_stays_the_one_that_was_named_wherever_the_program_goes(self):
        script = ("import os, roofcast, warnings\nwarnings.simplefilter('ignore')\n"
                  "before = roofcast.show('chip', 'h200_sxm')['name']\nos.chdir('/')\n"
                  "print(before, roofcast.show('chip', 'h200_sxm')['name'])")
        with tempfile.TemporaryDirectory() as folder:
            chips = pathlib.Path(folder, "own", "chips")
            chips.mkdir(parents=True)
            entry = (SOURCE / "hardware/chips/h200_sxm.yaml").read_text(encoding="utf-8")
            chips.joinpath("h200_sxm.yaml").write_text(entry.replace("name: NVIDIA H200 SXM", "name: Mine"), encoding="utf-8")
            done = subprocess.run([os.sys.executable, "-c", script], env={**os.environ, "ROOFCAST_CATALOG": "own"}, cwd=folder,
                                  capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["Mine", "Mine"])

    def test_what_threads_compute_ends_with_the_interpreter(self):
        script = ("import json, roofcast, sys, threading, time\nscenario = json.loads(sys.argv[1])\n"
                  "def estimates():\n    while True:\n        roofcast.estimate(scenario)\n"
                  "def simulations():\n    roofcast.simulate(scenario, {'traffic.requests': 4_000_000,\n"
                  "        'traffic.output_tokens': {'uniform': [2, 200]}})\n"
                  "for work in (estimates, simulations):\n    threading.Thread(target=work, daemon=True).start()\n"
                  "time.sleep(0.5)")
        for _ in range(3):
            done = subprocess.run([os.sys.executable, "-c", script, json.dumps(SCENARIO)], capture_output=True, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_no_path_and_no_value_is_refused_in_words(self):
        with self.assertRaisesRegex(ValueError, "'a=b' is no path of a knob"):
            roofcast.estimate(SCENARIO, {"a=b": 1})
        with self.assertRaisesRegex(TypeError, "changes are a dict"):
            roofcast.estimate(SCENARIO, ["traffic.concurrency=1"])
        with self.assertRaisesRegex(ValueError, "is nan or infinite"):
            roofcast.estimate(SCENARIO, {"traffic.concurrency": float("nan")})
        with self.assertRaisesRegex(ValueError, "no path of a file"):
            roofcast.estimate("a.yaml\0.txt")

    def test_the_stub_has_every_name_that_is_bound(self):
        stub = ast.parse((SOURCE / "cli/python/roofcast/_native.pyi").read_text(encoding="utf-8"))
        bound = {name for name in dir(roofcast._native) if not name.startswith("_")}
        declared = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        figures = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
        self.assertEqual(set(declared) | (figures & bound), bound)
        for name, node in declared.items():
            if isinstance(node, ast.ClassDef) and name != "Replays":
                members = {member.name for member in node.body}
                self.assertEqual(members, {m for m in dir(getattr(roofcast._native, name)) if not m.startswith("_")})

    def test_every_public_name_says_what_it_is(self):
        for name in roofcast.__all__:
            self.assertTrue(getattr(roofcast, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
