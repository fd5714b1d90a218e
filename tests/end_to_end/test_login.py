"""A person logs in for the daemon, in a browser (BEHAVIOUR, "Login")."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest
import urllib.parse

from authorization import LoginCase, get, signed_in
from harness import eventually, main
from harness.binaries import binary
from harness.by_name import ByName
from harness.face import Face
from harness.other_user import NOBODY, acting_as, is_root
from harness.terminal import Terminal


def port_of(address):
    return urllib.parse.urlsplit(address).port


class TheFlow(LoginCase):
    def test_a_browser_logs_in_and_the_tool_answers(self):
        self.serve()
        self.assertEqual(self.login()["state"], "none")
        data = self.refused("HTTP 401")
        self.assertEqual(data["login"], self.typed_nc + " login")
        self.assertIn("a person logs in by " + data["login"], self.default_daemon.stderr())
        self.assertEqual(self.login()["state"], "needed")
        self.assertFalse(self.default_daemon.status()["upstream"]["ready"])
        status, headers, page = self.log_in()
        self.assertTrue(self.default_daemon.status()["upstream"]["ready"])
        self.assertEqual(status, 200)
        self.assertIn("You are logged in", page)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.echoed()
        login = self.login()
        self.assertEqual(login["state"], "ok")
        self.assertGreater(login["expiresInMs"], 3000_000)

    def test_the_redirect_address_is_closed_when_the_login_is_over(self):
        self.serve()
        address = signed_in(self.begin()["url"])
        get(address)
        self.state_when("ok")

        def refused():
            try:
                socket.create_connection(("127.0.0.1", port_of(address)), timeout=5).close()
                return False
            except ConnectionRefusedError:
                return True
        eventually(refused, "the port is closed")

    def test_the_next_login_has_the_port_and_the_registration_of_the_last(self):
        self.serve()
        self.log_in()
        self.log_in()
        first, second = self.server.authorizations
        self.assertEqual(first["redirect_uri"], second["redirect_uri"])
        self.assertEqual(len(self.server.registrations), 1)

    def test_a_port_that_is_taken_means_another_one_and_a_new_registration(self):
        self.serve()
        self.log_in()
        with socket.socket() as squatter:
            port = port_of(self.server.authorizations[0]["redirect_uri"])

            def taken():
                try:
                    squatter.bind(("127.0.0.1", port))
                    return True
                except OSError:
                    return False
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            eventually(taken, "the port is free")
            squatter.listen()
            self.log_in()
        self.assertNotEqual(port_of(self.server.authorizations[1]["redirect_uri"]), port)
        self.assertEqual(len(self.server.registrations), 2)

    def test_localhost_is_both_loopbacks(self):
        self.serve("--oauth-redirect", "localhost:0")
        address = signed_in(self.begin()["url"])
        self.assertEqual(urllib.parse.urlsplit(address).hostname, "localhost")
        parts = urllib.parse.urlsplit(address)
        connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=30)
        connection.request("GET", parts.path + "?" + parts.query)
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        self.state_when("ok")

    def test_a_wait_ends_with_its_time(self):
        self.serve()
        self.begin()
        self.assertEqual(self.ask({"waitMs": 1})["result"]["state"], "pending")

    def test_a_login_is_cancelled(self):
        self.serve()
        self.begin()
        self.assertIn(self.ask({"cancel": True})["result"]["state"], ("none", "needed"))
        self.assertIn("error", self.ask({"waitMs": 1}))
        self.assertEqual(self.begin()["state"], "pending")

    def test_wrong_params_are_said(self):
        self.serve()
        for params in ({"mode": "telepathy"}, {"callback": 3}, {"waitMs": "long"}):
            self.assertEqual(self.ask(params)["error"]["code"], -32602, params)

    def test_a_client_that_is_named_is_not_registered(self):
        self.server.clients["mine"] = {"redirect_uris": ["http://127.0.0.1:0/callback"]}
        self.serve("--oauth-client-id", "mine")
        url = self.begin()["url"]
        redirect = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))["redirect_uri"]
        self.server.clients["mine"]["redirect_uris"] = [redirect]
        get(signed_in(url))
        self.state_when("ok")
        self.assertEqual(self.server.registrations, [])

    def test_a_metadata_document_is_the_client_id_where_the_server_takes_one(self):
        self.server.offer(client_id_metadata_document_supported=True)
        document = "https://client.example/metadata.json"
        self.serve("--oauth-client-metadata-url", document)
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.begin()["url"]).query))
        self.assertEqual(asked["client_id"], document)
        self.assertEqual(self.server.registrations, [])


class Scope(LoginCase):
    def scope_of(self, number):
        return set(self.server.authorizations[number]["scope"].split())

    def test_offline_access_is_asked_for_where_it_is_offered(self):
        self.server.challenge += ', scope="a"'
        self.serve(offer=False)
        self.server.offer()
        server = "/.well-known/oauth-authorization-server/as"
        self.server.documents[server]["scopes_supported"] = ["a", "offline_access"]
        self.refused()
        self.log_in()
        self.assertEqual(self.scope_of(0), {"a", "offline_access"})
        self.assertEqual(self.server.authorizations[0]["prompt"], "consent")

    def test_a_step_up_wants_a_person_and_keeps_what_was_granted(self):
        self.server.challenge += ', scope="a"'
        self.serve()
        self.refused()
        self.log_in()
        error = self.client().call("admin")["error"]
        self.assertEqual((error["data"]["status"], error["data"]["login"]), (403, self.typed_nc + " login"))
        self.assertEqual((self.login()["state"], self.login()["wanted"]), ("ok", "admin"))
        self.echoed()  # the others go on
        self.begin()
        self.assertTrue(self.login()["pending"])
        self.echoed()
        get(signed_in(self.begin()["url"]))
        eventually(lambda: "wanted" not in self.login(), "the step is made")
        self.assertEqual(self.scope_of(1), {"a", "admin"})
        self.assertIn("result", self.client().call("admin"))


class WhatIsRefused(LoginCase):
    def fails(self, *parts):
        """bridge/login fails, or what waits for it."""
        answer = self.ask()
        if "result" in answer:
            address = signed_in(answer["result"]["url"])
            get(address)
            answer = self.ask({"waitMs": 60000})
        error = answer["error"]
        for part in parts:
            self.assertIn(part, error["message"])
        return error

    def test_a_server_that_does_not_name_s256(self):
        self.server.offer(code_challenge_methods_supported=None)
        self.serve()
        self.fails("start mcp-bridged with --oauth-assume-pkce", f"then type: {self.typed_nc} login")
        self.default_daemon.stop()
        self.serve("--oauth-assume-pkce")
        self.log_in()

    def test_a_server_whose_grants_are_for_no_person(self):
        self.server.offer(grant_types_supported=["client_credentials"], device_authorization_endpoint=None)
        self.serve()
        self.fails("offers no login in a browser", "client_credentials")
        self.assertEqual(self.server.registrations, [])

    def test_an_authorization_endpoint_elsewhere_without_tls(self):
        self.server.offer(authorization_endpoint="http://elsewhere.example/authorize")
        self.serve()
        self.fails("https")

    def test_an_answer_of_another_issuer_of_which_nothing_is_shown(self):
        self.server.iss = self.server.issuer + "/"
        self.server.error = {"error": "haha", "error_description": "give me your password"}
        self.serve()
        error = self.fails("does not come from the expected server")
        self.assertNotIn("haha", repr(error))
        self.assertNotIn("password", repr(error) + self.default_daemon.stderr())
        self.assertEqual(self.server.requests, [])

    def test_a_wrong_state_is_answered_400_and_ends_nothing(self):
        self.serve()
        url = self.begin()["url"]
        self.server.state = "guessed-guessed-guessed-guessed"
        status, _, page = get(signed_in(url))
        self.assertEqual(status, 400)
        self.assertNotIn("guessed", page)
        self.assertIn("is still pending", self.ask({"callback": signed_in(url)})["error"]["message"])
        self.assertEqual(self.login()["state"], "pending")
        self.server.state = None
        get(signed_in(url))
        self.state_when("ok")

    def test_an_answer_counts_once(self):
        self.serve()
        address = signed_in(self.begin()["url"])
        get(address)
        self.state_when("ok")
        self.assertEqual(len(self.server.requests), 1)
        self.assertIn("no login is pending", self.ask({"callback": address})["error"]["message"])

    def test_a_leftover_token_is_named(self):
        self.serve(environment={"MCP_SERVER_TOKEN": "left-over-token"})
        error = self.ask()["error"]
        self.assertIn("MCP_SERVER_TOKEN", error["message"])
        self.assertNotIn("login", self.default_daemon.status()["upstream"])


class TheListener(LoginCase):
    """What else comes to the redirect address changes nothing."""

    def test_one_path_and_one_method(self):
        self.serve()
        url = self.begin()["url"]
        redirect = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))["redirect_uri"]
        for status, address in ((404, urllib.parse.urljoin(redirect, "/")), (400, redirect),
                                (400, redirect + "?code=a&code=b&state=c")):
            self.assertEqual(get(address)[0], status, address)
        connection = http.client.HTTPConnection("127.0.0.1", port_of(redirect), timeout=30)
        connection.request("POST", "/callback")
        self.assertEqual(connection.getresponse().status, 405)
        connection.close()
        self.assertEqual(get(signed_in(url))[0], 200)
        self.state_when("ok")


class TheVerb(LoginCase):
    def start_verb(self, *arguments, **how):
        verb = self.nc("login", *arguments, **how)
        eventually(lambda: b"\n" in verb.stdout(), "the address is shown")
        return verb, verb.stdout().decode().splitlines()[0]

    def test_it_shows_the_address_and_ends_with_the_login(self):
        self.serve()
        verb, url = self.start_verb()
        get(signed_in(url))
        self.assertEqual(verb.wait(), 0)
        self.assertIn("logged in", verb.stderr())
        self.echoed()

    def test_the_address_at_which_the_browser_ended_is_pasted(self):
        self.serve()
        verb, url = self.start_verb(stdin=subprocess.PIPE)
        verb.stdin.write(b"\nhttp://127.0.0.1:1/callback?code=x&state=y\n")
        verb.stdin.flush()
        eventually(lambda: "is still pending" in verb.stderr(), "the wrong one is refused")
        verb.stdin.write((signed_in(url) + "\n").encode())
        verb.stdin.flush()
        self.assertEqual(verb.wait(), 0)

    def test_an_interrupt_ends_the_waiting_not_the_login(self):
        self.serve()
        verb, url = self.start_verb()
        verb.signal(signal.SIGINT)
        self.assertEqual(verb.wait(), 130)
        self.assertRegex(verb.stderr(), r"mcp-nc( -s \S+)? login --cancel")
        self.assertEqual(self.login()["state"], "pending")
        again, same = self.start_verb()
        self.assertEqual(url, same)
        get(signed_in(url))
        self.assertEqual(again.wait(), 0)

    def test_the_status_says_how_the_login_stands(self):
        self.serve()
        self.refused()
        self.assertRegex(self.run_nc("status")[0], f"login +needed: {self.typed_nc} login")
        self.log_in()
        self.assertRegex(self.run_nc("status")[0], r"login +ok, good for ")

    def test_logout_revokes_and_forgets(self):
        self.serve()
        self.log_in()
        self.echoed()
        _, err = self.run_nc("logout")
        self.assertIn("revoked", err)
        [form] = self.server.revocations
        self.assertEqual(form["token_type_hint"], "refresh_token")
        self.refused()
        self.assertEqual(self.login()["state"], "needed")

    def test_logout_forgets_even_if_the_server_refuses(self):
        self.serve()
        self.log_in()
        self.server.revocation_status = 503
        _, err = self.run_nc("logout", code=1)
        self.assertIn("503", err)
        self.server.revoke_all()
        self.refused()

    def test_logout_where_nobody_is_logged_in(self):
        self.serve()
        _, err = self.run_nc("logout")
        self.assertIn("not logged in", err)


class AtAnUpgrade(LoginCase):
    def test_who_waits_for_a_login_is_told_that_it_is_over(self):
        daemon = self.serve()
        verb = self.nc("login")
        eventually(lambda: b"\n" in verb.stdout(), "the address is shown")
        daemon.upgrade()
        self.assertEqual(verb.wait(), 1)
        self.assertIn("log in again", verb.stderr())
        self.log_in()
        self.echoed()


class AtATerminal(LoginCase):
    def call(self):
        terminal = Terminal([binary("MCP_NC"), "-s", self.default_daemon.socket_path, "call", "echo", "message=hello-there"],
                            self.marker)
        self.addCleanup(terminal.close)
        return terminal.expect(r"Log in now\?")

    def test_the_login_is_offered_and_the_call_goes_on(self):
        self.serve()
        terminal = self.call().type("\n").expect(r"http://\S+/authorize\?\S+\s")
        url = re.search(r"http://\S+/authorize\?\S+", terminal.shown.decode()).group(0)
        get(signed_in(url))
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("hello-there", terminal.shown.decode())

    def test_who_does_not_want_to_has_the_error(self):
        self.serve()
        self.assertEqual(self.call().type("n\n").wait(), 4)
        self.assertEqual(self.server.registrations, [])


class WhoMay(LoginCase):
    """BEHAVIOUR, "Control methods: bridge/login, bridge/logout"."""

    @unittest.skipUnless(is_root(), "another user is needed")
    def test_no_other_user_of_the_socket(self):
        os.chmod(self.folder, 0o755)
        self.serve("--socket-mode", "0666")
        for method in ("bridge/login", "bridge/logout"):
            with acting_as(NOBODY):
                client = self.client()
            answer = client.request(method, {}, id=1)
            self.assertIn("only the daemon's user and root", answer["error"]["message"])
        self.assertEqual(self.server.registrations, [])
        self.assertEqual(self.login()["state"], "none")

    def test_where_no_login_is_possible_it_is_refused(self):
        self.start_daemon(self.server, environment={"MCP_SERVER_TOKEN": "a-token"})
        for method in ("bridge/login", "bridge/logout"):
            self.assert_error(self.client().request(method, {}, 1), -32600, 1)

    def test_never_over_the_http_face(self):
        face = Face.of(self.serve("--http", "127.0.0.1:0"))
        for method in ("bridge/login", "bridge/logout"):
            self.assertIn("over the socket of --socket", face.ask(method).body.decode())
        face.close()
        self.assertEqual(self.server.registrations, [])


class Refresh(LoginCase):
    """BEHAVIOUR, "Login: refresh"."""

    def logged_in(self, *options, expires_in=2):
        self.server.expires_in = expires_in
        self.serve(*options)
        self.log_in()

    def test_a_token_that_is_refused_is_refreshed_once_for_64_requests(self):
        self.logged_in(expires_in=3600)
        self.echoed()
        self.server.revoke_all()
        client = self.client()
        before = len(self.server.refreshes)
        self.server.refresh_delay = 0.5
        self.server.expires_in = 3600
        for id in range(64):
            client.send({"jsonrpc": "2.0", "id": f"c{id}", "method": "tools/call",
                         "params": {"name": "echo", "arguments": {"message": str(id)}}})
        for id in range(64):
            self.assertIn("result", client.answer(f"c{id}"))
        self.assertEqual(len(self.server.refreshes) - before, 1)
        self.assertEqual(self.server.reused, [])

    def test_a_refused_refresh_wants_a_person_and_is_not_tried_again(self):
        self.logged_in()
        self.server.refresh_status = 400
        self.server.revoke_all()
        self.refused("invalid_grant", self.typed_nc + " login")
        self.assertEqual(self.login()["state"], "needed")
        self.assertFalse(self.default_daemon.status()["upstream"]["ready"])
        for _ in range(3):
            self.refused(self.typed_nc + " login")
        self.assertEqual(len(self.server.refreshes), 1)
        self.server.refresh_status = None
        self.log_in()
        self.echoed()

    def test_any_refusal_for_good_wants_a_person(self):
        self.logged_in()
        self.server.refresh_status, self.server.refresh_error = 400, "invalid_request"
        self.server.revoke_all()
        self.refused("invalid_request", self.typed_nc + " login")
        self.assertEqual(self.login()["state"], "needed")
        out, err = self.run_nc("call", "echo", "message=x", "--json", code=4)
        login = f"mcp-nc -s {self.default_daemon.socket_path} login"
        self.assertEqual(json.loads(out)["error"]["hint"], "log in with: " + login)
        self.assertIn(login, err)
        self.assertNotIn("mcp-nc login", out + err)

    def test_a_registration_that_the_server_has_forgotten_is_made_again(self):
        self.logged_in()
        self.server.clients.clear()
        self.server.revoke_all()
        self.refused("invalid_client")
        self.log_in()
        self.echoed()
        self.assertEqual(len(self.server.registrations), 2)

    def test_a_server_that_does_not_rotate_gets_the_same_token(self):
        self.server.rotates = False
        self.logged_in()
        for _ in range(2):
            self.server.revoke_all()
            self.echoed()
        self.assertEqual(len({token for _, token in self.server.refreshes}), 1)


class Waiting(LoginCase):
    """BEHAVIOUR, "Login: state"."""

    def ask_for(self, text, client=None):
        client = client or self.client()
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                     "params": {"name": "echo", "arguments": {"message": text}}})
        return client

    def answered(self, client, text):
        answer = client.answer(1)
        self.assertIn("result", answer, answer)
        self.assertEqual(answer["result"]["content"][0]["text"], text)

    def test_for_longer_than_they_would_wait_for_a_session(self):
        self.start_daemon(self.server.offer(), "--connect-wait", "500ms", "--login-wait", "60s")
        plain, initializing = self.ask_for("later"), self.client()
        initializing.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
        time.sleep(1.5)
        self.assertEqual(self.login()["state"], "needed")
        self.log_in()
        self.answered(plain, "later")
        self.assertEqual(initializing.answer(1)["result"]["serverInfo"]["name"], "protected")

    def test_in_an_open_session_too(self):
        self.serve("--login-wait", "60s")
        self.log_in()
        self.echoed()
        self.server.refresh_status = 400
        self.server.revoke_all()
        client = self.ask_for("later")
        self.state_when("needed")
        self.assertFalse(self.default_daemon.status()["upstream"]["ready"])
        self.server.refresh_status = None
        self.log_in()
        self.answered(client, "later")

    def test_and_end_with_their_time(self):
        self.serve("--login-wait", "200ms")
        self.assertEqual(self.refused("--login-wait")["login"], self.typed_nc + " login")


class WithoutMetadata(LoginCase):
    """A server of revision 2025-03-26: it has no metadata of the resource, and its origin is the authorization server."""

    SEARCHED = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource",
                "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]

    def fails(self, *parts):
        error = self.ask()["error"]
        for part in parts:
            self.assertIn(part, error["message"])

    def test_the_default_endpoints_register_authorize_and_issue(self):
        self.server.be_of_2025_03_26()
        self.serve(offer=False)
        self.refused("HTTP 401")
        self.log_in()  # the server checks the challenge and its S256
        self.echoed()
        self.assertEqual(self.server.fetched, self.SEARCHED * 2)  # at the first 401, and for the login
        self.assertEqual([len(self.server.registrations), len(self.server.authorizations)], [1, 1])

    def test_one_that_registers_nobody_there_is_told_with_what_was_tried(self):
        self.server.challenge = "Bearer"  # its endpoints are elsewhere
        self.serve(offer=False)
        self.fails("offers no login", "no OAuth metadata", "--token-file")

    def test_one_that_wants_a_key_is_not_said_to_want_a_login(self):
        self.server.challenge = "Bearer"
        self.serve(offer=False)
        for _ in range(2):
            data = self.refused("HTTP 401", "--token-file, --token-command, --header or MCP_SERVER_TOKEN")
            self.assertNotIn("login", data)
            self.assertEqual(data["status"], 401)
        self.assertEqual(self.server.fetched, self.SEARCHED)
        self.assertEqual(self.login()["state"], "none")
        out, err = self.run_nc("call", "echo", "message=x", "--json", code=4)
        self.assertIn("--token-file", json.loads(out)["error"]["hint"])
        self.assertNotIn("login", err)
        out, err = self.run_nc("login", "--json", code=1)
        self.assertNotIn("log in with", out + err)

    def test_one_that_wants_no_login_is_not_taken_for_one(self):
        upstream = self.upstream()
        self.start_daemon(upstream)
        self.fails("cannot find the authorization server", "HTTP 404")


class SaidWhereItIsRead(ByName, LoginCase):
    """What to do about a login that cannot be: a command for the one who reads it."""

    def test_a_missing_option_or_token_is_told_as_it_can_be_given_there(self):
        def key():
            self.server.documents.clear()
            self.server.challenge = "Bearer"

        id_in = "--oauth-client-id ID login"
        cases = [
            ("a", lambda: self.server.offer(registration_endpoint=None), "login", "register one there", id_in),
            ("b", lambda: self.server.offer(code_challenge_methods_supported=None), "login", "PKCE",
             "--oauth-assume-pkce login"),
            ("c", key, "tools", "HTTP 401", "--token-file FILE, "),
        ]
        for name, prepare, verb, why, what in cases:
            prepare()
            self.own({name: {"url": self.server.url}})
            for where, more in ((f"@{name}", "or headers in the file that names it"),
                                (f"--url {self.server.url}", "--header 'NAME: VALUE' or MCP_SERVER_TOKEN")):
                with self.subTest(f"{name} {where}"):
                    out, err = self.named(*where.split(), verb, "--json", code=None, stdin="")
                    for said in (err, json.loads(out)["error"]["message"]):
                        self.assertIn(why, said)
                        self.assertIn(f"mcp-nc {where} {what}", said)
                        self.assertEqual(more in said, name == "c", said)
                        self.assertNotIn("start mcp-bridged", said)
                        self.assertNotIn("--token-command", said)
                    self.named(*where.split(), "stop")
            self.start_daemon(self.server, socket=f"s{name}")
            err = self.run_nc(verb, code=None, stdin="")[1]
            self.assertIn("start mcp-bridged with --", err)
            if name != "c":
                self.assertIn(f"then type: {self.typed_nc} login", err)


class WhatIsKnownBefore(LoginCase):
    """The first thing that somebody does is to log in."""

    def test_the_scope_of_the_challenge_is_known_without_a_call(self):
        self.server.challenge += ', scope="a b"'
        self.serve()
        self.log_in()
        self.assertEqual(set(self.server.authorizations[0]["scope"].split()), {"a", "b"})

    def test_where_the_operator_wants_a_login_it_is_needed_from_the_start(self):
        self.serve("--oauth-grant", "authorization_code", "--http", "127.0.0.1:0")
        self.assertEqual(self.login()["state"], "needed")
        self.assertFalse(self.default_daemon.status()["upstream"]["ready"])
        self.assertEqual(self.default_daemon.metrics().sum("mcp_bridge_login_state", state="needed"), 1)
        data = self.refused("a person has to log in")
        self.assertNotIn("status", data)  # the server was not asked
        self.log_in()
        self.assertTrue(self.default_daemon.status()["upstream"]["ready"])
        self.echoed()


if __name__ == "__main__":
    main()
