"""What the daemon tells the service manager that started it (BEHAVIOUR, "Service manager"; sd_notify(3))."""

import shutil
import signal
import uuid

from harness import Case, eventually, main
from harness.service_manager import ServiceManager
from harness.upgrading import Upgrading


def is_stopped(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


class ManagedCase(Case):
    def manager(self, address=None):
        manager = ServiceManager(address or self.path("notify"))
        self.addCleanup(manager.close)
        return manager

    def supervised(self, manager, *options, upstream=None, **variables):
        server = upstream or self.upstream()
        daemon = self.start_daemon(server, *options, environment=manager.environment(**variables), ready=False)
        manager.expect("READY=1")
        return server, daemon


class Told(ManagedCase):
    def test_it_is_ready_when_its_socket_accepts(self):
        manager = self.manager()
        self.supervised(manager)
        # No waiting: with READY it has to be there.
        self.assertIn("result", self.client().call("echo", {"message": "at once"}))

    def test_an_abstract_notify_socket_is_served_too(self):
        manager = self.manager("@mcp-test-" + uuid.uuid4().hex)
        self.supervised(manager)

    def test_the_status_tells_in_words_how_the_upstream_is(self):
        manager = self.manager()
        server, _ = self.supervised(manager)
        self.assertIn(f"127.0.0.1:{server.port}", manager.expect("STATUS=No session"))
        client = self.client()
        client.call("echo", {"message": "hello"})
        manager.expect("STATUS=In session with")
        server.kill()
        client.send('{"jsonrpc":"2.0","id":"lost","method":"tools/list"}')
        self.assertIn("127.0.0.1", manager.expect("STATUS=Cannot reach"))

    def test_the_status_tells_of_a_state_once(self):
        manager = self.manager()
        self.supervised(manager)
        client = self.client()
        for count in range(5):
            client.call("echo", {"message": str(count)}, id=count)
        self.default_daemon.terminate()
        manager.expect("STOPPING=1")
        self.assertEqual(manager.heard.count("READY=1"), 1)
        self.assertEqual(len([line for line in manager.heard if line.startswith("STATUS=In session")]), 1, manager.heard)

    def test_the_targets_query_is_not_in_the_status(self):
        manager = self.manager()
        server = self.upstream()
        self.start_daemon(server.url + "?key=hidden-4711", environment=manager.environment(), ready=False)
        manager.expect("STATUS=No session")
        self.assertNotIn("hidden-4711", "".join(manager.heard))

    def test_reloading_is_told_with_its_time_and_then_ready(self):
        manager = self.manager()
        self.supervised(manager)
        self.default_daemon.signal(signal.SIGHUP)
        time = manager.expect("MONOTONIC_USEC=")
        self.assertEqual(manager.heard[-2], "RELOADING=1")
        self.assertGreater(int(time.split("=")[1]), 0)
        manager.expect("READY=1")

    def test_a_reload_that_changes_nothing_ends_ready_too(self):
        manager = self.manager()
        options = self.write("options", "log-level = info\n")
        self.supervised(manager, "--options-file", options)
        self.write("options", "ring = many\n")
        self.default_daemon.signal(signal.SIGHUP)
        manager.expect("RELOADING=1")
        manager.expect("READY=1")
        self.default_daemon.logged("nothing was changed")

    def test_stopping_is_told_with_the_time_it_may_take(self):
        manager = self.manager()
        self.supervised(manager, "--grace", "20s")
        self.client().call("echo", {"message": "hello"})
        self.default_daemon.terminate()
        patience = manager.expect("EXTEND_TIMEOUT_USEC=")
        self.assertIn("STOPPING=1", manager.heard)
        self.assertGreaterEqual(int(patience.split("=")[1]), 20_000_000)


class Upgrades(ManagedCase, Upgrading):
    def test_an_upgrade_is_told_and_then_again_how_the_upstream_is(self):
        manager = self.manager()
        self.supervised(manager)
        self.client().call("echo", {"message": "hello"})
        manager.expect("STATUS=In session with")
        self.upgrade()
        manager.expect("STATUS=Upgrading")
        manager.expect("STATUS=In session with")

    def test_why_one_failed_is_told_until_there_is_something_else_to_say(self):
        manager = self.manager()
        server, daemon = self.supervised(manager)
        self.client().call("echo", {"message": "hello"})
        self.put_in_its_place(lambda path: shutil.copy("/bin/true", path))
        daemon.signal(signal.SIGUSR2)
        manager.expect("STATUS=Upgrading")
        manager.expect("STATUS=Upgrade failed, continuing with the old version: ")
        manager.waiting()
        self.assertTrue([line for line in manager.heard if line.startswith("STATUS=")][-1].startswith("STATUS=Upgrade failed"))
        server.kill()
        self.client().send('{"jsonrpc":"2.0","id":"lost","method":"tools/list"}')
        manager.expect("STATUS=Cannot reach")


class Watchdog(ManagedCase):
    def test_it_is_fed_by_the_loop(self):
        manager = self.manager()
        self.supervised(manager, WATCHDOG_USEC="100000")
        for _ in range(3):
            manager.expect("WATCHDOG=1")

    def test_a_daemon_that_hangs_does_not_feed_it(self):
        manager = self.manager()
        _, daemon = self.supervised(manager, WATCHDOG_USEC="20000")
        manager.expect("WATCHDOG=1")
        daemon.signal(signal.SIGSTOP)
        eventually(lambda: is_stopped(daemon.pid), "the stop")
        manager.waiting()
        # Five beats long another clock ticks.
        with self.assertRaises(AssertionError):
            manager.expect("WATCHDOG=1", deadline=0.05)
        daemon.signal(signal.SIGCONT)
        manager.expect("WATCHDOG=1")

    def test_one_that_is_meant_for_another_process_is_not_fed(self):
        manager = self.manager()
        self.supervised(manager, WATCHDOG_USEC="2000", WATCHDOG_PID="1")
        self.client().call("slow", {"steps": 1, "delayMs": 100})
        self.default_daemon.terminate()
        manager.expect("STOPPING=1")
        self.assertNotIn("WATCHDOG=1", manager.heard)


class OutOfOrder(ManagedCase):
    def test_a_manager_that_does_not_read_holds_nothing_up_and_hears_all_in_the_end(self):
        manager = self.manager()
        self.supervised(manager, WATCHDOG_USEC="2000")
        client = self.client()
        for count in range(3):
            client.call("slow", {"steps": 1, "delayMs": 100}, id=count)
        self.assertIn("result", client.call("echo", {"message": "still there"}, id="still"))
        manager.expect("STATUS=In session with")
        manager.expect("WATCHDOG=1")

    def test_a_manager_that_is_gone_harms_nobody(self):
        manager = self.manager()
        self.supervised(manager, WATCHDOG_USEC="20000")
        manager.close()
        self.default_daemon.logged("cannot notify the service manager")
        self.assertIn("result", self.client().call("echo", {"message": "hello"}))

    def test_an_address_of_another_kind_is_named_and_ignored(self):
        daemon = self.start_daemon(self.upstream(), environment={"NOTIFY_SOCKET": "vsock:2:1234"})
        daemon.logged("vsock:2:1234")
        self.assertIn("result", self.client().call("echo", {"message": "hello"}))

    def test_commands_the_daemon_runs_do_not_get_the_managers_variables(self):
        manager = self.manager()
        seen = self.path("environment")
        self.supervised(manager, "--token-command", f"env > {seen}; echo token", WATCHDOG_USEC="9000000",
                        CREDENTIALS_DIRECTORY=self.folder)
        self.client().call("echo", {"message": "hello"})
        with open(seen, encoding="utf-8") as file:
            names = {line.split("=")[0] for line in file}
        self.assertIn("PATH", names)
        self.assertFalse(names & {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "CREDENTIALS_DIRECTORY"}, names)


class Credentials(ManagedCase):
    """LoadCredential=token:… leaves a file `token` in CREDENTIALS_DIRECTORY."""

    def asked_with(self, *options, **environment):
        self.write("token", "from-the-credential\n")
        server = self.upstream()
        self.start_daemon(server, *options, environment={"CREDENTIALS_DIRECTORY": self.folder, **environment})
        self.client().call("echo", {"message": "hello"})
        return server.log("tools/call", wait=1)[0]["headers"].get("authorization")

    def test_the_token_among_them_is_sent_without_any_option(self):
        self.assertEqual(self.asked_with(), "Bearer from-the-credential")

    def test_a_named_file_wins_over_it(self):
        other = self.write("other", "from-the-file")
        self.assertEqual(self.asked_with("--token-file", other), "Bearer from-the-file")

    def test_the_token_of_the_environment_wins_over_it(self):
        self.assertEqual(self.asked_with(MCP_SERVER_TOKEN="from-the-environment"), "Bearer from-the-environment")

    def test_without_one_there_is_no_token(self):
        server = self.upstream()
        self.start_daemon(server, environment={"CREDENTIALS_DIRECTORY": self.path("nowhere")})
        self.client().call("echo", {"message": "hello"})
        self.assertNotIn("authorization", server.log("tools/call", wait=1)[0]["headers"])


if __name__ == "__main__":
    main()
