"""What clients wait for is not lost in an upgrade: sessions of the HTTP frontend and their streams, POSTs that are answered later,
calls that wait for answers of their clients (BEHAVIOUR, "Upgrade in place")."""

import http.client
import json

from harness import answer, call, initialize, main, notification, text_of
from harness.certificates import Authority, key_of
from harness.era_clients import CAPABLE
from harness.eras import Eras
from harness.face import BOTH, JSON, STREAM, Face
from harness.local_server import LocalServer
from harness.modern_client import ANSWERS
from harness.upgrading import Upgrading

NO_GRACE = ("--grace", "1ms")
LATER = {"Prefer": "respond-async"}


class FaceSessions(Upgrading, LocalServer):
    """A session of the face before a local server."""

    def setUp(self):
        super().setUp()
        daemon = self.start_local(options=(*NO_GRACE, "--http", self.place(), *self.face_options()))
        self.other = self.client()
        self.face = self.face_of(daemon)
        self.session = self.face.session()

    def place(self):
        return "127.0.0.1:0"

    def face_options(self):
        return ()

    def face_of(self, daemon):
        return Face.of(daemon)

    def tearDown(self):
        self.face.close()
        super().tearDown()

    def ask_silently(self, accept, and_then=""):
        """A POST that the server does not answer, on a connection of its own."""
        body = call("silent", {}, "mine")
        waiting = self.face.connect()
        waiting.sendall((f"POST /mcp HTTP/1.1\r\nHost: {self.face.authority}\r\nContent-Type: application/json\r\n"
                         f"Mcp-Session-Id: {self.session}\r\nAccept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                         + and_then).encode())
        return waiting


class Sessions(FaceSessions):
    def after(self, stream):
        """The same stream at the next image: it was ended, and is resumed."""
        self.assertEqual(stream.rest(), [])
        return self.face.stream(self.session, last=stream.last_id)

    def test_a_session_and_its_stream_go_on(self):
        stream = self.face.stream(self.session)
        self.says({"method": "notifications/message", "params": {"level": "info", "data": "one"}}, self.other)
        self.assertEqual(stream.message()["params"]["data"], "one")
        for n in (1, 2):
            self.upgrade()
            stream = self.after(stream)
            self.says({"method": "notifications/message", "params": {"level": "info", "data": n}}, self.other)
            self.assertEqual(stream.message()["params"]["data"], n)
        self.assertEqual(self.face.ask("ping", session=self.session).status, 200)
        self.assertEqual(self.face.ask("ping", session="0" * 32).status, 404)

    def test_an_answer_that_comes_as_a_stream_can_be_resumed(self):
        upstream_id = self.next_id(self.other)
        post = self.face.post_stream(call("silent", {}, "mine"), self.session, STREAM)
        post.begun()
        self.in_flight(1)
        self.upgrade()
        self.assertEqual(post.rest(), [])
        resumed = self.face.stream(self.session, last=post.last_id)
        self.answers(upstream_id, self.other)
        message = resumed.message()
        self.assertEqual((message["id"], text_of(message)), ("mine", "late"))

    def test_a_caller_who_waits_for_a_body_notices_nothing_but_time(self):
        for accept in (JSON, BOTH):
            upstream_id = self.next_id(self.other)
            waiting = self.ask_silently(accept, "GET /healthz HTTP/1.1\r\nHost: x\r\n")
            self.in_flight(1)
            self.upgrade(2)
            self.answers(upstream_id, self.other)
            response = http.client.HTTPResponse(waiting)
            response.begin()
            self.assertEqual((response.status, text_of(json.loads(response.read()))), (200, "late"))
            waiting.sendall(b"\r\n")
            response = http.client.HTTPResponse(waiting)
            response.begin()
            self.assertEqual(response.status, 200)

    def test_an_answer_for_later_comes_and_is_kept_as_a_job(self):
        upstream_id = self.next_id(self.other)
        accepted = self.face.call("silent", {}, 7, self.session, headers=LATER)
        self.assertEqual(accepted.json(), {"accepted": [7]})
        job = accepted.headers["Bridge-Jobs"]
        self.in_flight(1)
        self.upgrade(2)
        self.answers(upstream_id, self.other)
        message = self.face.stream(self.session).message()
        self.assertEqual((message["id"], text_of(message)), (7, "late"))
        collected = self.face.ask("bridge/collect", {"job": job}).json()["result"]
        self.assertEqual((collected["state"], text_of(collected["response"])), ("completed", "late"))


class OnASocket(Sessions):
    """The same on the frontend's Unix socket."""

    def place(self):
        return self.path("http")


class ThroughTls(FaceSessions):
    def face_options(self):
        self.authority = Authority(self.folder)
        certificate = self.authority.sign("face")
        return "--http-cert", certificate, "--http-key", key_of(certificate)

    def face_of(self, daemon):
        return Face.of(daemon, ca_file=self.authority.path)

    def test_a_caller_who_takes_a_stream_gets_one_that_can_be_resumed(self):
        upstream_id = self.next_id(self.other)
        post = self.ask_silently(BOTH)
        self.in_flight(1)
        self.upgrade()
        text = b""
        while chunk := post.recv(1 << 16):
            text += chunk
        last = next(line[3:].strip() for line in text.decode().splitlines() if line.startswith("id:"))
        resumed = self.face.stream(self.session, last=last)
        self.answers(upstream_id, self.other)
        message = resumed.message()
        self.assertEqual((message["id"], text_of(message)), ("mine", "late"))


class Questions(Upgrading, Eras):
    """In the middle of a call, where the client is of another revision than the server."""

    def begin(self, mode):
        return self.bridged(mode, *NO_GRACE, stdio=True)[0]

    def ask(self, client):
        asked = client.made("tools/call", {"name": "ask", "arguments": {"kinds": ["elicitation"]}}, capabilities=CAPABLE)
        return asked, client.exchange(asked)

    def test_a_modern_client_answers_a_legacy_server_afterwards(self):
        server = self.begin("legacy")
        first = self.modern()
        asked, response = self.ask(first)
        self.assertEqual(response["result"]["resultType"], "input_required")
        first.close()
        self.upgrade(2)
        _, final = self.modern().retry(asked, response, ANSWERS, capabilities=CAPABLE)
        self.assertIn("Ada", text_of(final))
        self.assertEqual((len(server.received("tools/call")), server.cancelled), (1, []))

    def capable(self):
        client = self.client()
        client.send(initialize("init", CAPABLE)).answer("init")
        client.send(notification("notifications/initialized"))
        return client

    def test_a_legacy_client_answers_a_modern_server_afterwards(self):
        server = self.begin("modern")
        client = self.capable()
        client.send(call("ask", {"kinds": ["elicitation", "roots"]}))
        first = client.line()
        client.send(answer(first["id"], ANSWERS["elicitation" if "elicit" in first["method"] else "roots"]))
        second = client.line()
        self.upgrade(2)
        client.send(answer(second["id"], ANSWERS["elicitation" if "elicit" in second["method"] else "roots"]))
        self.assertEqual(len(json.loads(text_of(client.answer(1)))["answers"]), 1)
        self.assertEqual(len(server.received("tools/call")), 2)


if __name__ == "__main__":
    main()
