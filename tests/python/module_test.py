# SPDX-License-Identifier: Apache-2.0
"""What the Python module promises of scenarios, estimates and sweeps: a test's name states it."""

import copy
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import tempfile
import unittest

import numpy
import pandas
import yaml

import roofcast
from cases import HBM, SCENARIO, SOURCE, SWEEP, program


class Errors(unittest.TestCase):
    def refused(self, function, *arguments, **options):
        with self.assertRaises(roofcast.Error) as raised:
            function(*arguments, **options)
        return raised.exception

    def test_a_mistake_has_its_line_column_path_message_and_caret(self):
        text = yaml.safe_dump(SCENARIO).replace("llama-3.1-70b", "llama-3.1-7b")
        error = self.refused(roofcast.estimate, roofcast.Scenario.parse(text, "mine.yaml"))
        line = text.splitlines().index("model: llama-3.1-7b") + 1
        self.assertEqual((error.file, error.line, error.column, error.path), ("mine.yaml", line, 8, "model"))
        self.assertIn('did you mean "llama-3.1-70b"?', error.message)
        self.assertEqual(error.excerpt, "  model: llama-3.1-7b\n  " + " " * 7 + "^\n")
        self.assertTrue(str(error).startswith(f"mine.yaml:{line}:8: error: model: "))

    def test_every_mistake_is_reported_at_once(self):
        wrong = copy.deepcopy(SCENARIO)
        wrong["traffic"]["concurency"] = wrong["traffic"].pop("concurrency")
        wrong["deployment"]["tensor_parallel"] = "eight"
        paths = [problem.path for problem in self.refused(roofcast.estimate, wrong).problems]
        self.assertIn("traffic.concurency", paths)
        self.assertIn("deployment.tensor_parallel", paths)

    def test_a_mistake_of_a_process_is_the_same_mistake_here(self):
        error = self.refused(roofcast.estimate, {**SCENARIO, "model": "llama-3.1-7b", "precision": "fp9"})
        there = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(there), there.problems), (str(error), error.problems))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            with self.assertRaises(roofcast.Error) as raised:
                pool.apply_async(roofcast.estimate, ({**SCENARIO, "model": "llama-3.1-7b"},)).get(60)
        self.assertIn("llama-3.1-7b", str(raised.exception))

    def test_a_mistake_without_a_place_is_an_error_too(self):
        error = self.refused(roofcast.solve, SCENARIO, [HBM], ["tpot_mean_s <= 0.01"], minimize="cost_usd")
        self.assertEqual((error.line, error.excerpt), (0, ""))
        self.assertIn("cost_usd", error.message)

    def test_an_unknown_name_is_refused_with_the_nearest(self):
        self.assertIn("tpot_mean_s", str(self.refused(roofcast.estimate(SCENARIO).__getitem__, "tpot_men_s")))
        with self.assertRaisesRegex(AttributeError, "tpot_mean_s"):
            roofcast.estimate(SCENARIO).tpot_men_s
        self.assertIn("hbm", str(self.refused(roofcast.estimate, SCENARIO, {"system.chip.hbm.bandwith": "x2"})))
        self.assertIn("hgx_h200", str(self.refused(roofcast.show, "system", "hgx_h200s")))
        self.assertIn("chip", str(self.refused(roofcast.list, "chp")))
        self.assertIn("nothing of this", str(self.refused(roofcast.Scenario(SCENARIO).__getitem__, "traffic.rate")))
        self.assertIn("tpot_mean_s", str(self.refused(roofcast.sweep(SWEEP).__getitem__, "tpot_men_s")))
        with self.assertRaisesRegex(ValueError, '"recommended", "all" or "none"'):
            roofcast.sweep(SWEEP, replay="some")

    def test_the_old_name_of_a_column_works_with_a_warning(self):
        estimate = roofcast.estimate(SCENARIO)
        sweep = roofcast.sweep(SWEEP)
        for old in (lambda: estimate["bound_tpot"], lambda: estimate.bound_tpot):
            with self.assertWarnsRegex(UserWarning, '"bound_tpot" is now called "limited_by_tpot"'):
                self.assertEqual(old(), estimate["limited_by_tpot"])
        with self.assertWarnsRegex(UserWarning, "limited_by_ttft"):
            self.assertEqual(list(sweep["bound_ttft"]), list(sweep["limited_by_ttft"]))

    def test_a_file_that_is_not_there_is_named(self):
        self.assertIn("nowhere.yaml", str(self.refused(roofcast.Scenario, "nowhere.yaml")))

    def test_what_is_no_value_of_a_document_is_refused(self):
        with self.assertRaisesRegex(TypeError, "object"):
            roofcast.Scenario({"system": object()})
        with self.assertRaises(ValueError):
            roofcast.estimate(SCENARIO, {"traffic.concurrency": math.nan})


class Scenarios(unittest.TestCase):
    def test_a_scenario_reads_its_own_files_inside_other_documents_and_as_a_dict(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "system.yaml").write_text((SOURCE / "hardware/systems/hgx_h100.yaml").read_text(encoding="utf-8"),
                                                           encoding="utf-8")
            file = pathlib.Path(folder, "scenario.yaml")
            file.write_text(yaml.safe_dump({**SCENARIO, "system": "system.yaml"}), encoding="utf-8")
            scenario = roofcast.Scenario(file)
            numpy.testing.assert_equal(dict(roofcast.estimate(scenario.to_dict())), dict(roofcast.estimate(scenario)))
            numpy.testing.assert_equal(dict(roofcast.estimate(roofcast.Scenario.parse(scenario.yaml()))),
                                       dict(roofcast.estimate(scenario)))
            roadmap = {"question": "q", "metric": "tpot_mean_s", "workloads": {"w": {"base": scenario}},
                       "options": {"o": {"traffic.concurrency": 32}}}
            self.assertEqual(len(roofcast.compare(roadmap, replay=False)["options"]), 1)

    def test_a_scenario_says_what_is_at_a_path(self):
        scenario = roofcast.Scenario(SCENARIO)
        self.assertIn("system.chip.hbm.bandwidth", scenario)
        self.assertNotIn("system.chip.hbm.width", scenario)
        with self.assertRaises(TypeError):
            list(scenario)

    def test_a_dict_a_text_and_a_file_are_the_same_scenario(self):
        example = SOURCE / "examples" / "llama-70b.yaml"
        by_dict = roofcast.estimate(SCENARIO)
        self.assertTrue(by_dict.fits)
        numpy.testing.assert_equal(dict(by_dict), dict(roofcast.estimate(example)))
        numpy.testing.assert_equal(dict(by_dict), dict(roofcast.estimate(str(example))))
        parsed = roofcast.Scenario.parse(example.read_text(encoding="utf-8"))
        numpy.testing.assert_equal(dict(by_dict), dict(roofcast.estimate(parsed)))
        numpy.testing.assert_equal(dict(by_dict), dict(roofcast.estimate(roofcast.Scenario.parse(parsed.yaml()))))

    def test_a_knob_is_read_and_set_by_its_path_through_references(self):
        scenario = roofcast.Scenario(SCENARIO)
        self.assertEqual(scenario["traffic.concurrency"], 64)
        self.assertEqual(scenario["system"], "hgx_h200")
        self.assertEqual(scenario[HBM], roofcast.show("chip", "h200_sxm")["hbm"]["bandwidth"])
        scenario.set(HBM, "x1.5")
        scenario["traffic.concurrency"] = numpy.int64(32)
        self.assertEqual(scenario["traffic.concurrency"], 32)
        faster = roofcast.estimate(scenario).tpot_mean_s
        self.assertEqual(faster, roofcast.estimate(SCENARIO, {HBM: "x1.5", "traffic.concurrency": 32}).tpot_mean_s)
        self.assertLess(faster, roofcast.estimate(SCENARIO).tpot_mean_s)

    def test_a_changed_copy_leaves_the_scenario_as_it_was(self):
        scenario = roofcast.Scenario(SCENARIO)
        changed = scenario.changed({"traffic": {"input_tokens": 9, "output_tokens": 9, "concurrency": 1}})
        self.assertEqual(scenario.to_dict(), SCENARIO)
        self.assertEqual(changed["traffic.input_tokens"], 9)

    def test_a_scenario_and_an_estimate_are_copied_and_pickled(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "fast.yaml").write_text("base: hgx_h200\nchip.hbm.bandwidth: 9 TB/s\n")
            (path / "mine.yaml").write_text(yaml.safe_dump({**SCENARIO, "system": "fast.yaml"}))
            scenario = roofcast.Scenario(path / "mine.yaml")
            scenario["traffic.concurrency"] = 7
            estimate = roofcast.estimate(scenario)
            for other in (copy.deepcopy(scenario), copy.copy(scenario), pickle.loads(pickle.dumps(scenario))):
                other_estimate = roofcast.estimate(other)
                self.assertEqual(other_estimate.tpot_mean_s, estimate.tpot_mean_s)
                other["traffic.concurrency"] = 9
                self.assertEqual(scenario["traffic.concurrency"], 7)
            again = pickle.loads(pickle.dumps(estimate))
            self.assertEqual(again.tpot_mean_s, estimate.tpot_mean_s)
            self.assertEqual(again.iterations(), estimate.iterations())

    def test_a_scenario_without_a_folder_is_copied_and_pickled(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                pathlib.Path("mine.yaml").write_text(yaml.safe_dump(SCENARIO))
                for source in (SCENARIO, "mine.yaml"):
                    scenario = roofcast.Scenario(source)
                    estimate = roofcast.estimate(scenario)
                    for other in (copy.deepcopy(scenario), pickle.loads(pickle.dumps(scenario))):
                        self.assertEqual(other.to_dict(), SCENARIO)
                    for other in (copy.deepcopy(estimate), pickle.loads(pickle.dumps(estimate))):
                        self.assertEqual(other.tpot_mean_s, estimate.tpot_mean_s)
            finally:
                os.chdir(before)

    def test_a_question_out_of_its_limits_is_an_error(self):
        run = SOURCE / "examples" / "llama-405b_run.yaml"
        for ask in (lambda: roofcast.solve(SCENARIO, {}, ["tpot_p95_s <= 0.02"]),
                    lambda: roofcast.solve(SCENARIO, [], ["tpot_p95_s <= 0.02"]),
                    lambda: roofcast.draw_runs(run, runs=0),
                    lambda: roofcast.draw_runs(run, runs=10**9),
                    lambda: roofcast.sensitivity(SCENARIO, gain=-1),
                    lambda: roofcast.sensitivity(SCENARIO, rows=10**9, vary={HBM: "x0.5..x2"}),
                    *(lambda step=step: roofcast.sensitivity(SCENARIO, step=step)
                      for step in (0, 1, math.nan, -3, math.inf))):
            with self.assertRaises(roofcast.Error):
                ask()

    def test_one_condition_may_be_a_text(self):
        asked = {"traffic.concurrency": "8..16"}, "tpot_p95_s <= 0.5"
        self.assertEqual(roofcast.solve(SCENARIO, *asked, replay=False),
                         roofcast.solve(SCENARIO, asked[0], [asked[1]], replay=False))

    def test_an_outer_knob_is_set_before_an_inner_one(self):
        changes = {HBM: "x2", "system": "hgx_b200"}
        reversed_changes = dict(reversed(list(changes.items())))
        self.assertEqual(roofcast.estimate(SCENARIO, changes).tpot_mean_s,
                         roofcast.estimate(SCENARIO, reversed_changes).tpot_mean_s)

    def test_a_text_stays_a_text_and_a_number_a_number(self):
        parsed = roofcast.Scenario.parse("{a: 010, b: 10, c: 1e3, d: 3 TB/s, e: true, f: null, g: '10', h: -2.5, i: [x, 1]}")
        self.assertEqual(parsed.to_dict(), {"a": "010", "b": 10, "c": 1000.0, "d": "3 TB/s", "e": True, "f": None,
                                            "g": "10", "h": -2.5, "i": ["x", 1]})


class Estimates(unittest.TestCase):
    def test_its_warnings_are_those_of_the_command(self):
        long = {"traffic.input_tokens": {"lognormal": {"mean": 90000, "cv": 1, "max": 400000}}, "traffic.concurrency": 4}
        with self.assertWarnsRegex(UserWarning, "longer than the context of 131072 tokens"):
            self.assertEqual(len(roofcast.estimate(SCENARIO, long).warnings), 1)
        self.assertEqual(roofcast.estimate(SCENARIO).warnings, [])

    def test_it_has_what_the_command_prints_as_json(self):
        printed = json.loads(program("estimate", SOURCE / "examples" / "llama-70b.yaml", "--format", "json"))
        estimate = roofcast.estimate(SCENARIO)
        of_the_answer = {"roofcast", "units", "made_by", "load", "replay", "limited_by", "full_iterations",
                         "beyond_context"}
        self.assertEqual(set(printed) - set(estimate), of_the_answer)
        for metric, limit in printed["limited_by"].items():
            self.assertEqual(estimate.limited_by(metric), limit["by"], metric)
        for name, value in estimate.items():
            self.assertEqual(printed[name], None if isinstance(value, float) and not math.isfinite(value) else value, name)
        self.assertEqual(roofcast.estimate(SCENARIO).tpot_mean_s, printed["tpot_mean_s"])

    def test_what_is_still_the_figure_of_another_chip_is_said_where_a_part_was_replaced(self):
        self.assertNotIn("parent_figures", roofcast.estimate(SCENARIO))
        self.assertIn("price", roofcast.estimate(SCENARIO, {HBM: "x2"})["parent_figures"])

    def test_intervals_limits_and_operators_are_those_of_the_metrics(self):
        estimate = roofcast.estimate(SCENARIO)
        low, high = estimate.interval("tpot_mean_s")
        self.assertTrue(low < estimate.tpot_mean_s < high)
        self.assertIsNone(estimate.interval("gpus"))
        self.assertIn(estimate.limited_by("tpot_mean_s"), estimate.iterations()[0]["shares"])
        times = estimate.operators().groupby("iteration").time_s.sum()
        for iteration in estimate.iterations():
            self.assertAlmostEqual(times[iteration["name"]] / iteration["time_s"], 1, 9)

    def test_what_cannot_run_is_a_result_with_a_reason(self):
        estimate = roofcast.estimate(SCENARIO, {"deployment.tensor_parallel": 1, "precision": "bf16"})
        self.assertFalse(estimate.fits)
        self.assertIn("GB a GPU", estimate.reason)
        self.assertTrue(math.isnan(estimate.tpot_mean_s))
        self.assertEqual((estimate.limited_by("tpot_mean_s"), estimate.iterations()), ("", []))
        found = roofcast.sensitivity(SCENARIO, changes={"deployment.tensor_parallel": 1, "precision": "bf16"})
        self.assertFalse(found["fits"])

    def test_every_metric_has_a_unit_that_its_name_ends_in(self):
        units = {metric.name: metric.unit for metric in roofcast.metrics()}
        self.assertEqual(units["tpot_mean_s"], "s")
        self.assertTrue(all(units[name] == "s" for name in units if name.endswith(("mean_s", "p95_s"))))


class Sweeps(unittest.TestCase):
    def test_it_is_a_mapping_of_its_columns_whatever_else_is_asked(self):
        sweep = roofcast.sweep(SWEEP, replay="none")
        columns = list(sweep)
        self.assertNotIn("nope", sweep)
        self.assertEqual(sweep.get("nope", 3), 3)
        self.assertTrue(numpy.isnan(sweep["run_s"]).all())  # of a training run: no column of this CSV
        self.assertEqual(list(sweep), columns)

    def test_its_columns_are_the_csv_of_the_command(self):
        for options, replay in (([], "recommended"), (["--no-replay"], "none"), (["--simulate"], "all")):
            with self.subTest(replay), tempfile.TemporaryDirectory() as folder:
                file, csv = pathlib.Path(folder, "sweep.yaml"), pathlib.Path(folder, "out.csv")
                file.write_text(yaml.safe_dump(SWEEP, sort_keys=False), encoding="utf-8")
                program("sweep", file, "--quiet", "--csv", csv, *options)
                written = pandas.read_csv(csv, keep_default_na=False, na_values=[""], float_precision="round_trip")
                pandas.testing.assert_frame_equal(roofcast.sweep(SWEEP, replay=replay).to_pandas(), written,
                                                  check_dtype=False, check_exact=True)

    def test_columns_are_arrays_and_axes_are_numbers_where_they_can_be(self):
        sweep = roofcast.sweep(SWEEP, replay="none")
        self.assertEqual(sweep.points, 12)
        self.assertEqual((sweep["tpot_mean_s"].dtype, sweep["fits"].dtype), (numpy.float64, numpy.bool_))
        self.assertEqual(list(sweep["deployment.tensor_parallel"]), [1] * 4 + [2] * 4 + [4] * 4)
        self.assertEqual(list(sweep["precision"][:4]), ["bf16", "bf16", "fp8", "fp8"])
        self.assertTrue(numpy.isnan(sweep["tpot_mean_s"][~sweep["fits"]]).all())
        self.assertTrue((sweep["pareto_rank"][sweep.front()] == 1).all())

    def test_labels_of_bundles_stay_texts(self):
        labels = ["007", "1_0", "nan"]
        bundles = {label: {"traffic.input_tokens": 100 * (i + 1)} for i, label in enumerate(labels)}
        sweep = roofcast.sweep({"base": SCENARIO, "axes": {"plan": bundles, "traffic.concurrency": [1, 2]}}, replay="none")
        self.assertEqual(list(sweep["plan"][::2]), labels)
        self.assertEqual(list(sweep["traffic.concurrency"][:2]), [1, 2])

    def test_a_point_is_the_estimate_of_its_scenario_to_the_last_bit(self):
        sweep = roofcast.sweep(SWEEP, replay="none")
        for point in range(sweep.points):
            estimate = roofcast.estimate(sweep.scenario(point))
            for column in ("tpot_mean_s", "ttft_p95_s", "cost_usd_per_mtok"):
                numpy.testing.assert_equal(sweep[column][point], estimate[column])
        with self.assertRaises(IndexError):
            sweep.scenario(sweep.points)

    def test_the_base_may_be_a_scenario_a_dict_or_a_file(self):
        expected = roofcast.sweep(SWEEP, replay="none")["tpot_mean_s"]
        for base in (roofcast.Scenario(SCENARIO), SOURCE / "examples" / "llama-70b.yaml"):
            numpy.testing.assert_equal(roofcast.sweep({**SWEEP, "base": base}, replay="none")["tpot_mean_s"], expected)

    def test_the_number_of_threads_changes_nothing(self):
        one, three = (roofcast.sweep(SWEEP, threads=threads).to_pandas() for threads in (1, 3))
        pandas.testing.assert_frame_equal(one, three, check_exact=True)

    def test_an_array_of_a_sweep_cannot_be_changed_in_place_and_a_copy_can(self):
        sweep = roofcast.sweep(SWEEP, replay="none")
        for column in ("tpot_mean_s", "fits", "precision", "traffic.concurrency"):
            with self.assertRaises(ValueError):
                sweep[column][0] = sweep[column][1]
            sweep[column].copy()[0] = sweep[column][1]
        frame = sweep.to_pandas()
        frame["tpot_mean_s"] *= 1e3
        pandas.testing.assert_series_equal(frame["tpot_mean_s"], 1e3 * pandas.Series(sweep["tpot_mean_s"]),
                                           check_names=False)
        self.assertTrue((frame["tpot_mean_s"] > 0).any())

    def test_a_number_of_threads_that_no_machine_has_is_refused(self):
        for threads in (-1, 10**6):
            with self.assertRaisesRegex(ValueError, "threads is 0 to 1024"):
                roofcast.sweep(SWEEP, threads=threads)
