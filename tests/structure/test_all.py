"""tests/all.sh with suites that only exit: what it prints, and its exit code."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]


class All(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tests = pathlib.Path(folder.name) / "tests"
        self.tests.mkdir()
        shutil.copy(TESTS / "all.sh", self.tests)

    def suite(self, path, text):
        script = self.tests / path
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text + "\n", encoding="utf-8")

    def start(self, *arguments):
        process = subprocess.Popen(["bash", str(self.tests / "all.sh"), *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        return process

    def run_all(self, *arguments):
        """The exit code, and the first words of the line of each suite."""
        process = self.start(*arguments)
        lines = process.communicate(timeout=60)[0].splitlines()
        matches = [re.match(r"(\w+) +(passed|failed|not run) +\d+ min \d\d s(?:  (.*))?$", line) for line in lines]
        return process.returncode, {match[1]: (match[2], match[3]) for match in matches if match}, lines

    def test_each_suite_has_a_line_and_what_was_not_asked_for_says_so(self):
        self.suite("crash/run.sh", "exit 0")
        code, outcomes, lines = self.run_all("crash")
        self.assertEqual(code, 0)
        self.assertEqual(outcomes.pop("crash"), ("passed", None))
        self.assertEqual(set(outcomes.values()), {("not run", "not asked for")})
        listed = self.start("--list").communicate(timeout=60)[0].splitlines()
        self.assertEqual([line.split()[0] for line in listed], [line.split()[0] for line in lines])

    def test_a_failure_is_1_and_shows_why_and_the_others_are_run_all_the_same(self):
        self.suite("crash/run.sh", "echo 'FAILED: as it was told' >&2; exit 3")
        self.suite("soak.sh", '[ "$1" = 120s ]')
        code, outcomes, lines = self.run_all("--for", "2m", "soak", "crash")
        self.assertEqual(code, 1)
        self.assertEqual(outcomes["soak"], ("passed", None))
        self.assertEqual(outcomes["crash"], ("failed", "exit code 3; build/all/crash.log"))
        self.assertIn("    FAILED: as it was told", lines)

    def test_a_suite_that_was_not_run_is_not_passed(self):
        self.suite("crash/run.sh", "echo a line; echo needs a disk; exit 77")
        code, outcomes, _ = self.run_all("crash")
        self.assertEqual((code, outcomes["crash"]), (2, ("not run", "needs a disk")))
        self.suite("soak.sh", "exit 1")
        self.assertEqual(self.run_all("soak", "crash")[0], 1)

    def test_interrupted_it_ends_the_suite_and_runs_no_other(self):
        ready = self.tests / "ready"
        os.mkfifo(ready)
        self.suite("crash/run.sh", f"trap 'echo cleaned up; exit 9' INT; echo x >{ready}; while :; do sleep 0.05; done")
        self.suite("soak.sh", "exit 0")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("crash", "soak")
            ready.read_text(encoding="utf-8")
            process.send_signal(number)
            out = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 128 + number, out)
            self.assertRegex(out, r"(?m)^crash +failed .*interrupted")
            self.assertRegex(out, r"(?m)^soak +not run .*interrupted")
            log = (self.tests.parent / "build/all/crash.log").read_text(encoding="utf-8")
            self.assertIn("cleaned up", log)

    def test_every_script_that_runs_a_suite_is_one_of_them(self):
        text = (TESTS / "all.sh").read_text(encoding="utf-8")
        for script in [*TESTS.glob("*/run.sh"), *TESTS.glob("end_to_end/*conformance.sh"), TESTS / "soak.sh"]:
            self.assertIn(f"bash tests/{script.relative_to(TESTS)}", text)
        for name in re.findall(r"(?:bash|python3) (tests/\S+)", text.split("\nrun() {", 1)[1]):
            self.assertTrue((TESTS.parent / name).is_file(), name)

    def test_an_unknown_suite_or_time_is_wrong_usage(self):
        for arguments in (["nonsense"], ["--for", "10"], ["--for"], ["--nonsense"]):
            self.assertEqual(self.run_all(*arguments)[0], 64, arguments)


if __name__ == "__main__":
    unittest.main()
