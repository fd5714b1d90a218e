"""Runs tests in several threads: those that mostly wait need not wait for one another."""

import concurrent.futures
import os
import sys
import time
import unittest

from .binaries import ROOT


class _ThreadedRunner:
    def __init__(self, threads):
        self.threads = threads

    @staticmethod
    def _tests(suite):
        for one in suite:
            if isinstance(one, unittest.TestSuite):
                yield from _ThreadedRunner._tests(one)
            else:
                yield one

    @staticmethod
    def _run(test):
        result = unittest.TestResult()
        began = time.monotonic()
        test.run(result)
        word = "ok" if result.wasSuccessful() else "FAILED"
        if result.skipped:
            word = "skipped: " + result.skipped[0][1]
        print(f"{test.id()} ... {word} ({time.monotonic() - began:.1f} s)", file=sys.stderr, flush=True)
        return result

    def run(self, suite):
        whole = unittest.TestResult()
        # A thread that starts a process has to outlive it, so none ends before all tests have.
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            for result in pool.map(self._run, list(self._tests(suite))):
                whole.testsRun += result.testsRun
                whole.failures += result.failures
                whole.errors += result.errors
                whole.skipped += result.skipped
        for test, trace in whole.failures + whole.errors:
            print(f"{'=' * 70}\n{test.id()}\n{'-' * 70}\n{trace}", file=sys.stderr)
        print(f"Ran {whole.testsRun} tests: {len(whole.failures)} failures, {len(whole.errors)} errors, "
              f"{len(whole.skipped)} skipped", file=sys.stderr)
        return whole


def main_parallel(threads=4):
    """As main(); each test has its own folder and processes already."""
    os.chdir(ROOT)
    unittest.main(module="__main__", testRunner=_ThreadedRunner(threads))
