"""What the fault tests share: the end-to-end harness, and questions that all of them ask."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))

from harness import Case, call, eventually, initialize, main, notification, patient, request, text_of, within  # noqa: E402,F401
from harness.parallel import main_parallel  # noqa: E402,F401


class FaultCase(Case):
    def initializes(self, server):
        return len(server.log("initialize"))

    def collect(self, client, count):
        """The next `count` answers of a client by id; anything twice is a failure."""
        answers = {}
        while len(answers) < count:
            message = client.line()
            if "id" not in message or "method" in message:
                continue
            self.assertNotIn(message["id"], answers, "answered twice")
            answers[message["id"]] = message
        return answers

    def reopened(self, count=1):
        return self.default_daemon.status_when(
            lambda status: status["upstream"]["reopened"] == count and status["upstream"]["state"] == "open",
            f"{count} reopened sessions")
