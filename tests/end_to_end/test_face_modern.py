"""Requests of 2026-07-28 at the HTTP frontend: which are refused and how, what of a session is not looked at, how
long a stream stays (BEHAVIOUR, "HTTP frontend: modern requests")."""

from harness import eventually, main
from harness.eras import Eras
from harness.face import BOTH, JSON
from harness.modern_protocol import VERSION

TOOLS = "notifications/tools/list_changed"
ECHO = {"name": "echo", "arguments": {"message": "x"}}


class FaceOfTheModernEra(Eras):
    def begins(self, *options, mode="modern"):
        self.upstream, _ = self.bridged(mode, *options, face=True)
        self.one = self.modern_face()
        return self.one

    def post(self, message, headers=None, accept=BOTH, **changed):
        """`headers` in place of the message's own, `changed` beside them; None leaves one out."""
        sent = {**(self.one.headers(message) if headers is None else headers), **{name.replace("_", "-"): value for name, value in changed.items()}}
        return self.one.face.post(message, accept=accept, headers={name: value for name, value in sent.items() if value is not None})

    def refused(self, response, status, code, id):
        self.assertEqual(response.status, status, response.body)
        self.assert_error(response.json(), code, id)
        self.assertNotIn("Mcp-Session-Id", response.headers)
        return response.json()["error"]

    def echo(self, id=7):
        return self.one.made("tools/call", ECHO, id=id)

    def test_head_and_body_must_agree(self):
        self.begins()
        for changed in ({"Mcp_Name": "other"}, {"Mcp_Name": None}, {"Mcp_Method": "tools/list"}, {"Mcp_Method": None},
                        {"MCP_Protocol_Version": "2025-11-25"}, {"MCP_Protocol_Version": None}, {"Mcp_Name": "=?base64?!?="}):
            with self.subTest(changed):
                self.refused(self.post(self.echo(), **changed), 400, -32020, 7)
        self.assertEqual(self.post(self.echo(), Mcp_Name="=?base64?ZWNobw==?=").status, 200)
        self.assertEqual(len(self.upstream.received("tools/call")), 1)

    def test_parameters_that_are_mirrored_must_agree_whatever_the_server_is(self):
        for mode in ("modern", "legacy"):
            with self.subTest(mode):
                client = self.begins(mode=mode)
                page = client.ask("tools/list")["result"]
                while "nextCursor" in page:
                    page = client.ask("tools/list", {"cursor": page["nextCursor"]})["result"]
                call = client.made("tools/call", {"name": "regional", "arguments": {"region": "here", "count": 42}}, id=8)
                self.refused(self.post(call, **{"Mcp-Param-Count": "43"}), 400, -32020, 8)
                self.assertEqual(self.post(call).status, 200)
                self.assertEqual(len(self.upstream.received("tools/call")), 1)

    def test_the_token_is_asked_for_before_anything_is_looked_at(self):
        self.begins("--http-token-file", self.write("token", "secret\n"))
        self.assertEqual(self.post(self.echo()).status, 401)
        self.assertEqual(self.post(self.echo(), Authorization="Bearer secret").status, 200)

    def test_nothing_of_a_session_is_looked_at(self):
        self.begins("--http-async")
        response = self.post(self.echo(), **{"Mcp-Session-Id": "none", "Last-Event-ID": "1-1", "Prefer": "respond-async"})
        self.assertEqual((response.status, response.json()["id"]), (200, 7))
        self.assertNotIn("Mcp-Session-Id", response.headers)
        for method in ("GET", "DELETE"):
            response = self.one.face.request(method, "/mcp", accept=BOTH, headers={"MCP-Protocol-Version": VERSION})
            self.assertEqual((response.status, response.headers["Allow"]), (405, "POST, OPTIONS"))

    def test_a_listen_outlives_the_time_of_a_post_and_is_one_of_the_streams(self):
        client = self.begins("--http-timeout", "200ms", "--sse-keepalive", "100ms", "--http-max-streams", "1")
        listen = client.listen(toolsListChanged=True)
        self.assertEqual(listen.connection.headers["X-Accel-Buffering"], "no")
        for _ in range(5):
            listen.connection.comment()
        ask = client.made("subscriptions/listen", {"notifications": {}}, id=9)
        self.assertEqual(self.post(ask).status, 503)
        self.assertEqual(self.post(ask, accept=JSON).status, 406)
        self.upstream.wait_reaches(TOOLS)
        self.upstream.emit(TOOLS)
        self.assertEqual(listen.next()["method"], TOOLS)
        self.untaken(0)
        listen.close()
        eventually(lambda: client.post(ask).status == 200, "room for another")


if __name__ == "__main__":
    main()
