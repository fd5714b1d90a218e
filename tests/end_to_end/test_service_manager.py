"""What the daemon tells the service manager that started it (BEHAVIOUR, "Service manager"; sd_notify(3))."""

import os
import shutil
import signal
import uuid

from harness import Case, eventually, main
from harness.local_server import children
from harness.service_manager import ServiceManager
from harness.upgrading import Upgrading


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
    def test_its_life_is_told_in_words_from_ready_to_stopping(self):
        for address in (self.path("notify"), "@mcp-test-" + uuid.uuid4().hex):
            with self.subTest(address):
                manager, server = self.manager(address), self.upstream()
                environment = manager.environment()
                self.start_daemon(server.url + "?key=hidden-4711", "--grace", "20s", environment=environment, ready=False)
                manager.expect("READY=1")
                # No waiting: with READY the socket has to be there.
                client = self.client()
                self.assertIn(f"127.0.0.1:{server.port}", manager.expect("STATUS=No session"))
                for count in range(5):
                    client.call("echo", {"message": str(count)}, id=count)
                manager.expect("STATUS=In session with")
                server.kill()
                client.send('{"jsonrpc":"2.0","id":"lost","method":"tools/list"}')
                self.assertIn("127.0.0.1", manager.expect("STATUS=Cannot reach"))
                self.default_daemon.terminate()
                patience = manager.expect("EXTEND_TIMEOUT_USEC=")
                self.assertGreaterEqual(int(patience.split("=")[1]), 20_000_000)
                for once in ("READY=1", "STOPPING=1", "STATUS=In session with"):
                    self.assertEqual(len([line for line in manager.heard if line.startswith(once)]), 1, manager.heard)
                self.assertNotIn("hidden-4711", "".join(manager.heard))

    def test_reloading_is_told_with_its_time_and_then_ready_also_if_it_changes_nothing(self):
        manager = self.manager()
        self.supervised(manager, "--options-file", self.write("options", "log-level = info\n"))
        for text, logged in (("log-level = debug\n", "were read again"), ("ring = many\n", "nothing was changed")):
            self.write("options", text)
            self.default_daemon.signal(signal.SIGHUP)
            time = manager.expect("MONOTONIC_USEC=")
            self.assertEqual(manager.heard[-2], "RELOADING=1")
            self.assertGreater(int(time.split("=")[1]), 0)
            manager.expect("READY=1")
            self.default_daemon.logged(logged)


class Upgrades(ManagedCase, Upgrading):
    def test_one_is_told_and_why_one_failed_until_there_is_something_else_to_say(self):
        manager = self.manager()
        server, daemon = self.supervised(manager)
        self.client().call("echo", {"message": "hello"})
        self.upgrade()
        manager.expect("STATUS=Upgrading")
        manager.expect("STATUS=In session with")
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
    def test_it_is_fed_by_the_loop_and_not_while_the_daemon_hangs(self):
        manager = self.manager()
        _, daemon = self.supervised(manager, WATCHDOG_USEC="20000")
        for _ in range(3):
            manager.expect("WATCHDOG=1")
        daemon.signal(signal.SIGSTOP)
        eventually(lambda: children(os.getpid())[daemon.pid] == "T", "the stop")
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

    def test_the_token_among_them_is_sent_unless_a_token_is_named(self):
        self.write("token", "from-the-credential\n")
        other = self.write("other", "from-the-file")
        for options, environment, sent in (
                ((), {}, "Bearer from-the-credential"), (("--token-file", other), {}, "Bearer from-the-file"),
                ((), {"MCP_SERVER_TOKEN": "from-the-environment"}, "Bearer from-the-environment"),
                ((), {"CREDENTIALS_DIRECTORY": self.path("nowhere")}, None)):
            with self.subTest(sent):
                server = self.upstream()
                daemon = self.start_daemon(server, *options, environment={"CREDENTIALS_DIRECTORY": self.folder, **environment})
                self.client().call("echo", {"message": "hello"})
                self.assertEqual(server.log("tools/call", wait=1)[0]["headers"].get("authorization"), sent)
                daemon.stop()


if __name__ == "__main__":
    main()
