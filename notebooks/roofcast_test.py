# SPDX-License-Identifier: Apache-2.0
"""What the module promises: a test's name states it."""

import io
import os
import pathlib
import unittest
from unittest import mock

import pandas

import roofcast

SCENARIO = {
    "system": "hgx_h200",
    "model": "llama-3.1-70b",
    "precision": "fp8",
    "deployment": {"tensor_parallel": 8},
    "serving": {"stack": "vllm"},
    "traffic": {"input_tokens": 2048, "output_tokens": 512, "concurrency": 64},
}
SWEEP = {"base": SCENARIO, "axes": {"deployment.tensor_parallel": [1, 2, 3], "precision": ["bf16", "fp8"]}}


class Errors(unittest.TestCase):
    def test_a_mistake_raises_the_tools_own_message_and_status(self):
        with self.assertRaises(roofcast.RoofcastError) as raised:
            roofcast.estimate(SCENARIO | {"model": "llama-3.1-7b"})
        self.assertEqual(raised.exception.exit_status, 2)
        self.assertIn('did you mean "llama-3.1-70b"?', str(raised.exception))
        self.assertIn("^", str(raised.exception))

    def test_an_unknown_knob_is_no_forecast(self):
        with self.assertRaisesRegex(roofcast.RoofcastError, "hbm"):
            roofcast.estimate(SCENARIO, {"system.chip.hbm.bandwith": "x2"})

    def test_a_program_that_does_not_start_is_said_by_name(self):
        with mock.patch.dict(os.environ, {"ROOFCAST_BINARY": "/nowhere/roofcast"}):
            with self.assertRaisesRegex(FileNotFoundError, "/nowhere/roofcast"):
                roofcast.estimate(SCENARIO)


class Values(unittest.TestCase):
    def test_an_estimate_by_dict_file_and_change_is_the_same(self):
        example = roofcast.SOURCE / "examples" / "llama-70b.yaml"
        by_dict = roofcast.estimate(SCENARIO)
        self.assertEqual(by_dict, roofcast.estimate(example))
        halved = {**SCENARIO, "traffic": {**SCENARIO["traffic"], "concurrency": 32}}
        self.assertEqual(roofcast.estimate(halved), roofcast.estimate(example, {"traffic.concurrency": 32}))
        self.assertNotEqual(by_dict, roofcast.estimate(halved))

    def test_a_change_may_be_a_number_a_text_or_a_document(self):
        changes = {
            "traffic": {"input_tokens": 1024, "output_tokens": 128, "concurrency": 8},
            "deployment.tensor_parallel": 4,
            "system.chip.hbm.bandwidth": "x1.5",
        }
        self.assertEqual(roofcast.estimate(SCENARIO, changes)["gpus"], 4)

    def test_columns_are_those_of_the_csv_units_included(self):
        rows = roofcast.sweep(SWEEP)
        for column in ("deployment.tensor_parallel", "tpot_mean_s", "low90_tpot_mean_s", "memory_b_per_gpu", "provenance"):
            self.assertIn(column, rows.columns)
        self.assertEqual(len(rows), 6)

    def test_a_row_of_a_sweep_has_the_numbers_of_its_estimate_to_the_last_bit(self):
        rows = roofcast.sweep(SWEEP).set_index(["deployment.tensor_parallel", "precision"])
        one = roofcast.estimate(SCENARIO, {"deployment.tensor_parallel": 2})
        for metric in ("tpot_mean_s", "ttft_p95_s", "cost_usd_per_mtok"):
            self.assertEqual(rows.loc[(2, "fp8"), metric], one[metric])

    def test_what_does_not_fit_is_a_row_with_a_reason_and_no_numbers(self):
        rows = roofcast.sweep(SWEEP).set_index(["deployment.tensor_parallel", "precision"])
        refused = rows.loc[(1, "bf16")]
        self.assertFalse(refused.fits)
        self.assertIn("GB a GPU", refused.reason)
        self.assertTrue(pandas.isna(refused.tpot_mean_s))

    def test_only_an_empty_cell_is_missing(self):
        rows = roofcast.table(io.StringIO("name,limit\nnull,1\nNA,\nnone,0.1\n"))
        self.assertEqual(list(rows.name), ["null", "NA", "none"])
        self.assertTrue(pandas.isna(rows.limit[1]))
        self.assertEqual(rows.limit[2], 0.1)

    def test_operators_of_an_iteration_add_up_to_it(self):
        explained = roofcast.estimate(SCENARIO, explain=True)
        times = roofcast.operators(explained).groupby("iteration").time_s.sum()
        for iteration in explained["iterations"]:
            self.assertAlmostEqual(times[iteration["name"]] / iteration["time_s"], 1, 9)

    def test_a_table_may_be_a_frame_or_a_file(self):
        path = pathlib.Path(roofcast.SOURCE, "notebooks", "data", "megatron_a100_steps.csv")
        by_file = roofcast.validate("training", path)
        by_frame = roofcast.validate("training", roofcast.table(path))
        pandas.testing.assert_series_equal(by_file.predicted_step_s, by_frame.predicted_step_s)


if __name__ == "__main__":
    unittest.main()
