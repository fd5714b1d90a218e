"""Nothing secret gets into the log, at its most talkative and with everything going wrong (BEHAVIOUR, "Secrets")."""

import base64
import json
import os

from harness import Case, call, initialize, main, notification

TOKEN = "token-4711-abcdef"
HEADER = "header-value-0815"
PARAM = "param-secret-"
RESULT = "result-secret"
ERROR = "error-text-secret"
BODY = "plain-body-secret"
NOTIFIED = "notified-secret"
ASKED = "asked-secret"
CLIENT = "client-info-secret"
TRACE = "trace-secret"


class Secrets(Case):
    def faults(self, server):
        """One of each kind of answer that quotes something."""
        error = '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"%s"}}' % ERROR
        for action in ('{"status":500,"contentType":"text/plain","body":"%s"}' % BODY,
                       '{"status":400,"body":%s}' % error,
                       '{"status":403,"body":%s,"headers":{"WWW-Authenticate":"Bearer error_description=%s"}}' % (error, BODY),
                       '{"status":404,"contentType":"text/plain","body":"%s"}' % BODY,
                       '{"status":200,"body":%s}' % error,
                       '{"status":200,"body":"this is no JSON: %s"}' % BODY,
                       '{"status":200,"contentType":"text/plain","body":"%s"}' % BODY,
                       '{"status":200,"body":{"jsonrpc":"2.0","id":"%s","result":{}}}' % BODY,
                       '{"sse":[{"data":"no JSON %s"}],"end":"cut"}' % BODY,
                       '{"sse":[{"data":{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s"}}}],"end":"close"}' % NOTIFIED,
                       '{"resetBeforeAnswer":true}'):
            server.fault(action, method="tools/call", times=2)

    def load(self, server, daemon):
        """Requests of several clients, and all that can go wrong with them."""
        clients = [self.client() for _ in range(4)]
        for number, client in enumerate(clients):
            client.send(initialize("i", capabilities={"sampling": {}}, name=CLIENT), notification("notifications/initialized"))
            client.answer("i")
        server.streams(1)
        # Before the faults: one of them loses the session, and with it for a moment the stream that this is sent on.
        server.emit({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": NOTIFIED}}, 30)
        server.emit('{"jsonrpc":"2.0","%s":1}' % NOTIFIED)
        server.ask({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [], "systemPrompt": ASKED}})
        self.faults(server)
        sent = 0
        for number, client in enumerate(clients):
            for id in range(25):
                frame = json.loads(call("echo", {"message": f"{PARAM}{number}-{id}"}, id))
                frame["params"]["_meta"] = {"traceparent": TRACE}
                client.send(json.dumps(frame))
                sent += 1
            client.send(f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"x":"{PARAM}broken"', f'["{PARAM}batch"]')
        for client in clients:
            missing = set(range(25))
            while missing:
                missing.discard(client.line().get("id"))
        # Refused once more, by a server that repeats what it was told. The daemon opens the session again by itself.
        server.fault('{"status":400,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"$SESSION %s"}}}' % TOKEN,
                     method="initialize")
        server.control("POST", "sessions/drop")
        daemon.logged("code -32600")
        clients[0].call("echo", {"message": PARAM + "late"}, "late")
        clients[0].fence()
        for client in clients:
            client.close()
        self.clients.clear()
        self.others(0)
        server.emit({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": NOTIFIED}}, 30)
        daemon.logged("left the ring")
        return sent

    def assert_nothing_secret(self, server, daemon):
        sessions = {entry["sessionId"] for entry in server.log() if entry["sessionId"]}
        self.assertGreaterEqual(len(sessions), 2)
        status = daemon.status()
        daemon.terminate()
        log = daemon.stderr()
        secrets = [TOKEN, HEADER, PARAM, RESULT, ERROR, BODY, NOTIFIED, ASKED, CLIENT, TRACE, *sessions]
        secrets += [base64.b64encode(secret.encode()).decode() for secret in (TOKEN, HEADER)]
        for secret in secrets:
            at = log.find(secret)
            self.assertEqual(at, -1, log[max(0, at - 300):at + 300])
        for secret in [TOKEN, HEADER, *sessions]:
            self.assertNotIn(secret, json.dumps(status))
        return log

    def started(self, *options):
        server = self.upstream("--token", TOKEN)
        daemon = self.start_daemon(server, "--log-level", "debug", "--header", f"X-Secret: {HEADER}", "--handshake", "client",
                                   "--ring", "10", *options, environment={"MCP_SERVER_TOKEN": TOKEN})
        return server, daemon

    def test_not_in_text(self):
        server, daemon = self.started()
        sent = self.load(server, daemon)
        log = self.assert_nothing_secret(server, daemon)
        # All the same everything was logged.
        self.assertGreaterEqual(log.count("a request goes to the upstream"), sent)
        for words in ("a request has failed: http: HTTP 500", "malformed", "session", "left the ring", "code -32600"):
            self.assertIn(words, log)

    def test_not_in_json(self):
        server, daemon = self.started("--log-format", "json")
        sent = self.load(server, daemon)
        log = self.assert_nothing_secret(server, daemon)
        events = [json.loads(line)["event"] for line in log.splitlines()]
        self.assertGreaterEqual(events.count("request started"), sent)
        self.assertGreater(events.count("request failed"), 5)

    def test_not_when_the_server_refuses_everything(self):
        server, daemon = self.started()
        for status in (400, 401, 403, 500, 200):
            server.fault('{"status":%d,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"%s %s"}}}'
                         % (status, ERROR, TOKEN), method="initialize")
            client = self.client()
            client.send(initialize("i", name=CLIENT))
            client.answer("i")
        self.assertIn("error", self.client().request("tools/list"))
        daemon.terminate()
        for secret in (TOKEN, HEADER, ERROR, CLIENT):
            self.assertNotIn(secret, daemon.stderr())

    def test_not_the_credentials_of_the_url_in_an_error(self):
        server = self.upstream()
        daemon = self.start_daemon(server.url.replace("://", "://us:pwsecret77@") + "?k=qsecret88")
        basic = base64.b64encode(b"us:pwsecret77").decode()
        for status in (401, 418, 500):
            server.fault({"status": status, "contentType": "text/plain", "body": f"Basic {basic} /mcp?k=qsecret88"},
                         method="tools/call", times=2)
            message = self.client().call("echo")["error"]["message"]
            server.clear_faults()
            self.assertIn("Basic *** /mcp?***", message)
            shown = message + json.dumps(daemon.status()) + daemon.stderr()
            for secret in ("pwsecret77", basic, "qsecret88"):
                self.assertNotIn(secret, shown)

    def test_not_what_a_local_server_of_a_config_file_prints(self):
        script = 'echo "told $1 and $SECRET" >&2; echo "no message: $SECRET"; exec cat >/dev/null'
        config = self.write("mcp.json", json.dumps({
            "inputs": [{"id": "word", "type": "promptString"}],
            "servers": {"a": {"type": "stdio", "command": "sh", "args": ["-c", script, "sh", "${input:word}"],
                              "env": {"SECRET": "geheimnis"}}}}))
        daemon = self.start_daemon(None, "--config", config, "--input", "word=losungswort")
        daemon.logged("told *** and ***")
        daemon.logged("no message: ***")
        for secret in ("losungswort", "geheimnis"):
            self.assertNotIn(secret, daemon.stderr())

    def test_not_from_a_token_file_or_a_command(self):
        server = self.upstream("--token", TOKEN)
        path = self.write("t", "old-" + TOKEN)
        for options in (["--token-file", path], ["--token-command", f"echo {TOKEN}; echo done >&2"]):
            daemon = self.start_daemon(server, "--log-level", "debug", *options, socket=options[0][2:9])
            client = self.client(daemon)
            client.call("echo", {"message": PARAM})
            os.rename(self.write("t.new", TOKEN), path)
            client.call("echo", {"message": PARAM}, 2)
            daemon.terminate()
            for secret in (TOKEN, PARAM):
                self.assertNotIn(secret, daemon.stderr())


if __name__ == "__main__":
    main()
