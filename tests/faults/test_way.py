"""The way to the upstream: proxies, redirects, headers from files, a Unix socket (BEHAVIOUR, "Streamable HTTP")."""

import os
import signal

from faults import FaultCase, call, eventually, main_parallel, patient, text_of
from harness.certificates import Authority
from harness.http_proxy import HttpProxy
from harness.tls_front import TlsFront

TOKEN = "the-bearer-token"
NO_PROXIES = {name: "" for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (upper, upper.lower())}


class Way(FaultCase):
    def start(self, upstream, *options, **variables):
        return self.start_daemon(upstream, "--connect-wait", patient(2000), *options,
                                 environment={**NO_PROXIES, "MCP_SERVER_TOKEN": TOKEN, **variables})

    def served(self, client=None, text="here"):
        self.assertEqual(text_of((client or self.client()).call("echo", {"message": text})), text)

    def not_reached(self, *expected):
        client = self.client()
        client.send(call("echo", {}, 1))
        return self.assert_error(client.line(), -32000, 1, *expected)


class Proxies(Way):
    def setUp(self):
        super().setUp()
        self.server = self.upstream("--token", TOKEN)
        self.between = HttpProxy()
        self.addCleanup(self.between.close)

    def secured(self):
        authority = Authority(self.folder)
        front = TlsFront(self.server.port, authority.sign("right"))
        self.addCleanup(front.close)
        return front, ("--ca-file", authority.path)

    def first_lines(self):
        return {head.split(" HTTP/")[0] for head in self.between.heads}

    def test_https_goes_through_a_tunnel_and_the_proxy_sees_no_token(self):
        front, options = self.secured()
        self.start(front, *options, HTTPS_PROXY=self.between.url)
        self.served()
        self.assertEqual(self.first_lines(), {f"CONNECT 127.0.0.1:{front.port}"})
        self.assertNotIn(TOKEN, "".join(self.between.heads))

    def test_no_proxy_is_a_way_around(self):
        for exception in ("127.0.0.1", "elsewhere.example,127.0.0.1", "*"):
            daemon = self.start(self.server, HTTP_PROXY="http://127.0.0.1:9", NO_PROXY=exception)
            self.served()
            daemon.stop()

    def test_what_the_proxy_wants_to_know_stays_secret(self):
        front, options = self.secured()
        daemon = self.start(front, *options, HTTPS_PROXY=self.between.url.replace("//", "//user:proxy-secret@"))
        self.served()
        self.assertIn("Proxy-Authorization: Basic", self.between.heads[0])
        self.between.refusal = "407 Proxy Authentication Required"
        daemon.stop()
        daemon = self.start(front, *options, HTTPS_PROXY=self.between.url.replace("//", "//user:proxy-secret@"))
        self.assertNotIn("proxy-secret", str(self.not_reached("connect", "no")))
        self.assertNotIn("proxy-secret", daemon.stderr() + str(daemon.status()))

    def test_a_proxy_that_refuses_is_no_connection(self):
        front, options = self.secured()
        self.between.refusal = "503 Busy"
        self.start(front, *options, HTTPS_PROXY=self.between.url)
        self.assertIn("503", self.not_reached("connect", "no")["message"])


class Redirects(Way):
    def test_within_the_origin_they_are_followed_with_the_token(self):
        server = self.upstream("--token", TOKEN)
        self.start(server)
        client = self.client()
        client.fence()
        for status in (307, 308):
            for location in ("/mcp", server.url, "mcp"):
                with self.subTest(location, status=status):
                    server.forget_log()
                    server.fault({"status": status, "headers": {"Location": location}}, method="tools/call")
                    self.served(client)
                    first, second = server.log("tools/call")
                    self.assertEqual(first["body"], second["body"])
                    self.assertEqual(second["headers"]["authorization"], "Bearer " + TOKEN)

    def test_to_another_origin_they_are_an_error_and_it_sees_nothing(self):
        server, other = self.upstream("--token", TOKEN), self.upstream()
        self.start(server)
        client = self.client()
        client.fence()
        for status in (301, 302, 303, 307, 308):
            for location in (other.url, other.url.replace("127.0.0.1", "localhost"), server.url.replace("http:", "https:")):
                with self.subTest(location, status=status):
                    server.fault({"status": status, "headers": {"Location": location}}, method="tools/call")
                    data = self.assert_error(client.call("echo", {}, 1), -32001, 1, "http")["data"]
                    self.assertEqual(data["status"], status)
        self.assertEqual(other.log(), [])

    def test_streams_and_the_end_of_the_session_are_sent_on_too(self):
        server = self.upstream("--token", TOKEN, "--event-ids", "--answers", "sse", "--retry", "100")
        daemon = self.start(server)
        client = self.client()
        self.served(client)
        server.streams(1)
        server.forget_log()
        for method in ("GET", "DELETE"):
            server.fault({"status": 307, "headers": {"Location": "/mcp"}}, http_method=method)
        server.fault({"closeAfterEvents": 1}, method="tools/call")
        client.send(call("slow", {"steps": 2, "delayMs": 50}, 1, token="t"))
        self.assertEqual(text_of(client.answer(1)), "done after 2 steps")
        self.assertEqual(daemon.terminate(), 0)
        for method, same in (("GET", "last-event-id"), ("DELETE", "mcp-session-id")):
            first, second = server.log(http_method=method)
            self.assertEqual(first["headers"][same], second["headers"][same])
            self.assertEqual(second["headers"]["authorization"], "Bearer " + TOKEN)

    def test_streams_and_the_end_of_the_session_are_not_sent_to_another_origin(self):
        server, other = self.upstream("--token", TOKEN), self.upstream()
        daemon = self.start(server)
        self.served()
        server.streams(1)
        moved = {"status": 307, "headers": {"Location": other.url}}
        for method in ("GET", "DELETE"):
            server.fault(moved, http_method=method, times=-1)
        server.control("POST", "streams/close", "{}")
        server.log(http_method="GET", wait=3)
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual(len(server.log(http_method="DELETE")), 1)
        self.assertEqual(other.log(), [])


class Headers(Way):
    def test_they_go_with_every_request_and_a_file_is_read_again_by_sighup(self):
        server = self.upstream("--answers", "sse")
        path = self.write("secret", "first-value\n")
        daemon = self.start(server, "--header", "X-Plain: plain", "--header", f"X-Secret: @{path}")
        client = self.client()
        self.served(client)
        server.streams(1)
        for entry in server.log():
            self.assertEqual((entry["headers"]["x-plain"], entry["headers"]["x-secret"]), ("plain", "first-value"))
        self.write("secret", "second-value\n")
        daemon.signal(signal.SIGHUP)
        daemon.logged("SIGHUP: ")
        self.served(client)
        self.assertEqual(server.log("tools/call")[-1]["headers"]["x-secret"], "second-value")
        self.assertEqual(len(server.log("initialize")), 1)
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual(server.log(http_method="DELETE")[0]["headers"]["x-secret"], "second-value")
        self.assertNotIn("-value", daemon.stderr())

    def test_a_file_that_is_not_there_ends_the_start(self):
        said = self.start("http://127.0.0.1:1/mcp", "--header", f"X: @{self.path('none')}", ready=False).fails(78)
        self.assertIn(self.path("none"), said)

    def start(self, upstream, *options, ready=True, **variables):
        return self.start_daemon(upstream, *options, ready=ready, environment={**NO_PROXIES, **variables})


class Local(Way):
    def test_a_server_on_a_unix_socket_that_comes_late_and_goes(self):
        server = self.upstream()
        path = self.path("up")
        url = "http+unix://" + path.replace("/", "%2F") + "/mcp"
        # A proxy has nothing to do with it.
        daemon = self.start(url, HTTP_PROXY="http://127.0.0.1:9")
        self.not_reached("connect", "no")

        def relay():
            process = self.run_process("socat", ["socat", f"UNIX-LISTEN:{path},fork", f"TCP:127.0.0.1:{server.port}"])
            eventually(lambda: os.path.exists(path), "socat's socket")
            return process

        relay()
        client = self.client()
        self.served(client)
        self.assertEqual(daemon.status()["upstream"]["target"], f"unix:{path}/mcp")


if __name__ == "__main__":
    main_parallel(3)
