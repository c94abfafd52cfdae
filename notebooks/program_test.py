# SPDX-License-Identifier: Apache-2.0
"""What program.py promises: a test's name states it."""

import os
import unittest
from unittest import mock

import pandas
import program


class Program(unittest.TestCase):
    def test_a_mistake_raises_the_tools_own_message(self):
        with self.assertRaisesRegex(RuntimeError, "did you mean"):
            program.run("show", "chip", "h200_sxn")

    def test_a_program_that_does_not_start_is_said_by_name(self):
        with mock.patch.dict(os.environ, {"ROOFCAST_BINARY": "/nowhere/roofcast"}):
            with self.assertRaisesRegex(FileNotFoundError, "/nowhere/roofcast"):
                program.run("list")

    def test_a_table_may_be_a_frame_or_a_file(self):
        path = program.SOURCE / "notebooks" / "data" / "megatron_a100_steps.csv"
        frame = pandas.read_csv(path, keep_default_na=False, na_values=[""], float_precision="round_trip")
        by_file, by_frame = program.validate("training", path), program.validate("training", frame)
        pandas.testing.assert_series_equal(by_file.predicted_step_s, by_frame.predicted_step_s)


if __name__ == "__main__":
    unittest.main()
