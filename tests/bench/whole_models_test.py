# SPDX-License-Identifier: Apache-2.0
"""The forecasts that whole_models.py compares its measurements with. Nothing is measured, and PyTorch is not needed."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "calibrate/bench/torch"))
import forecasts
import whole_models

PROGRAM = forecasts.Program(os.environ.get("ROOFCAST_BINARY", "roofcast"))


def parts(phase, model, batch, context, mode, load="steady"):
    row = {"phase": phase, "batch": str(batch), "context": str(context), "mode": mode, "load": load}
    return forecasts.parts(PROGRAM, row, "hgx_h200", whole_models.SHAPES[model])


class WholeModels(unittest.TestCase):
    def test_every_case_has_a_forecast_of_each_of_its_parts(self):
        for case in whole_models.cases():
            with self.subTest(case=case):
                found = parts(*case)
                self.assertEqual(set(found), {"whole", "passes", "optimizer"} if case[0] == "train" else
                                 {"whole", "attention", "rest"})
                for time in found.values():
                    self.assertGreater(time, 0)
                if case[-1] == "graph" or case[0] == "train":
                    self.assertAlmostEqual(found["whole"] / (sum(found.values()) - found["whole"]), 1)

    def test_without_attention_an_iteration_does_not_know_its_context(self):
        short, long = (parts("decode", "llama-3.1-8b", 8, context, "graph") for context in (1024, 8192))
        self.assertAlmostEqual(long["rest"] / short["rest"], 1, delta=0.01)
        self.assertGreater(long["attention"], 2 * short["attention"])

    def test_several_prompts_at_once_take_what_one_does_for_each_of_them_or_less(self):
        one, four = (parts("prefill", "llama-3.1-8b", batch, 4096, "graph")["whole"] for batch in (1, 4))
        self.assertLess(four, 4.2 * one)
        self.assertGreater(four, 3.5 * one)

    def test_a_burst_is_not_slower_than_what_goes_on_under_the_power_limit(self):
        burst, sustained = (parts("prefill", "llama-3.1-8b", 1, 8192, "graph", load)["whole"]
                            for load in ("burst", "sustained"))
        self.assertLess(burst, sustained)


if __name__ == "__main__":
    unittest.main()
