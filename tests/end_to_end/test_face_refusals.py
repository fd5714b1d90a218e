"""What the HTTP frontend does not do, and for whom: every status, hostile requests, tokens, sites, TLS, starts that fail."""

import json
import os
import signal
import socket
import ssl

from harness import eventually, main, request
from harness.certificates import Authority, key_of
from harness.face import Face, until_closed
from harness.facing import Facing

POST = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class Statuses(Facing):
    def curl(self, face, *arguments):
        """Status and body, as curl sees them."""
        out, _ = self.run_tool(["curl", "-s", "-m", "30", "-w", "\n%{http_code}", *arguments[:-1], face.url + arguments[-1]])
        body, _, status = out.rpartition("\n")
        return int(status), body

    def test_every_status_with_curl(self):
        _, face = self.face("--max-frame", "10K")
        session = face.session()
        ping = request("ping")
        kind = ("-H", "Content-Type: application/json")
        large = self.write("large", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"a": "x" * 20000}}))
        expected = [
            (200, None, *kind, "-d", ping, "/mcp"),
            (200, None, *kind, "-d", ping, "/messages"),
            (202, None, *kind, "-d", '{"jsonrpc":"2.0","method":"notifications/x"}', "/mcp"),
            (202, None, *kind, "-H", "Prefer: respond-async", "-d", ping, "/mcp"),
            (204, None, "-X", "DELETE", "-H", "Mcp-Session-Id: " + session, "/mcp"),
            (400, -32700, *kind, "-d", "oops", "/mcp"),
            (400, -32600, *kind, "-d", "5", "/mcp"),
            (400, -32600, *kind, "-d", "[]", "/mcp"),
            (400, -32600, *kind, "-d", '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}', "/mcp"),
            (400, -32022, *kind, "-H", "MCP-Protocol-Version: 1999-01-01", "-d", ping, "/mcp"),
            (400, -32000, "-H", "MCP-Protocol-Version: 1999-01-01", "/mcp"),
            (405, -32000, "-H", "MCP-Protocol-Version: 2026-07-28", "/mcp"),
            (200, None, *kind, "-H", "MCP-Protocol-Version: 2024-11-05", "-d", ping, "/mcp"),
            (400, -32000, "/mcp"),
            (403, -32000, *kind, "-H", "Origin: https://evil.example", "-d", ping, "/mcp"),
            (403, -32000, *kind, "-H", "Host: evil.example", "-d", ping, "/mcp"),
            (404, -32000, "/elsewhere"),
            (404, -32001, *kind, "-H", "Mcp-Session-Id: " + session, "-d", ping, "/mcp"),
            (405, -32000, "-X", "PUT", "-d", "x", "/mcp"),
            (405, -32000, *kind, "-d", ping, "/healthz"),
            (405, -32000, "-X", "DELETE", "/sse"),
            (406, -32000, "-H", "Accept: application/json", "/mcp/stream"),
            (413, -32600, *kind, "-d", "@" + large, "/mcp"),
            (413, -32600, *kind, "-H", "Transfer-Encoding: chunked", "-d", "@" + large, "/mcp"),
            (415, -32000, "-d", ping, "/mcp"),
            (415, -32000, "-H", "Content-Type: text/plain", "-d", ping, "/mcp"),
            (200, None, "/metrics"),
            (200, None, "/healthz"),
            (200, None, "/readyz"),
            (200, None, "-I", "/healthz"),
            (204, None, "-X", "OPTIONS", "/mcp"),
        ]
        for status, code, *arguments in expected:
            with self.subTest(status=status, arguments=[one[:60] for one in arguments]):
                got, body = self.curl(face, *arguments)
                self.assertEqual(got, status, body)
                if code:
                    self.assert_error(json.loads(body), code, id=1 if code == -32022 else None)
        # After all of that it serves as before.
        self.assertEqual(face.ask("ping").status, 200)

    def test_nothing_of_the_machine_is_told(self):
        _, face = self.face()
        for answer in (face.get("/elsewhere"), face.post("oops"), face.get("/mcp", headers={"Range": "bytes=" + "0-1," * 2000 + "2-3"})):
            self.assertNotIn("EXCEPTION_WHAT", answer.headers)
            self.assertNotIn("Server", answer.headers)


class Hostile(Facing):
    def test_both_length_headers_are_refused_and_nothing_behind_them_is_read(self):
        server, face = self.face()
        smuggled = POST + b"Content-Length: 2\r\n\r\n{}"
        for headers in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                        b"Content-Length: 4\r\nContent-Length: 5\r\n", b"Transfer-Encoding: x\r\n",
                        b"Transfer-Encoding : chunked\r\n", b"Content-Length: +4\r\n"):
            with self.subTest(headers=headers):
                answer = face.raw(POST + headers + b"\r\n0\r\n\r\n" + smuggled)
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1)
                self.assertRegex(answer, rb"^HTTP/1.1 (400|501) ")
                self.assertIn(b"Connection: close", answer)
        self.assertEqual(server.log(), [])

    def test_the_reason_of_a_refusal_is_read_by_a_caller_that_still_sends(self):
        _, face = self.face("--max-frame", "1M")
        answer = face.post("x" * (4 << 20))
        self.assertEqual(answer.status, 413)


class Sites(Facing):
    def test_foreign_hosts_and_origins_are_refused_everywhere_but_for_health(self):
        _, face = self.face()
        for path in ("/mcp", "/mcp/stream", "/sse", "/status", "/metrics", "/openapi.json", "/elsewhere"):
            with self.subTest(path=path):
                self.assertEqual(face.get(path, headers={"Host": "evil.example:80"}).status, 403)
                self.assertEqual(face.get(path, headers={"Origin": "http://evil.example"}).status, 403)
                self.assertEqual(face.get(path, headers={"Origin": "null"}).status, 403)
        for path in ("/healthz", "/readyz"):
            self.assertEqual(face.get(path, headers={"Host": "10.1.2.3:8080", "Origin": "http://evil.example"}).status, 200)

    def test_its_own_origin_and_names_that_are_listed_are_served(self):
        _, face = self.face("--http-allow-host", "bridge.example", "--http-allow-origin", "https://app.example")
        self.assertEqual(face.get("/status", headers={"Host": "bridge.example"}).status, 200)
        self.assertEqual(face.get("/status", headers={"Origin": face.url}).status, 200)
        answer = face.ask("ping", headers={"Origin": "https://app.example"})
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, "https://app.example"))
        self.assertIn("Mcp-Session-Id", answer.headers["Access-Control-Expose-Headers"])
        stream = face.stream(path="/mcp/stream", headers={"Origin": "https://app.example"})
        self.assertEqual(stream.headers["Access-Control-Allow-Origin"], "https://app.example")

    def test_a_browser_may_ask_before_it_shows_its_token(self):
        token = self.write("token", "secret\n")
        _, face = self.face("--http-token-file", token, "--http-allow-origin", "https://app.example")
        asks = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization, mcp-session-id, Mcp-Param-Region"}
        answer = face.request("OPTIONS", "/mcp", headers=asks)
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (204, "https://app.example"))
        self.assertIn("POST", answer.headers["Access-Control-Allow-Methods"])
        for name in ("Authorization", "Mcp-Session-Id", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region"):
            self.assertIn(name, answer.headers["Access-Control-Allow-Headers"])
        self.assertEqual(face.request("OPTIONS", "/mcp", headers={**asks, "Origin": "https://evil.example"}).status, 403)
        # A refusal can be read by the page as well.
        refused = face.ask("ping", headers={"Origin": "https://app.example"})
        self.assertEqual((refused.status, refused.headers["Access-Control-Allow-Origin"]), (401, "https://app.example"))


class Tokens(Facing):
    def test_everything_but_health_needs_the_token(self):
        path = self.write("token", "secret-1\n")
        _, face = self.face("--http-token-file", path)
        paths = ("/mcp", "/mcp/stream", "/sse", "/status", "/metrics", "/openapi.json", "/elsewhere")
        for wrong in (None, "Bearer other", "Basic secret-1", "secret-1", "Bearer secret-11"):
            headers = {"Authorization": wrong} if wrong else {}
            for one in paths:
                with self.subTest(path=one, authorization=wrong):
                    answer = face.get(one, headers=headers)
                    self.assertEqual(answer.status, 401)
                    self.assertTrue(answer.headers["WWW-Authenticate"].startswith("Bearer"))
                    self.assertEqual("invalid_token" in answer.headers["WWW-Authenticate"], (wrong or "").startswith("Bearer"))
            self.assertEqual(face.ask("ping", headers=headers).status, 401)
        self.assertEqual(face.get("/healthz").status, 200)
        with_token = Face(face.url, token="secret-1")
        self.assertEqual(with_token.ask("ping").status, 200)
        self.assertNotIn("secret-1", self.default_daemon.stderr())

    def test_a_new_token_in_the_file_takes_the_place_of_the_old(self):
        path = self.write("token", "secret-1\n")
        _, face = self.face("--http-token-file", path)
        old, new = Face(face.url, token="secret-1"), Face(face.url, token="secret-2")
        self.assertEqual(old.get("/status").status, 200)
        self.write("token", "secret-2\n")
        eventually(lambda: new.get("/status").status == 200, "the new token")
        self.assertEqual(old.get("/status").status, 401)


class Tls(Facing):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder)
        self.certificate = self.authority.sign("front")

    def secured(self):
        return self.face("--http-cert", self.certificate, "--http-key", key_of(self.certificate), ca_file=self.authority.path)

    def test_requests_and_streams_over_tls(self):
        _, face = self.secured()
        self.assertTrue(face.url.startswith("https://"))
        session = face.session()
        stream = face.stream(session)
        self.assertEqual(len(face.call("big", {"bytes": 3 << 20}, session=session).json()["result"]["content"][0]["text"]), 3 << 20)
        large = "x" * (2 << 20)
        self.assertIn(large.encode(), face.call("echo", {"message": large}, session=session).body)
        face.call("burst", {"count": 100}, 2, session)
        self.assertEqual([one["params"]["data"]["n"] for one in stream.messages(100)], list(range(1, 101)))

    def test_a_new_certificate_is_taken_on_sighup_and_a_bad_one_is_not(self):
        _, face = self.secured()
        self.assertEqual(face.get("/healthz").status, 200)
        another = Authority(self.folder, "another")
        replacement = another.sign("front")
        os.replace(replacement, self.certificate)
        os.replace(key_of(replacement), key_of(self.certificate))
        self.default_daemon.signal(signal.SIGHUP)
        self.default_daemon.logged("were read again")
        with self.assertRaises(ssl.SSLError):
            face.get("/healthz")
        self.write(os.path.basename(self.certificate), "no PEM")
        self.default_daemon.signal(signal.SIGHUP)
        self.default_daemon.logged("nothing was changed: --http-cert")
        self.assertEqual(Face(face.url, ca_file=another.path).get("/healthz").status, 200)

    def test_a_caller_without_tls_is_closed(self):
        _, face = self.secured()
        with socket.create_connection((face.host, face.port)) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            until_closed(plain)
        self.assertEqual(face.get("/healthz").status, 200)


class Starts(Facing):
    def refused(self, code, text, *options):
        server = self.upstream()
        self.assertIn(text, self.start_daemon(server, *options, ready=False).fails(code))

    def test_a_port_another_daemon_serves_is_never_shared(self):
        server, face = self.face()
        self.start_daemon(server, "--http", face.authority, socket="other", ready=False).fails(73)

    def test_an_address_that_can_be_reached_without_protection(self):
        self.refused(64, "--http-insecure", "--http", "0.0.0.0:0")
        _, face = self.face("--http-insecure", address="0.0.0.0:0")
        self.assertEqual(Face(face.url.replace("0.0.0.0", "127.0.0.1")).get("/healthz").status, 200)

    def test_files_that_cannot_be_used(self):
        self.refused(78, "--http-token-file", "--http", ":0", "--http-token-file", self.path("none"))
        bad = self.write("bad", "no PEM")
        self.refused(78, "--http-cert", "--http", ":0", "--http-cert", bad, "--http-key", bad)

    def test_an_ipv6_address(self):
        _, face = self.face(address="[::1]:0")
        self.assertEqual(face.ask("ping").status, 200)


if __name__ == "__main__":
    main()
