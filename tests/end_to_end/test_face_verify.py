"""tests/verify-http.sh, which checks a deployed face from outside."""

from harness import main, notification
from harness.binaries import ROOT
from harness.certificates import Authority
from harness.facing import Facing
from harness.nginx import Nginx


class VerifyHttp(Facing):
    def verify(self, *arguments, code=0, environment=None):
        out, err = self.run_tool(["bash", ROOT / "tests" / "verify-http.sh", *arguments], code, environment=environment)
        return out + err

    def test_a_face_that_is_well_passes_and_keeps_its_notifications(self):
        server, face = self.face("--handshake", "eager")
        server.emit(notification("notifications/message", {"level": "info", "data": "kept"}))
        self.untaken(1)
        report = self.verify(face.url)
        self.assertNotIn("NOT OK", report)
        self.assertIn("all is well", report)
        self.assertIn("skipped", report)
        self.assertEqual(self.default_daemon.status()["ring"]["untaken"], 1)
        self.clients_of_kind("http", 0)

    def test_with_a_token_refusals_are_checked_as_well(self):
        _, face = self.face("--http-token-file", self.write("token", "secret\n"))
        report = self.verify(face.url + "/mcp", "secret")
        self.assertEqual(report.count("refused: 401"), 2, report)
        self.assertNotIn("secret", report)

    def test_behind_nginx_as_the_page_configures_it_nothing_is_held_back(self):
        _, face = self.face()
        authority = Authority(self.folder)
        front = Nginx(self._name("nginx"), self.folder, self.marker, self.unused_port(), face.port, authority.sign("front"))
        self.processes.append(front)
        report = self.verify(front.url, environment={"CURL_CA_BUNDLE": authority.path})
        self.assertNotIn("NOT OK", report)
        self.assertIn("a stream begins at once", report)

    def test_a_wrong_token_is_found(self):
        _, face = self.face("--http-token-file", self.write("token", "secret\n"))
        self.assertIn("NOT OK  a session is opened: 401", self.verify(face.url, "other", code=1))


if __name__ == "__main__":
    main()
