# SPDX-License-Identifier: Apache-2.0
"""What the Python module promises of other questions."""

import pathlib
import tempfile
import unittest

import numpy
import pandas
import yaml

import roofcast
from cases import SCENARIO, SOURCE, answer, program


class Questions(unittest.TestCase):
    def test_answers_are_those_of_the_commands(self):
        example = SOURCE / "examples" / "llama-70b.yaml"
        vary, until = "traffic.concurrency=8..256", "tpot_p95_s <= 0.02"
        self.assertEqual(roofcast.solve(example, {"traffic.concurrency": "8..256"}, [until]),
                         answer("solve", example, "--vary", vary, "--until", until))
        self.assertEqual(roofcast.sensitivity(example, "tpot_mean_s"),
                         answer("sensitivity", example, "--metric", "tpot_mean_s"))
        self.assertEqual(roofcast.brief(example), program("brief", example, "-o", "-"))

    def test_a_recommendation_is_that_of_the_command_and_its_scenario_meets_the_conditions(self):
        example = SOURCE / "examples" / "llama-70b.yaml"
        limits = ["tpot_p95_s <= 0.03", "ttft_p95_s <= 2"]
        found, best = roofcast.recommend(example, 8, systems=["hgx_h100", "hgx_h200"], where=limits, pools="one")
        self.assertEqual(found, answer("recommend", example, "--gpus", "8", "--system", "hgx_h100,hgx_h200", "--pools", "one",
                                       *(word for limit in limits for word in ("--where", limit))))
        self.assertLessEqual(roofcast.estimate(best)["tpot_p95_s"], 0.03)
        nothing, best = roofcast.recommend(example, 8, where="tpot_mean_s <= 0.0001", replay=False)
        self.assertIsNone(best)
        with self.assertRaisesRegex(roofcast.Error, 'no system is called "hgx_h300"'):
            roofcast.recommend(example, 8, systems=["hgx_h300"])

    def test_recommend_refuses_what_it_would_not_heed(self):
        training = SOURCE / "examples" / "llama-8b_training.yaml"
        for arguments, options in (((SCENARIO, 0), {}), ((training, -8), {}), ((training, 8), {"pools": "two"}),
                                   ((SCENARIO, 8), {"clients": 0}),
                                   ((training, 8), {"changes": {"training.micro_batch": 4}}),
                                   ((training, 8), {"changes": {"deployment": {"tensor_parallel": 2}}}),
                                   ((SCENARIO, 8), {"changes": {"training": {"global_batch": 8}}}),
                                   ((SCENARIO, 8), {"changes": {"traffic": {"input_tokens": 9, "output_tokens": 9, "concurrency": 2}}})):
            with self.subTest(arguments=arguments, options=options), self.assertRaises(roofcast.Error):
                roofcast.recommend(*arguments, **options)

    def test_arrivals_that_are_set_take_the_place_of_clients(self):
        arrivals = {"process": "poisson", "rate": "2 /s"}
        for changes in ({"traffic.arrivals": arrivals},
                        {"traffic": {"input_tokens": 2048, "output_tokens": 512, "arrivals": arrivals}}):
            found, _ = roofcast.recommend(SCENARIO, 8, changes=changes, pools="one", replay=False)
            self.assertIn("2 requests a second", found["question"])
        alike, _ = roofcast.recommend(SCENARIO, 8, pools="one", replay=False)
        whole = {"traffic": {"input_tokens": 2048, "output_tokens": 512}}  # says no load: it is searched
        self.assertEqual(roofcast.recommend(SCENARIO, 8, changes=whole, pools="one", replay=False)[0], alike)

    def test_values_are_a_range_a_list_or_an_array(self):
        for values in ([4, 8], numpy.array([4, 8])):
            answer = roofcast.solve(SCENARIO, {"traffic.concurrency": values}, ["tpot_p95_s <= 0.02"], replay=False)
            self.assertIn(answer["values"]["traffic.concurrency"], ("4", "8"))
        for values in ({"from": 8, "to": 16}, ["16,32"]):
            with self.assertRaises(ValueError):
                roofcast.solve(SCENARIO, {"traffic.concurrency": values}, ["tpot_p95_s <= 0.02"])

    def test_a_list_of_values_is_a_range_and_changes_come_before(self):
        answer = roofcast.solve(SCENARIO, {"deployment.tensor_parallel": [2, 4, 8]}, ["tpot_p95_s <= 0.02"],
                                changes={"traffic.concurrency": 4}, replay=False)
        self.assertTrue(answer["found"])
        self.assertIn(answer["values"]["deployment.tensor_parallel"], ("2", "4", "8"))

    def test_a_roadmap_says_what_its_csv_says(self):
        roadmap = SOURCE / "examples" / "nemotron-3-super_options.yaml"
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder, "out.csv")
            program("compare", roadmap, "--csv", csv)
            rows = pandas.read_csv(csv, float_precision="round_trip")
        options = roofcast.compare(roadmap)["options"]
        portfolio = rows[(rows.part == "option") & (rows.workload == "portfolio")]
        self.assertEqual([option["name"] for option in options], list(portfolio.name))
        self.assertEqual([option["gain"] for option in options], list(portfolio.gain))
        self.assertEqual([option["workloads"][0]["value"] for option in options],
                         list(rows[(rows.part == "option") & (rows.workload != "portfolio")].value))
        features = roofcast.compare(SOURCE / "examples" / "roadmap_features.yaml")
        gaining = {feature["name"] for feature in features["features"] if feature["share_of_gain"] > 1e-6}
        self.assertEqual({place["name"] for place in features["order"]}, gaining)
        self.assertAlmostEqual(sum(feature["share_of_gain"] for feature in features["features"]), 1)

    def test_a_simulation_has_the_requests_of_the_command(self):
        example = SOURCE / "examples" / "llama-70b.yaml"
        simulation = roofcast.simulate(example, seed=7, warm_up=10)
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder, "out.csv")
            printed = answer("simulate", example, "--seed", 7, "--warm-up", 10, "--csv", csv)
            written = pandas.read_csv(csv, keep_default_na=False, na_values=[""], float_precision="round_trip")
        self.assertEqual(simulation.summary, printed)
        pandas.testing.assert_frame_equal(simulation.to_pandas(), written, check_exact=True)

    def test_runs_of_a_training_are_drawn_and_not_simulated(self):
        example = SOURCE / "examples" / "llama-405b_run.yaml"
        runs = roofcast.draw_runs(example, runs=20)
        self.assertEqual(runs["runs"], 20)
        for function in (lambda: roofcast.simulate(example), lambda: roofcast.draw_runs(SCENARIO)):
            with self.assertRaises(roofcast.Error):
                function()

    def test_the_catalog_is_that_of_the_command(self):
        self.assertIn("hgx_h200", roofcast.list("system"))
        self.assertEqual(roofcast.list("systems"), roofcast.list("system"))
        self.assertEqual(roofcast.show("chip", "h200_sxm"), yaml.safe_load(program("show", "chip", "h200_sxm")))
        self.assertIn("hbm", roofcast.show("system", "hgx_h200", whole=True)["chip"])
        self.assertIn("model", roofcast.kinds())
