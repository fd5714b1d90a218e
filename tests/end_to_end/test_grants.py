"""Grants: a credential for one step (BEHAVIOUR, "Grants"). Root runs the daemon, three other users issue, use and pass on."""

import itertools
import json
import os
import resource
import signal
import socket
import threading
import unittest

from harness import main
from harness.binaries import binary
from harness.era_clients import LegacyOnFace, LegacyOnSocket, ModernOnFace, ModernOnSocket
from harness.eras import Eras
from harness.face import Face
from harness.modern_tools import RIGHT
from harness.other_user import NOBODY, acting_as, is_root
from harness.socket_client import Client
from harness.waiting import eventually

ISSUER, STEP, THIRD = NOBODY, NOBODY - 1, NOBODY - 2
TOKEN = "the-token-of-the-port"
NOTHING = {"tools": [], "prompts": [], "resources": [], "methods": []}


def denied(test, error, why=""):
    test.assertEqual(error["code"], -32000, error)
    test.assertEqual((error["data"]["kind"], error["data"]["delivered"]), ("denied", "no"), error)
    test.assertIn(why, error["message"])


@unittest.skipUnless(is_root(), "other users are needed")
class Grants(Eras):
    def setUp(self):
        super().setUp()
        self.strings = []

    def policy(self, *rules):
        return self.write("policy.json", json.dumps({"rules": rules}))

    def reload(self, *rules):
        self.policy(*rules)
        self.reloads = getattr(self, "reloads", 0) + 1
        self.default_daemon.signal(signal.SIGHUP)
        self.default_daemon.logged("read again", self.reloads)

    def served(self, *rules, mode="modern", options=(), face=True, server=None, **how):
        """A server, and a daemon that other users may reach."""
        os.chmod(self.folder, 0o755)
        options = ["--socket-mode", "0666", *options]
        if rules:
            options += ["--policy", self.policy(*rules)]
        if face:
            options += ["--http-token-file", self.write("token", TOKEN)]
        if server is None:
            return self.bridged(mode, *options, face=face, **how)
        return server, self.before(server, *options, face=face, **how)

    def plain(self, uid):
        with acting_as(uid):
            return self.client()

    def issued(self, by, **params):
        """The result of bridge/grant; `by`: a uid, or a client."""
        client = self.plain(by) if isinstance(by, int) else by
        result = client.request("bridge/grant", params)["result"]
        self.strings.append(result["grant"])
        return result

    def user(self, uid, grant, era="legacy"):
        """A client of the socket that has this grant."""
        path = self.default_daemon.socket_path
        with acting_as(uid):
            one = (LegacyOnSocket if era == "legacy" else ModernOnSocket)(path)
        self.clients.append(one)
        used = Client.request(one.client, "bridge/use", {"grant": grant}, "use")
        self.assertIn("result", used, used)
        one.open()
        return one

    def caller(self, grant, era="legacy"):
        """A caller of the HTTP port that has this grant, and no token."""
        face = Face.of(self.default_daemon, token=grant)
        self.faces.append(face)
        one = (LegacyOnFace if era == "legacy" else ModernOnFace)(face)
        one.open()
        return one

    def names(self, server):
        return [one.params["name"] for one in server.received("tools/call")]


class WhatItAllows(Grants):
    RULES = ({"uid": "root"}, {"uid": ISSUER, "tools": ["e*", "hold"]}, {"uid": STEP, "grant": False, **NOTHING})

    def test_only_what_both_the_issuer_and_the_grant_allow_reaches_the_server(self):
        for mode, era, way in itertools.product(("modern", "legacy"), ("legacy", "modern"), ("socket", "port")):
            with self.subTest(server=mode, client=era, way=way):
                server, _ = self.served(*self.RULES, mode=mode)
                grant = self.issued(ISSUER, tools=["*", "!hold"])["grant"]
                one = self.user(STEP, grant, era) if way == "socket" else self.caller(grant, era)
                self.assertEqual(one.call("echo", {"message": "x"})[0], "x")
                denied(self, one.call("hold", {"key": "k"})[0], "with this grant")
                denied(self, one.call("fail")[0], "with this grant")
                self.assertEqual(one.tools(), [name for name in RIGHT if name.startswith("e")])
                self.assertEqual(self.names(server), ["echo"])
                self.reload({"uid": "root"}, {"uid": ISSUER, "tools": ["hold"]})
                denied(self, one.call("echo", {"message": "x"})[0])
                self.reload({"uid": "root"})
                denied(self, one.call("echo", {"message": "x"})[0])
                self.assertEqual(self.names(server), ["echo"])
                self.reloads = 0
                self.default_daemon.stop()

    def test_a_user_that_may_do_nothing_without_one(self):
        self.served(*self.RULES)
        client = self.plain(STEP)
        denied(self, client.call("echo", {"message": "x"})["error"])
        denied(self, self.plain(THIRD).request("bridge/grant", {})["error"])
        grant = self.issued(ISSUER)["grant"]
        self.assertEqual(sorted(client.request("bridge/use", {"grant": grant})["result"]), ["expires", "id", "name"])
        self.assertIn("result", client.call("echo", {"message": "x"}))

    def test_a_child_has_the_rights_of_all_on_the_way(self):
        server, _ = self.served(*self.RULES, {"uid": STEP, "tools": ["echo", "hold", "fail"]})
        parent = self.issued(ISSUER, tools=["e*", "hold"], calls=3, ttlMs=50000)
        step = self.user(STEP, parent["grant"])
        child = self.issued(step.client, tools=["echo", "fail"], ttlMs=9000000, calls=9)
        self.assertLessEqual(child["expires"], parent["expires"])
        third = self.user(THIRD, child["grant"])
        self.assertEqual(third.call("echo", {"message": "x"})[0], "x")
        denied(self, third.call("hold", {"key": "k"})[0])
        denied(self, third.call("fail")[0])
        # Of the parent, its issuer sees both; its holder only what it has issued itself.
        listed = {one["id"]: one for one in self.plain(ISSUER).request("bridge/grants")["result"]["grants"]}
        self.assertEqual(set(listed), {parent["id"], child["id"]})
        self.assertEqual((listed[parent["id"]]["callsLeft"], listed[child["id"]]["callsLeft"]), (2, 2))
        self.assertEqual(listed[child["id"]]["parent"], parent["id"])
        self.assertNotIn("mcpg_", json.dumps(listed))
        mine = step.ask_for("bridge/grants")["result"]["grants"]
        self.assertEqual([one["id"] for one in mine], [child["id"]])
        self.assertEqual(third.ask_for("bridge/grants")["result"]["grants"], [])
        # A holder cannot end its own, nor another's.
        for client, id in ((third, child["id"]), (third, parent["id"]), (step, parent["id"])):
            self.assertEqual(client.ask_for("bridge/revoke", {"id": id})["error"]["code"], -32602)
        self.assertEqual(self.plain(ISSUER).request("bridge/revoke", {"id": parent["id"]})["result"], {"revoked": 2})
        denied(self, third.call("echo", {"message": "x"})[0], "was revoked")
        self.assertEqual(self.names(server), ["echo"])

    def test_a_childs_issuer_is_judged_as_a_peer_with_a_grant(self):
        passes_on = {"uid": STEP, "grant": True, "tools": ["hold", "echo"]}
        for era, way in itertools.product(("legacy", "modern"), ("socket", "port")):
            with self.subTest(client=era, way=way):
                server, _ = self.served(*self.RULES, passes_on)
                step = self.user(STEP, self.issued(ISSUER)["grant"])
                child = self.issued(step.client, tools=["e*", "fail"])["grant"]
                one = self.user(THIRD, child, era) if way == "socket" else self.caller(child, era)
                self.assertEqual(one.call("echo", {"message": "x"})[0], "x")
                self.assertEqual(one.tools(), ["echo"])
                # What the issuer passes on is not what it may do itself.
                denied(self, one.call("fail")[0])
                self.reload(*self.RULES, {**passes_on, "tools": []})
                denied(self, one.call("echo", {"message": "x"})[0], "with this grant")
                self.assertEqual(step.call("echo", {"message": "x"})[0], "x")
                self.reload(*self.RULES)
                denied(self, one.call("echo", {"message": "x"})[0], "no rule matches one of its issuers")
                self.assertEqual(self.names(server), ["echo", "echo"])
                self.reloads = 0
                self.default_daemon.stop()

    def test_it_opens_nothing_of_the_daemons_user(self):
        self.served({"uid": "root"})
        own = self.client()
        grant = self.issued(own)["grant"]
        holder = self.user(0, grant)
        for method in ("bridge/monitor", "bridge/login", "bridge/logout"):
            self.assertEqual(holder.ask_for(method)["error"]["code"], -32600)
        self.assertEqual(holder.ask_for("bridge/tool", {"as": {"uid": 1, "gid": 1, "groups": []}})["error"]["code"], -32602)
        self.assertNotIn("file", holder.ask_for("bridge/status")["result"]["policy"])
        job = own.request("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}})
        job = job["result"]["job"]
        self.assertEqual(holder.ask_for("bridge/jobs")["result"]["jobs"], [])
        self.assertEqual(holder.ask_for("bridge/collect", {"job": job})["error"]["data"]["kind"], "job")

    def test_a_second_one_only_from_the_first(self):
        self.served({"uid": ISSUER}, {"uid": "root"}, {"uid": STEP})
        first, other = self.issued(ISSUER), self.issued(ISSUER)
        client = self.user(STEP, first["grant"])
        denied(self, client.ask_for("bridge/use", {"grant": other["grant"]})["error"], "has a grant already")
        child = self.issued(client.client, tools=["echo"])
        self.assertEqual(client.ask_for("bridge/use", {"grant": child["grant"]})["result"]["id"], child["id"])
        denied(self, client.ask_for("bridge/use", {"grant": first["grant"]})["error"], "has a grant already")
        denied(self, client.call("fail")[0])

    def test_one_that_is_refused_leaves_nothing(self):
        server, _ = self.served({"uid": STEP}, {"uid": ISSUER}, {"uid": "root"})
        client = self.plain(STEP)
        # Sent together, as by a client that does not wait.
        client.send({"jsonrpc": "2.0", "id": 1, "method": "bridge/use", "params": {"grant": "mcpg_" + "A" * 90}},
                    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}})
        denied(self, client.answer(1)["error"], "not valid here")
        denied(self, client.answer(2)["error"], "not valid here")
        self.assertEqual(self.names(server), [])
        face = Face.of(self.default_daemon, token="mcpg_" + "A" * 90)
        self.faces.append(face)
        refused = face.ask("tools/list")
        self.assertEqual(refused.status, 401)
        denied(self, refused.json()["error"], "not valid here")


class Http(Grants):
    def test_a_session_belongs_to_its_grant(self):
        self.served({"uid": ISSUER}, {"http": True}, {"uid": "root"})
        one, other = self.issued(ISSUER)["grant"], self.issued(ISSUER)["grant"]
        session = self.caller(one).session
        for token, status in ((one, 200), (other, 404), (TOKEN, 404), ("wrong", 401)):
            face = Face.of(self.default_daemon, token=token)
            self.faces.append(face)
            self.assertEqual(face.ask("tools/list", {}, 7, session).status, status, token[:5])

    def test_a_caller_with_the_token_or_a_grant_may_issue_and_no_other(self):
        self.served({"http": True, "tools": ["echo"]}, {"uid": "root"})
        face = self.new_face(token=TOKEN)
        first = face.ask("bridge/grant", {}).json()["result"]
        below = Face.of(self.default_daemon, token=first["grant"])
        self.faces.append(below)
        child = below.ask("bridge/grant", {"tools": ["*"]}).json()["result"]["grant"]
        self.strings += [first["grant"], child]
        holder = self.user(STEP, child)
        self.assertEqual(holder.tools(), ["echo"])
        self.assertEqual(below.get("/mcp/stream", accept="text/event-stream").status, 403)
        self.assertEqual(self.client().request("bridge/grants")["result"]["grants"][0]["issuer"], "http")

    def test_no_token_no_grant(self):
        self.served(face=False, options=("--http", "127.0.0.1:0"))
        answer = self.new_face().ask("bridge/grant", {}).json()
        self.assertIn("--http-token-file", answer["error"]["message"])
        grant = self.issued(self.client())
        self.assertIn("--http-token-file", self.new_face().ask("bridge/grants", {}).json()["error"]["message"])
        answer = self.new_face().ask("bridge/revoke", {"id": grant["id"]}).json()
        self.assertIn("--http-token-file", answer["error"]["message"])
        self.assertEqual(len(self.client().request("bridge/grants")["result"]["grants"]), 1)

    def test_reports_are_for_those_whom_the_rule_of_the_issuer_allows_something(self):
        self.served({"uid": ISSUER}, {"uid": "root"})
        looker = self.client()
        looker.request("bridge/status")
        grant = self.issued(ISSUER)["grant"]
        below, plain = Face.of(self.default_daemon, token=grant), Face.of(self.default_daemon, token=TOKEN)
        self.faces += [below, plain]
        self.assertEqual([face.get("/metrics").status for face in (below, plain)], [200, 403])
        self.assertTrue(below.get("/status").json()["clients"])
        self.assertEqual(plain.get("/status").json()["clients"], [])
        self.reload({"uid": "root"}, {"http": True})
        self.assertEqual([face.get("/metrics").status for face in (below, plain)], [403, 200])
        self.assertEqual(below.get("/status").json()["clients"], [])

    def test_sessions_and_streams_of_an_ended_grant_end(self):
        for how in ("revoked", "expired"):
            with self.subTest(how):
                server, _ = self.served({"uid": ISSUER}, {"uid": "root"}, options=("--http-max-sessions", "3"))
                grant = self.issued(ISSUER, ttlMs=6000 if how == "expired" else 600000)
                with_stream, calling = self.caller(grant["grant"]), self.caller(grant["grant"])
                stream = with_stream.face.stream(with_stream.session)
                listening = self.caller(grant["grant"], "modern").client.listen(toolsListChanged=True)
                kept = self.user(STEP, grant["grant"], "modern").client.listen(toolsListChanged=True)
                calling.begin("hold", {"key": "k"})
                server.wait_held("k")
                if how == "revoked":
                    self.plain(ISSUER).request("bridge/revoke", {"id": grant["id"]})
                self.assertEqual(stream.rest(), [])
                for listen in (listening, kept):
                    listen.client.until(lambda: listen.ended, listen)
                    self.assertEqual(listen.ended, "graceful")
                # Its own call is carried out; then this one ends, too.
                sessions = lambda: [one for one in self.default_daemon.status()["clients"] if one.get("grant") == grant["id"] and one["kind"] == "http"]
                eventually(lambda: len(sessions()) == 1, "only the session whose call is in flight")
                server.release("k")
                self.assertIn(b'"result"', calling.connection.recv(1 << 16))
                eventually(lambda: not sessions(), "no session of the grant")
                for _ in range(3):
                    self.new_face(token=TOKEN).session()
                ended = with_stream.face.request("DELETE", "/mcp", session=with_stream.session)
                self.assertEqual(ended.status, 401)
                denied(self, ended.json()["error"], how)
                self.default_daemon.stop()

    def test_a_daemon_with_a_grant_wakes_up_for_nothing(self):
        self.served({"uid": ISSUER}, {"uid": "root"})
        step = self.user(STEP, self.issued(ISSUER)["grant"])
        self.assertTrue(step.tools())

        def is_asleep():
            before = self.default_daemon.status_field("voluntary_ctxt_switches")
            self.run_tool(["sleep", "1"])
            return self.default_daemon.status_field("voluntary_ctxt_switches") == before

        eventually(is_asleep, "a second without a wake-up")

    def test_an_http_socket_knows_its_callers(self):
        self.served({"uid": ISSUER, "tools": ["echo"]}, {"uid": "root"}, face=False, options=("--http", self.path("h")))
        eventually(lambda: os.path.exists(self.path("h")), "the socket of the HTTP frontend")
        os.chmod(self.path("h"), 0o666)
        grant = self.issued(ISSUER)["grant"]
        out, _ = self.run_tool(["curl", "-sS", "--unix-socket", self.path("h"), "http://localhost/mcp", "-H",
                                "Content-Type: application/json", "-H", "Accept: application/json", "-H",
                                f"Authorization: Bearer {grant}", "-d",
                                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}'])
        denied(self, json.loads(out)["error"], "with this grant")


class Ends(Grants):
    def test_expired_and_revoked_while_something_waits(self):
        for how in ("expired", "revoked"):
            with self.subTest(how):
                server, _ = self.served({"uid": ISSUER}, {"uid": "root"})
                grant = self.issued(ISSUER, ttlMs=8000 if how == "expired" else 600000)
                one = self.user(STEP, grant["grant"])
                held = one.begin("hold", {"key": "k"})
                server.wait_held("k")
                job = one.ask_for("bridge/submit", {"method": "tools/call", "params": {"name": "hold", "arguments": {"key": "j"}}})
                server.wait_held("j")
                one.client.send({"jsonrpc": "2.0", "id": "c", "method": "bridge/collect",
                                 "params": {"job": job["result"]["job"], "waitMs": 60000}},
                                {"jsonrpc": "2.0", "id": "n", "method": "bridge/notifications", "params": {"waitMs": 60000}})
                if how == "revoked":
                    self.plain(ISSUER).request("bridge/revoke", {"id": grant["id"]})
                for id in ("c", "n"):
                    denied(self, one.client.answer(id)["error"], how)
                denied(self, one.call("echo", {"message": "x"})[0], how)
                server.release("k")
                self.assertIn("result", one.client.answer(held))
                refused = self.plain(THIRD).request("bridge/use", {"grant": grant["grant"]})
                denied(self, refused["error"], how)
                face = Face.of(self.default_daemon, token=grant["grant"])
                self.faces.append(face)
                self.assertEqual(face.ask("tools/list").status, 401)
                server.release("j")
                self.default_daemon.stop()

    def test_a_job_that_starts_later_is_judged_then(self):
        for how in ("rule", "revoked"):
            with self.subTest(how):
                server, _ = self.served({"uid": ISSUER}, {"uid": "root"}, options=("--max-inflight", "1"))
                grant = self.issued(ISSUER, calls=1)
                own = self.client()
                own.send({"jsonrpc": "2.0", "id": "h", "method": "tools/call",
                          "params": {"name": "hold", "arguments": {"key": "k"}}})
                server.wait_held("k")
                one = self.user(STEP, grant["grant"])
                submit = {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}}
                job = one.ask_for("bridge/submit", submit)["result"]["job"]
                denied(self, one.ask_for("bridge/submit", submit)["error"], "used up")
                if how == "rule":
                    self.reload({"uid": ISSUER, "tools": ["fail"]}, {"uid": "root"})
                    self.reloads = 0
                else:
                    self.plain(ISSUER).request("bridge/revoke", {"id": grant["id"]})
                server.release("k")
                done = self.plain(ISSUER).request("bridge/collect", {"job": job, "waitMs": 20000})["result"]
                denied(self, done["response"]["error"])
                self.assertEqual(self.names(server), ["hold"])
                self.default_daemon.stop()

    def test_a_job_whose_call_was_the_last_one_runs(self):
        self.served({"uid": ISSUER}, {"uid": "root"})
        grant = self.issued(ISSUER, calls=1)
        one = self.user(STEP, grant["grant"])
        job = one.ask_for("bridge/submit", {"method": "tools/call", "key": "k",
                                            "params": {"name": "echo", "arguments": {"message": "x"}}})["result"]["job"]
        done = one.ask_for("bridge/collect", {"job": job, "waitMs": 20000})["result"]
        self.assertEqual(done["state"], "completed")
        listed = self.plain(ISSUER).request("bridge/jobs")["result"]["jobs"]
        self.assertEqual([(entry["grant"], entry["key"]) for entry in listed], [(grant["id"], "k")])
        self.assertEqual(self.plain(STEP).request("bridge/jobs")["error"]["data"]["kind"], "denied")


class Rounds(Grants):
    def test_a_call_in_rounds_is_counted_once(self):
        for mode, era, way in itertools.product(("modern", "legacy"), ("modern", "legacy"), ("socket", "port")):
            with self.subTest(server=mode, client=era, way=way):
                _, daemon = self.served({"uid": ISSUER}, {"uid": "root"}, mode=mode)
                grant = self.issued(ISSUER, calls=3)["grant"]
                one = self.user(STEP, grant, era) if way == "socket" else self.caller(grant, era)
                left = lambda: self.client().request("bridge/grants")["result"]["grants"][0]["callsLeft"]
                for rounds in (1, 3):
                    response, _ = one.ask(["elicitation"], rounds)
                    self.assertNotIn("error", response)
                self.assertEqual(left(), 1)
                # What only looks like a further round is counted.
                if era == "modern" and mode == "modern":
                    for _ in range(2):
                        one.ask_for("tools/call", {"name": "echo", "arguments": {"message": "x"}, "inputResponses": {}})
                    self.assertEqual(left(), 0)
                self.default_daemon.stop()


class Counts(Grants):
    def test_exact_under_many_clients_and_across_an_upgrade(self):
        server, daemon = self.served({"uid": ISSUER}, {"uid": "root"}, options=("--max-clients", "100"))
        grant = self.issued(ISSUER, calls=100)
        clients = [self.user(STEP, grant["grant"]) for _ in range(32)]
        results = []

        def work(one):
            for _ in range(6):
                response = one.client.call("echo", {"message": "x"}, next(one.ids))
                results.append("result" in response)

        threads = [threading.Thread(target=work, args=(one,)) for one in clients]
        for thread in threads:
            thread.start()
        eventually(lambda: len(results) > 40, "some calls")
        daemon.signal(signal.SIGUSR2)
        for thread in threads:
            thread.join()
        daemon.logged("continues serving")
        self.assertEqual(len(results), 192)
        self.assertEqual(sum(results), 100)
        self.assertEqual(len(server.received("tools/call")), 100)
        left = self.client().request("bridge/grants")["result"]["grants"][0]["callsLeft"]
        self.assertEqual(left, 0)

    def test_exact_under_many_callers_of_the_port(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                server, daemon = self.served({"uid": ISSUER}, {"uid": "root"}, options=("--max-clients", "100"))
                grant = self.issued(ISSUER, calls=100)
                callers = [self.caller(grant["grant"], era) for _ in range(32)]
                results = []

                def work(one):
                    for _ in range(6):
                        results.append(one.call("echo", {"message": "x"})[0])

                threads = [threading.Thread(target=work, args=(one,)) for one in callers]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual((len(results), results.count("x")), (192, 100))
                for other in results:
                    if other != "x":
                        denied(self, other, "used up")
                self.assertEqual(len(server.received("tools/call")), 100)
                self.default_daemon.stop()

    def test_an_upgrade_keeps_grants_counts_and_revocations(self):
        server, daemon = self.served({"uid": ISSUER}, {"uid": "root"})
        grant, gone = self.issued(ISSUER, calls=2, tools=["echo"]), self.issued(ISSUER)
        one, other = self.user(STEP, grant["grant"]), self.user(STEP, gone["grant"])
        caller = self.caller(grant["grant"])
        child = self.issued(one.client)
        self.assertEqual(one.call("echo", {"message": "x"})[0], "x")
        self.plain(ISSUER).request("bridge/revoke", {"id": gone["id"]})
        daemon.upgrade()
        denied(self, other.call("echo", {"message": "x"})[0], "was revoked")
        denied(self, one.call("fail")[0])
        self.assertEqual(caller.call("echo", {"message": "x"})[0], "x")
        denied(self, one.call("echo", {"message": "x"})[0], "used up")
        third = self.plain(THIRD)
        denied(self, third.request("bridge/use", {"grant": child["grant"]})["error"], "used up")
        self.assertEqual(self.names(server), ["echo", "echo"])

    def test_a_state_keeps_them_through_a_kill(self):
        options = ("--state-dir", self.path("state"))
        rules = ({"uid": ISSUER}, {"uid": "root"}, {"uid": STEP, "grant": True})
        server, daemon = self.served(*rules, options=options)
        grant, gone = self.issued(ISSUER, calls=3), self.issued(ISSUER)
        one = self.user(STEP, grant["grant"])
        child = self.issued(one.client)
        for _ in range(2):
            self.assertEqual(one.call("echo", {"message": "x"})[0], "x")
        self.plain(ISSUER).request("bridge/revoke", {"id": gone["id"]})
        daemon.crash()
        self.assertEqual(os.stat(self.path("state/grants.key")).st_mode & 0o777, 0o600)
        self.served(*rules, options=options, server=server)
        third = self.user(THIRD, child["grant"])
        self.assertEqual(third.call("echo", {"message": "x"})[0], "x")
        denied(self, third.call("echo", {"message": "x"})[0], "used up")
        denied(self, self.plain(STEP).request("bridge/use", {"grant": gone["grant"]})["error"], "was revoked")
        self.default_daemon.stop()
        os.unlink(self.path("state/grants.key"))
        self.served(*rules, options=options, server=server)
        denied(self, self.plain(STEP).request("bridge/use", {"grant": grant["grant"]})["error"], "not valid here")

    def test_a_key_that_others_can_read_ends_the_start(self):
        options = ("--state-dir", self.path("state"))
        self.served(face=False, options=options)
        self.default_daemon.stop()
        with open(self.path("state/grants.key"), "wb") as file:
            file.write(b"short")
        self.served(face=False, options=options)
        self.default_daemon.logged("has not 32 bytes and is replaced")
        self.default_daemon.stop()
        self.assertEqual(os.stat(self.path("state/grants.key")).st_size, 32)
        os.chmod(self.path("state/grants.key"), 0o640)
        daemon = self.start_daemon("http://127.0.0.1:9/mcp", *options, socket="x", ready=False)
        self.assertIn("grants.key can be read by other users", daemon.fails(73))


class Nowhere(Grants):
    def test_the_string_is_in_nothing_that_is_written_or_shown(self):
        audit = self.path("audit.log")
        _, daemon = self.served({"uid": ISSUER}, {"uid": "root"}, options=(
            "--state-dir", self.path("state"), "--audit", audit, "--audit-arguments", "--log-bodies", "--log-level", "debug",
            "--metrics-file", self.path("metrics.prom")))
        monitor = self.client()
        monitor.request("bridge/monitor")
        grant = self.issued(ISSUER, name="step", tools=["echo"])
        spellings = [grant["grant"][-60:]]
        one = self.user(STEP, grant["grant"])
        one.call("echo", {"message": grant["grant"]})
        one.call("fail", {"message": grant["grant"]})
        one.ask_for("bridge/tool", {"name": grant["grant"]})
        one.ask_for("no/" + grant["grant"])
        # As others may spell it, in JSON and in a URI.
        for spelled in ("".join(f"\\u{ord(c):04x}" for c in grant["grant"]), "mcpg\\u005f" + grant["grant"][5:],
                        grant["grant"].replace("c", "%63").replace("_", "%5f")):
            frame = '{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"echo","arguments":{"message":"%s"}}}'
            one.client.socket.sendall((frame % spelled).encode() + b"\n")
            one.client.answer("s")
            spellings += [spelled[-60:], spelled.replace("\\", "\\\\")[-60:]]
        one.ask_for("bridge/use", {"grant": grant["grant"], "other": grant["grant"]})
        self.caller(grant["grant"]).call("echo", {"message": grant["grant"]})
        shown = [json.dumps(self.client().request(method)) for method in ("bridge/status", "bridge/metrics", "bridge/grants")]
        monitor.request("ping", {}, "fence")
        shown += [json.dumps(message) for message in monitor.others]
        self.assertTrue(any("tools/call" in text for text in shown))
        for name in ("environ", "cmdline", "maps", "smaps", "status", "stat", "comm", "mountinfo", "limits", "stack", "net/unix"):
            with open(f"/proc/{daemon.pid}/{name}", encoding="utf-8", errors="replace") as file:
                shown.append(file.read())
        daemon.stop()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as file:
                        shown.append(file.read().decode(errors="replace"))
        for text in shown:
            for part in spellings:
                self.assertNotIn(part, text)
        with open(audit, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        with_it = [line for line in lines if "grant" in line]
        self.assertEqual({json.dumps(line["grant"], sort_keys=True) for line in with_it},
                         {json.dumps({"id": grant["id"], "name": "step", "issuer": ISSUER}, sort_keys=True)})
        self.assertIn("tools/call", {line["method"] for line in with_it})


    def test_a_daemon_that_crashes_leaves_no_core_with_it(self):
        """Nor can other processes of its user read its memory."""
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
            pattern = file.read().strip()
        _, daemon = self.served({"uid": ISSUER}, {"uid": "root"})
        one = self.user(STEP, self.issued(ISSUER)["grant"])
        self.assertEqual(one.call("echo", {"message": "x"})[0], "x")
        folder = os.readlink(f"/proc/{daemon.pid}/cwd") if "/" not in pattern else os.path.dirname(pattern)
        before = set(os.listdir(folder)) if not pattern.startswith("|") else set()
        resource.prlimit(daemon.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        daemon.exit_codes = (-signal.SIGABRT,)
        daemon.signal(signal.SIGABRT)
        status = daemon.wait()
        self.assertEqual(status, -signal.SIGABRT)
        if not pattern.startswith("|"):
            self.assertEqual([name for name in set(os.listdir(folder)) - before if name.startswith("core")], [])


class Many(Grants):
    def test_a_list_has_pages_and_mcp_nc_reads_all(self):
        self.served()
        wide = ["g" * 250 + str(i) for i in range(28)]
        client = self.client()
        ids = [self.issued(client, tools=wide, name=f"n{i}")["id"] for i in range(200)]
        page, seen = client.request("bridge/grants")["result"], []
        self.assertTrue(page["more"])
        while True:
            self.assertLess(len(json.dumps(page)), 1100000)
            seen += [one["id"] for one in page["grants"]]
            if "cursor" not in page:
                break
            page = client.request("bridge/grants", {"cursor": page["cursor"]})["result"]
        self.assertEqual((len(seen), set(seen)), (200, set(ids)))
        self.assertEqual(client.request("bridge/grants", {"cursor": "x"})["error"]["code"], -32602)
        self.assertEqual({line.split()[0] for line in self.run_nc("grants")[0].splitlines()}, set(ids))
        self.assertEqual(len(json.loads(self.run_nc("grants", "--json")[0])["grants"]), 200)

    def test_an_issuer_with_too_many_groups_is_told_so(self):
        self.served(face=False)
        groups = os.getgroups()
        os.setgroups(range(1000000000, 1000000800))
        try:
            err = self.run_nc("grant", code=4)[1]
        finally:
            os.setgroups(groups)
        self.assertIn("this user has 800 supplementary ones", err)


class Commands(Grants):
    def test_what_holds_is_explained(self):
        rules = ({"uid": "root"}, {"uid": STEP, "grant": False, **NOTHING}, {"uid": STEP, "grant": True, "tools": ["e*"]})
        self.served(*rules)
        out, _ = self.run_tool([binary("MCP_BRIDGED"), "--check", "--policy", self.path("policy.json"), "--url", "http://127.0.0.1:9/mcp"])
        lines = out.splitlines()
        self.assertEqual(lines[0], "all options are valid")
        self.assertIn("may do what the rule of the grant's first issuer allows", lines[1])
        self.assertIn(f"rule 2 (line 1): peers of uid {STEP} without a grant: may do nothing", lines[3])
        self.assertIn(f"rule 3 (line 1): peers of uid {STEP} with a grant: limits what they pass on", lines[4])
        parent = self.issued(self.client(), name="first", tools=["echo", "e*"], calls=5)
        child = self.issued(self.user(STEP, parent["grant"]).client, name="second", prompts=[], resources=["x://*"], methods=["m/*"])
        used = {"MCP_NC_GRANT": child["grant"]}
        text = self.run_nc("whoami", environment=used)[0]
        self.assertIn(f"grant   {child['id']} (second), issued by uid {STEP}, until {child['expires']}, calls left: 5\n", text)
        self.assertIn(f"{parent['id']}: what uid 0 may do; tools [\"echo\",\"e*\"]\n", text)
        self.assertIn(f"{child['id']}: what uid {STEP} may do; prompts []; resources [\"x://*\"]; methods [\"m/*\"]\n", text)
        shown = json.loads(self.run_nc("whoami", "--json", environment=used)[0])["grant"]
        self.assertEqual([one["id"] for one in shown["path"]], [parent["id"], child["id"]])
        self.assertNotIn("mcpg_", text + json.dumps(shown))

    def test_issue_use_list_and_revoke(self):
        self.served()
        string, err = self.run_nc("grant", "--tools", "echo", "--calls", "2", "--for", "1m", "--name", "step")
        self.assertEqual((string.count("\n"), err), (1, ""))
        string = string.strip()
        self.assertTrue(string.startswith("mcpg_"))
        used = {"MCP_NC_GRANT": string}
        self.assertEqual(self.run_nc("tools", "--names", environment=used)[0].split(), ["echo"])
        self.assertEqual(self.run_nc("call", "echo", "message=x", environment=used)[0], "x\n")
        self.assertIn("calls left: 1\n", self.run_nc("whoami", environment=used)[0])
        self.assertIn("not allowed with this grant", self.run_nc("call", "--raw", "fail", environment=used, code=1)[1])
        id, _, left, name = self.run_nc("grants")[0].split()
        self.assertEqual((left, name), ("1", "step"))
        # The relay uses it, too, and its answer is not among the relayed.
        line = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"y"}}}\n'
        out, _ = self.run_nc(stdin=line, environment=used)
        self.assertEqual([json.loads(one)["id"] for one in out.splitlines()], [1])
        for arguments in (("tools",), ("status",), ()):
            out, err = self.run_nc(*arguments, stdin=line if not arguments else None, environment=used, code=1)
            self.assertEqual(out, "")
            self.assertIn("are used up", err)
        self.run_nc("revoke", id)
        self.assertEqual(self.run_nc("grants")[0], "")
        self.assertIn("no such grant", self.run_nc("revoke", id, code=1)[1])
        out, _ = self.run_nc("tools", "--json", environment=used, code=1)
        self.assertEqual(json.loads(out)["error"]["kind"], "denied")
        self.assertIn("was revoked", out)

    def test_globs_and_what_only_reads(self):
        self.served()
        every = self.run_nc("tools", "--names")[0].split()
        string = self.run_nc("grant", "--tools", "e*", "--read-only")[0].strip()
        reading = self.run_nc("grant", "--read-only")[0].strip()
        narrow = self.run_nc("tools", "--names", environment={"MCP_NC_GRANT": string})[0].split()
        wide = self.run_nc("tools", "--names", environment={"MCP_NC_GRANT": reading})[0].split()
        self.assertEqual(narrow, [name for name in wide if name.startswith("e")])
        self.assertLess(len(wide), len(every))

    def test_over_pipes(self):
        self.served(face=False, options=("--pipes", self.path("pipes")))
        string = self.run_nc("grant", "--tools", "echo", socket=self.path("pipes"))[0].strip()
        used = {"MCP_NC_GRANT": string}
        self.assertEqual(self.run_nc("call", "echo", "message=x", socket=self.path("pipes"), environment=used)[0], "x\n")
        self.run_nc("call", "--raw", "fail", socket=self.path("pipes"), environment=used, code=1)
        self.run_nc("tools", socket=self.path("pipes"), environment={"MCP_NC_GRANT": "mcpg_x"}, code=1)


class OldDaemon:
    """Listens on a socket; sends each client `first`, answers what `results` has by it, anything else with -32601."""

    def __init__(self, path, results):
        self.results, self.methods, self.first = results, [], ""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb", buffering=0) as stream:
                stream.write(self.first.encode())
                for line in stream:
                    message = json.loads(line)
                    self.methods.append(message["method"])
                    if "id" not in message:
                        continue
                    result = self.results.get(message["method"])
                    ends = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
                    stream.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **ends}).encode() + b"\n")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class NotAccepted(Grants):
    CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"y"}}}\n'

    def old_daemon(self, **results):
        daemon = OldDaemon(self.path("old"), {"bridge/" + name: result for name, result in results.items()})
        self.addCleanup(daemon.close)
        return daemon

    def test_nothing_is_sent_behind_a_grant_that_a_daemon_does_not_know(self):
        daemon = self.old_daemon()
        for arguments in (("call", "--raw", "echo"), ("tools",), ()):
            out, err = self.run_nc(*arguments, stdin=None if arguments else self.CALL, socket=self.path("old"),
                                   environment={"MCP_NC_GRANT": "mcpg_x"}, code=1)
            self.assertEqual(out, "")
            self.assertIn("it is older" if arguments else "Method not found", err)
        self.assertEqual(daemon.methods, ["bridge/use"] * 3)

    def test_notifications_that_such_a_daemon_sends_before_are_shown(self):
        daemon = self.old_daemon()
        daemon.first = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n'
        for arguments in (("call", "--raw", "echo"), ("listen",)):
            out, err = self.run_nc(*arguments, socket=self.path("old"), environment={"MCP_NC_GRANT": "mcpg_x"}, code=1)
            self.assertEqual((out, err[:len(daemon.first)]), ("", daemon.first))
            self.assertIn("it is older", err)
        out, err = self.run_nc(stdin=self.CALL, socket=self.path("old"), environment={"MCP_NC_GRANT": "mcpg_x"}, code=1)
        self.assertEqual((out, err.count("\n")), (daemon.first, 1))

    def test_a_second_list_is_not_issued_if_the_first_cannot_be_used(self):
        daemon = self.old_daemon(grant={"grant": "mcpg_x", "id": "x", "name": "", "expires": "x"})
        out, err = self.run_nc("grant", "--tools", "a", "--read-only", socket=self.path("old"), code=1)
        self.assertEqual(out, "")
        self.assertIn("it is older", err)
        self.assertEqual([name for name in daemon.methods if name in ("bridge/grant", "bridge/use")],
                         ["bridge/grant", "bridge/use"])

    def test_a_daemon_without_control_methods_takes_none(self):
        server, _ = self.served(face=False, options=("--no-control",))
        for arguments in (("call", "--raw", "echo", "message=x"), ()):
            out, err = self.run_nc(*arguments, stdin=None if arguments else self.CALL,
                                   environment={"MCP_NC_GRANT": "mcpg_x"}, code=1)
            self.assertEqual(out, "")
            self.assertIn("--no-control", err)
        self.assertEqual((server.received("bridge/use"), self.names(server)), ([], []))


if __name__ == "__main__":
    main()
