"""What compare.py of the conformance suite calls lost."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

from harness import main

sys.path.insert(0, str(pathlib.Path(__file__).parent / "conformance"))
import compare  # noqa: E402


class Lost(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_of(self, name, *checks):
        """What the suite saves of one scenario; a check is (id, status)."""
        place = self.folder / name / "server-s-2026-01-01T00-00-00-000Z"
        place.mkdir(parents=True)
        (place / "checks.json").write_text(json.dumps([{"id": id, "status": status} for id, status in checks]))
        return f"{name}={self.folder / name}"

    def judge(self, direct, bridged, known=None):
        """(exit code, the lines about checks)"""
        arguments = [self.run_of("direct", *direct), self.run_of("bridge", *bridged)]
        if known is not None:
            (self.folder / "known").write_text(known)
            arguments = ["--known", str(self.folder / "known"), *arguments]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = compare.main(arguments)
        return code, [line for line in out.getvalue().splitlines() if line.startswith(("lost,", "known,", "not lost"))]

    def test_what_is_the_same_is_not_lost(self):
        both = [("a", "SUCCESS"), ("b", "FAILURE"), ("c", "WARNING"), ("d", "INFO")]
        self.assertEqual(self.judge(both, both), (0, []))

    def test_the_worst_of_a_check_that_stands_twice_counts_in_any_order(self):
        for worst in "WARNING", "FAILURE":
            for order in (worst, "SUCCESS"), ("SUCCESS", worst):
                with self.subTest(order=order), tempfile.TemporaryDirectory() as folder:
                    self.folder = pathlib.Path(folder)
                    code, lines = self.judge([("a", "SUCCESS")], [("a", status) for status in order])
                    self.assertEqual(code, 1)
                    self.assertIn(f"bridge: s: a: {worst}", lines[0])

    def test_a_warning_or_failure_that_was_not_there_is_lost(self):
        for before in [], [("a", "INFO")], [("a", "SKIPPED")]:
            for now in "WARNING", "FAILURE":
                with self.subTest(before=before, now=now), tempfile.TemporaryDirectory() as folder:
                    self.folder = pathlib.Path(folder)
                    code, lines = self.judge([("other", "SUCCESS"), *before], [("other", "SUCCESS"), ("a", now)])
                    self.assertEqual((code, len(lines)), (1, 1))

    def test_a_warning_that_became_a_failure_is_lost_and_the_other_way_round_is_not(self):
        self.assertEqual(self.judge([("a", "WARNING")], [("a", "FAILURE")])[0], 1)
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder)
            self.assertEqual(self.judge([("a", "FAILURE")], [("a", "WARNING")]), (0, []))

    def test_what_passed_and_was_not_reached_is_lost(self):
        code, lines = self.judge([("a", "SUCCESS"), ("b", "SUCCESS")], [("b", "SUCCESS")])
        self.assertEqual((code, len(lines)), (1, 1))
        self.assertIn("not reached", lines[0])

    def test_what_is_known_is_no_fault_as_long_as_it_happens(self):
        known = "# why\nbridge s a  # reason\nanother s b\n"
        code, lines = self.judge([("a", "SUCCESS")], [("a", "WARNING")], known)
        self.assertEqual((code, lines[0][:6]), (0, "known,"))
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder)
            code, lines = self.judge([("a", "SUCCESS")], [("a", "SUCCESS")], known)
            self.assertEqual((code, lines), (1, ["not lost any more, bridge: s: a"]))


if __name__ == "__main__":
    main()
