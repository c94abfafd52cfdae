# SPDX-License-Identifier: Apache-2.0
"""The blocks of the pages that are marked python are run, page by page. The lines of a block that is marked text, in
their order, are printed by the one before it; "…" stands for any others."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["ROOFCAST_SOURCE_DIR"])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def not_printed(expected, printed):
    """The first line that is not printed where it should be; None when all are."""
    at, anywhere = 0, False
    for line in expected:
        if line == "…":
            anywhere = True
            continue
        while anywhere and at < len(printed) and printed[at] != line:
            at += 1
        if at == len(printed) or printed[at] != line:
            return line
        at, anywhere = at + 1, False
    return None


class Pages(unittest.TestCase):
    def test_every_python_block_runs_and_prints_what_is_written(self):
        run = 0
        self.addCleanup(os.chdir, os.getcwd())
        for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
            blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
            if not any(language == "python" for language, _ in blocks):
                continue
            names, printed = {}, None
            with self.subTest(page.name), tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                pathlib.Path("examples").symlink_to(SOURCE / "examples")
                for language, text in blocks:
                    if language == "python":
                        out = io.StringIO()
                        with contextlib.redirect_stdout(out):
                            exec(compile(text, page.name, "exec"), names)
                        printed, run = out.getvalue().splitlines(), run + 1
                    elif language == "text" and printed is not None:
                        self.assertIsNone(not_printed(text.splitlines(), printed), printed)
                    elif language == "sh":
                        printed = None
        self.assertGreater(run, 5)


if __name__ == "__main__":
    unittest.main()
