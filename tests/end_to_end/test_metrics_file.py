"""--metrics-file: for a textfile collector (BEHAVIOUR, "Logs and metrics")."""

import os
import stat

from harness import Case, eventually, main
from harness.metrics import Metrics


class MetricsFile(Case):
    def setUp(self):
        super().setUp()
        self.folder_of_file = self.path("textfile")
        os.mkdir(self.folder_of_file)
        self.file = os.path.join(self.folder_of_file, "bridge.prom")

    def read(self):
        with open(self.file, encoding="utf-8") as file:
            return Metrics(file.read())

    def test_it_is_there_at_once_readable_by_all_whatever_the_umask_and_goes_with_the_daemon(self):
        server = self.upstream()
        daemon = self.start_daemon(server, "--metrics-file", self.file, before_exec=lambda: os.umask(0o077))
        eventually(lambda: os.path.exists(self.file), "the file")
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o644)
        self.assertEqual(self.read().sum("mcp_bridge_build_info"), 1)
        self.assertEqual(os.listdir(self.folder_of_file), ["bridge.prom"])
        daemon.terminate()
        self.assertEqual(os.listdir(self.folder_of_file), [])

    def test_a_folder_that_is_not_there_is_said_at_start(self):
        server = self.upstream()
        for more in ([], ["--check"]):
            said = self.start_daemon(server, "--metrics-file", self.path("nowhere/bridge.prom"), *more, ready=False).fails(78)
            self.assertIn("--metrics-file", said)

    def test_a_write_that_fails_later_is_logged_and_the_daemon_goes_on(self):
        os.mkdir(self.file)  # nothing can be renamed onto it
        _, daemon = self.bridge("--metrics-file", self.file)
        daemon.logged("cannot be written")
        self.client().fence()
        self.assertEqual(os.listdir(self.folder_of_file), ["bridge.prom"])


if __name__ == "__main__":
    main()
