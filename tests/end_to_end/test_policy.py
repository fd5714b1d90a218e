"""Who may call what (BEHAVIOUR, "Policy"): root starts the daemon, two other users call."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import unittest

from harness import initialize, main
from harness.eras import Eras
from harness.era_clients import LegacyOnSocket, ModernOnSocket
from harness.modern_tools import RIGHT
from harness.binaries import binary
from harness.other_user import NOBODY, acting_as, for_others, is_root

AGENT, OTHER = NOBODY, NOBODY - 1
UPDATED = "notifications/resources/updated"


def denied(test, error, kind="denied"):
    test.assertEqual(error["code"], -32000, error)
    test.assertEqual(error["data"]["kind"], kind, error)
    test.assertEqual(error["data"]["delivered"], "no", error)
    return error["message"]


@unittest.skipUnless(is_root(), "other users are needed")
class Policies(Eras):
    def policy(self, *rules, name="policy.json"):
        return self.write(name, "// rules of the test\n" + json.dumps({"rules": rules}))

    def ruled(self, *rules, mode="modern", options=(), **how):
        """A server, and a daemon that other users may reach."""
        os.chmod(self.folder, 0o755)
        return self.bridged(mode, "--policy", self.policy(*rules), "--socket-mode", "0666", *options, **how)

    def as_user(self, uid, era, daemon=None):
        path = (daemon or self.default_daemon).socket_path
        with acting_as(uid):
            one = (LegacyOnSocket if era == "legacy" else ModernOnSocket)(path)
        self.clients.append(one)
        if era == "modern":
            self.speakers.append(one)
        one.open()
        return one

    def plain(self, uid):
        with acting_as(uid):
            return self.client()

    @contextlib.contextmanager
    def groups(self, *ids):
        """acting_as() takes only the uid over: root's groups are those of the process."""
        here = os.getgroups()
        os.setgroups(ids)
        try:
            yield
        finally:
            os.setgroups(here)

    def reload(self, text):
        """The daemon's own words on it."""
        daemon = self.default_daemon
        daemon.signal(signal.SIGHUP)
        return daemon.logged(text)


class WhoMayCall(Policies):
    RULES = ({"uid": "root"}, {"uid": AGENT, "tools": ["e*", "!h*"], "resources": ["demo://*"], "prompts": []})

    def test_a_denied_call_does_not_reach_the_server_and_is_in_no_page_of_a_list(self):
        for mode, era in itertools.product(("modern", "legacy", "dual"), ("legacy", "modern")):
            with self.subTest(server=mode, client=era):
                server, _ = self.ruled(*self.RULES, mode=mode)
                agent = self.as_user(AGENT, era)
                self.assertEqual(agent.call("echo", {"message": "x"})[0], "x")
                error, _ = agent.call("hold", {"key": "k"})
                self.assertEqual(denied(self, error),
                                 "tool 'hold' is not allowed for this user; ask the operator of this daemon to allow it")
                self.assertEqual([one.params["name"] for one in server.received("tools/call")], ["echo"])
                self.assertEqual(agent.tools(), [name for name in RIGHT if name.startswith("e")])
                self.assertEqual(sorted(self.as_user(0, era).tools())[:1], sorted(RIGHT)[:1])

    def test_a_user_without_a_rule_may_only_ping_and_look(self):
        server, daemon = self.ruled(*self.RULES, mode="dual")
        client = self.plain(OTHER)
        for method in ("tools/list", "tools/call", "resources/list", "bridge/tool", "bridge/jobs", "bridge/metrics"):
            denied(self, client.request(method, {"name": "echo"})["error"])
        status = client.request("bridge/status")["result"]
        self.assertEqual([one["uid"] for one in status["clients"]], [OTHER])
        self.assertEqual(status["policy"], {"rule": 0})
        # The daemon's own user is told more.
        self.assertEqual(daemon.status()["policy"], {"rule": 1, "file": self.path("policy.json"), "line": 2})
        self.assertEqual(server.received("tools/call"), [])

    def test_what_a_client_looks_up_by_the_bridge(self):
        self.ruled(*self.RULES)
        agent = self.plain(AGENT)
        self.assertEqual(agent.request("bridge/tool")["result"]["names"], [name for name in RIGHT if name.startswith("e")])
        self.assertEqual(agent.request("bridge/tool", {"name": "echo"})["result"]["tool"]["name"], "echo")
        denied(self, agent.request("bridge/tool", {"name": "hold"})["error"])
        denied(self, agent.request("bridge/submit", {"method": "tools/call", "params": {"name": "hold"}})["error"])
        denied(self, agent.request("prompts/get", {"name": "greet"})["error"])
        # Judged as the methods that another server may take them for.
        denied(self, agent.request("Tools/Call", {"name": "hold"})["error"])
        denied(self, agent.request("bridge/submit", {"method": "TOOLS/CALL", "params": {"name": "hold"}})["error"])
        denied(self, agent.request("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"},
                                                           "argument": {"name": "whom", "value": ""}})["error"])
        self.assertEqual(agent.request("prompts/list")["result"]["prompts"], [])
        self.assertEqual([one["uri"] for one in agent.request("resources/list")["result"]["resources"]],
                         ["demo://one", "demo://zwei ü"])

    def test_a_first_call_is_judged_by_the_list_of_tools_which_is_fetched_once(self):
        for mode, era in (("modern", "modern"), ("legacy", "legacy"), ("legacy", "modern"), ("modern", "legacy")):
            with self.subTest(server=mode, client=era):
                self.ruled({"uid": 0}, {"uid": AGENT, "tools": "read-only"}, mode=mode)
                agent = self.as_user(AGENT, era)
                message = denied(self, agent.call("echo", {"message": "x"})[0])
                self.assertIn("readOnlyHint", message)
                # The list is known: root's client gets it without another request.
                self.assertIn("echo", self.client().request("bridge/tool")["result"]["names"])
                self.default_daemon.stop()

    def test_callers_of_http_without_a_rule_see_no_metrics(self):
        self.ruled({"uid": 0}, face=True)
        self.assertEqual(self.new_face().get("/metrics").status, 403)

    def test_callers_of_the_http_face_are_one_user(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                self.ruled({"uid": 0}, {"http": True, "tools": ["echo"]}, face=True)
                one = self.speaker(era, "face")
                self.assertEqual(one.tools(), ["echo"])
                denied(self, one.call("hold", {"key": "k"})[0])
                self.assertEqual(one.call("echo", {"message": "x"})[0], "x")

    def test_groups_also_supplementary_ones(self):
        self.ruled({"gid": 4242, "tools": ["echo"]})
        with self.groups(4242):
            agent = self.as_user(AGENT, "legacy")
        self.assertEqual(agent.tools(), ["echo"])
        denied(self, self.plain(AGENT).request("tools/list")["error"])


class Rates(Policies):
    def test_a_rate_is_of_the_user_and_outlives_an_upgrade(self):
        _, daemon = self.ruled({"uid": AGENT, "rate": "2/1h"}, {"uid": 0})
        first, second = self.as_user(AGENT, "legacy"), self.as_user(AGENT, "legacy")
        for one in (first, second):
            self.assertEqual(one.call("echo", {"message": "x"})[0], "x")
        error = first.call("echo", {"message": "x"})[0]
        denied(self, error, "rate_limited")
        self.assertGreater(error["data"]["retryAfterMs"], 1_700_000)
        daemon.upgrade()
        denied(self, second.call("echo", {"message": "x"})[0], "rate_limited")
        denied(self, self.as_user(AGENT, "legacy").call("echo", {"message": "x"})[0], "rate_limited")
        self.assertEqual(self.plain(0).call("echo", {"message": "x"})["id"], 1)


class Files(Policies):
    def test_one_that_others_can_write_ends_the_start_and_check_accepts_a_good_one(self):
        path = self.policy({"uid": "root"})
        options = ("http://127.0.0.1:9/mcp", "--policy", path)
        self.assertEqual(self.start_daemon(*options, "--check", ready=False).wait(), 0)
        os.chmod(path, 0o602)
        for more in ((), ("--check",)):
            self.assertIn("other users can write to it", self.start_daemon(*options, *more, ready=False).fails(78))


class Changes(Policies):
    def test_a_broken_file_on_sighup_changes_nothing(self):
        self.ruled({"uid": AGENT, "tools": ["echo"]})
        agent = self.as_user(AGENT, "legacy")
        self.write("policy.json", "{\"rules\": [\n  {\"uid\": 1, \"tool\": []}\n]}")
        self.assertIn("line 2", self.reload("nothing was changed"))
        self.assertEqual(agent.tools(), ["echo"])
        denied(self, agent.call("hold", {"key": "k"})[0])

    def test_a_changed_file_holds_at_once_and_is_told_as_changed_lists(self):
        for mode in ("modern", "legacy"):
            with self.subTest(mode):
                self.ruled({"uid": AGENT, "tools": ["echo"]}, mode=mode)
                legacy, modern = self.as_user(AGENT, "legacy"), None
                self.assertEqual(legacy.tools(), ["echo"])
                with acting_as(AGENT):
                    modern = self.modern()
                listen = modern.listen(toolsListChanged=True)
                self.policy({"uid": AGENT, "tools": ["fail"]})
                self.reload("read again")
                self.assertEqual(listen.next()["method"], "notifications/tools/list_changed")
                self.assertEqual(legacy.tools(), ["fail"])
                denied(self, legacy.call("echo", {"message": "x"})[0])


class Jobs(Policies):
    def test_another_daemon_goes_on_with_one_whose_rule_holds_by_a_supplementary_group(self):
        options = ("--state-dir", self.path("state"), "--max-inflight", "1")
        server, daemon = self.ruled({"uid": 0}, {"gid": 4242, "tools": ["echo"]}, options=options)
        self.as_user(0, "legacy").begin("hold", {"key": "k"})
        server.wait_held("k")
        with self.groups(4242):
            agent = self.plain(AGENT)
        job = agent.request("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}})
        daemon.crash()
        self.before(server, "--policy", self.path("policy.json"), "--socket-mode", "0666", *options)
        done = self.plain(0).request("bridge/collect", {"job": job["result"]["job"], "waitMs": 20000})["result"]
        self.assertEqual((done["state"], done["response"]["result"]["content"][0]["text"]), ("completed", "x"))


class Notifications(Policies):
    def test_a_change_of_a_hidden_resource_is_not_sent_and_not_taken(self):
        server, _ = self.ruled({"uid": AGENT, "resources": ["demo://*"]}, {"uid": 0}, mode="legacy")
        subscriber = self.as_user(0, "legacy")
        for uri in ("hidden://one", "demo://one"):
            subscriber.subscribe(uri)
            server.wait_reaches(UPDATED, {"uri": uri})
        agent = self.as_user(AGENT, "legacy")
        agent.call("echo", {"message": "x"})
        newest = self.default_daemon.status()["ring"]["newest"]
        for uri in ("hidden://one", "demo://one"):
            server.emit(UPDATED, {"uri": uri})
        self.newest(newest + 2)
        self.assertEqual([one["params"]["uri"] for one in agent.gathered(1) if one["method"] == UPDATED], ["demo://one"])
        seen = self.plain(AGENT).request("bridge/notifications")["result"]["notifications"]
        self.assertNotIn("hidden://one", json.dumps(seen))

    def test_who_has_no_rule_gets_none(self):
        server, daemon = self.ruled({"uid": AGENT}, {"uid": 0}, mode="legacy")
        agent, other = self.as_user(AGENT, "legacy"), self.plain(OTHER)
        other.send(initialize("i"))
        other.answer("i")
        agent.call("echo", {"message": "x"})
        newest = daemon.status()["ring"]["newest"]
        server.emit("notifications/tools/list_changed", {})
        self.newest(newest + 1)
        other.request("ping", {}, "fence")
        self.assertEqual(other.others, [])
        self.assertEqual([one["method"] for one in agent.gathered(1)], ["notifications/tools/list_changed"])

    def test_a_listen_is_not_told_of_it(self):
        for mode in ("modern", "legacy"):
            with self.subTest(mode):
                self.ruled({"uid": AGENT, "resources": ["demo://*"]}, {"uid": 0}, mode=mode)
                with acting_as(AGENT):
                    client = self.modern()
                listen = client.listen(resourceSubscriptions=["demo://one", "hidden://one"])
                self.assertEqual(listen.acknowledged, {"resourceSubscriptions": ["demo://one"]})


class AsAnotherUser(Policies):
    """mcp-nc tools --as UID: what that user would see. Runs are of root, who becomes the user."""

    def as_uid(self, uid, *arguments, code=0):
        return self.run_nc("tools", "--as", str(uid), *arguments, code=code)

    def test_root_sees_what_that_user_would(self):
        self.ruled({"uid": "root"}, {"uid": AGENT, "tools": ["e*"]})
        allowed = [name for name in RIGHT if name.startswith("e")]
        self.assertLessEqual(set(RIGHT), set(self.run_nc("tools", "--names")[0].split()))
        self.assertEqual(self.as_uid(AGENT, "--names")[0].split(), allowed)
        self.assertEqual([one["name"] for one in json.loads(self.as_uid(AGENT, "--json")[0])["tools"]], allowed)
        for uid, words, why in ((AGENT, ("hold",), "hold"), (OTHER, (), "allows this user nothing")):
            out, err = self.as_uid(uid, *words, code=1)
            self.assertEqual(out, "")
            self.assertIn(why, err)

    def test_it_is_roots_own_request_in_the_audit_and_denies_nobody(self):
        audit = self.path("audit.log")
        self.ruled({"uid": "root"}, {"uid": AGENT, "tools": ["e*"]}, options=("--audit", audit))
        self.as_uid(AGENT)
        self.as_uid(OTHER, code=1)
        with open(audit, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual({line["client"]["uid"] for line in lines}, {0})
        self.assertNotIn("denied", {line["outcome"] for line in lines})
        self.assertNotIn("mcp_bridge_policy_denied_total{reason=\"no_rule\"} 1", self.default_daemon.metrics().text)

    def test_only_root_may_and_only_a_uid(self):
        self.ruled({"uid": "root"})
        self.assertIn("is not a uid", self.as_uid("nobody", code=2)[1])
        program = for_others(self, binary("MCP_NC"))
        done = subprocess.run([program, "-s", self.default_daemon.socket_path, "tools", "--as", str(OTHER)], user=AGENT,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--as is for root", done.stderr)


if __name__ == "__main__":
    main()
