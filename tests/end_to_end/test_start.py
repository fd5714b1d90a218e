"""Starting: exit codes, one clear line each, and what the environment sets (BEHAVIOUR, "Start")."""

import os

from harness import Case, main


class Refused(Case):
    def refused(self, code, *options, url="http://127.0.0.1:9/mcp", socket="s", environment=None):
        daemon = self.start_daemon(url, *options, socket=socket, ready=False, environment=environment or {})
        said = daemon.fails(code)
        self.assertEqual(daemon.stdout(), b"")
        return said

    def test_no_upstream_names_the_variable(self):
        self.assertIn("MCP_SERVER_URL", self.refused(64, url=None))
        self.assertIn("MCP_SERVER_URL", self.refused(64, url=None, environment={"MCP_SERVER_URL": ""}))

    def test_wrong_options_and_values(self):
        for options in (["--no-such-option"], ["--ring", "many"], ["--header", "A: b\r\nX: y"], ["stray"], ["--ring"]):
            with self.subTest(options):
                text = self.refused(64, *options)
                self.assertIn(options[0].split("=")[0], text)

    def test_wrong_urls(self):
        for url in ("ftp://127.0.0.1/mcp", "http:///mcp", "http://127.0.0.1:99999/mcp"):
            with self.subTest(url):
                self.refused(64, url=url)

    def test_control_characters_in_a_value_are_not_printed_raw(self):
        text = self.refused(64, "--ring", "\x1b[31m")
        self.assertNotIn("\x1b", text)

    def test_a_missing_or_wrong_options_file_is_78(self):
        self.refused(78, "--options-file", self.path("nowhere"))
        self.refused(78, "--options-file", self.write("o", "no-such-option = 1\n"))
        self.refused(78, "--options-file", self.write("o", "ring = many\n"))

    def test_a_token_with_a_line_end_is_78(self):
        self.assertNotIn("se cret", self.refused(78, environment={"MCP_SERVER_TOKEN": "se cret"}))

    def test_check_is_0_or_78(self):
        daemon = self.start_daemon("http://127.0.0.1:9/mcp", "--check", ready=False)
        self.assertEqual(daemon.wait(), 0, daemon.stderr())
        self.assertIn("--ring", self.refused(78, "--check", "--ring", "many"))


class Started(Case):
    def test_with_standard_descriptors_closed_nothing_else_gets_their_numbers(self):
        daemon = self.start_daemon("http://127.0.0.1:9/mcp", "--log-level", "debug", before_exec=lambda: os.closerange(0, 3))
        daemon.status()
        self.assertEqual([os.readlink(f"/proc/{daemon.pid}/fd/{number}") for number in range(3)], ["/dev/null"] * 3)


class Informed(Case):
    def informed(self, *options):
        daemon = self.start_daemon(None, *options, socket=None, ready=False)
        self.assertEqual(daemon.wait(), 0, daemon.stderr())
        self.assertEqual(daemon.stderr(), "")
        return daemon.stdout().decode()

    def test_version(self):
        self.assertRegex(self.informed("--version"), r"^mcp-bridged \d+\.\d+\.\d+\n$")


class Environment(Case):
    def test_the_three_of_the_ecosystem(self):
        server = self.upstream("--token", "secret-4711")
        daemon = self.start_daemon(None, socket=None, ready=False, environment={
            "MCP_SERVER_URL": server.url, "MCP_SERVER_TOKEN": "secret-4711", "MCP_SOCKET_PATH": self.path("env")})
        daemon.socket_path = self.path("env")
        daemon.ready()
        self.assertEqual(self.client(daemon).call("echo", {"message": "x"})["id"], 1)
        self.assertEqual({entry["headers"].get("authorization") for entry in server.log()}, {"Bearer secret-4711"})
        daemon.stop()
        self.assertNotIn("secret-4711", daemon.stderr())
        # The DELETE as well.
        self.assertEqual(server.log(http_method="DELETE")[0]["headers"].get("authorization"), "Bearer secret-4711")

    def test_an_empty_token_is_no_header(self):
        server = self.upstream()
        self.start_daemon(server, environment={"MCP_SERVER_TOKEN": ""})
        self.client().fence()
        self.assertNotIn("authorization", server.log("initialize")[0]["headers"])


if __name__ == "__main__":
    main()
