"""What the daemon costs: time to start, memory, descriptors, idle time. On the release programs, where there are some."""

import json
import os
import socket
import subprocess
import time

from harness import Case, Client, call, eventually
from harness.binaries import binary, is_sanitized, release_binary
from harness.gathering import Gathering
from harness.local_server import LocalServer, children
from harness.parallel import main_parallel
from harness.processes import marked, status_field
from harness.scripted_server import ScriptedServer, answer_to, good, response
from harness.service_manager import ServiceManager

PROGRAM = release_binary("MCP_BRIDGED")
SANITIZED = is_sanitized(PROGRAM)
START_LIMIT_MS = 25
START_LIMIT_LOADS = 3
START_TRIES = 60


class StartTime(Case):
    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("says nothing under a sanitizer")

    def start_once(self, manager):
        """Milliseconds from before the fork to READY=1; then a client connects, so it was true."""
        path = self.path("s")
        command = [PROGRAM, "--url", "http://127.0.0.1:9/mcp", "--socket", path]
        environment = {"PATH": os.environ["PATH"], **marked(self.marker), "NOTIFY_SOCKET": manager.address}
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            manager.expect("READY=1")
            took = (time.monotonic() - began) * 1000
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
        finally:
            process.terminate()
            process.wait(30)
        return took

    @staticmethod
    def load_once():
        """Milliseconds of a start that ends as soon as the libraries are loaded."""
        began = time.monotonic()
        subprocess.run([PROGRAM, "--version"], check=True, stdout=subprocess.DEVNULL)
        return (time.monotonic() - began) * 1000

    def test_it_accepts_within_25_ms(self):
        """Or, on a machine where loading the libraries alone takes long, within a few times that."""
        manager = ServiceManager(self.path("notify"))
        self.addCleanup(manager.close)
        # The best of some: on a busy machine most of them measure the others.
        times, loads = [], []
        while len(times) < START_TRIES and (not times or min(times) > START_LIMIT_MS / 2):
            times.append(self.start_once(manager))
            loads.append(self.load_once())
        self.assertLess(min(times), max(START_LIMIT_MS, START_LIMIT_LOADS * min(loads)), (sorted(times), sorted(loads)))


class Sizes(Case):
    def test_the_static_client_is_no_larger_than_promised(self):
        """At most 1.6 MB, stripped as packages and the image have it."""
        program, stripped = release_binary("MCP_NC"), self.path("stripped")
        if is_sanitized(program):
            return
        headers = subprocess.run(["readelf", "-l", program], check=True, capture_output=True, text=True).stdout
        subprocess.run(["strip", "-o", stripped, program], check=True)
        if "INTERP" not in headers:
            self.assertLessEqual(os.path.getsize(stripped), 1_600_000)
            self.assertIn("Elf file type is DYN", headers, "its addresses can be guessed")


class Costs(Gathering, LocalServer):
    def start_daemon(self, *arguments, **how):
        return super().start_daemon(*arguments, program=PROGRAM, **how)

    def anonymous(self, daemon):
        return daemon.status_field("RssAnon")

    def assert_memory(self, kilobytes, limit, what):
        if not SANITIZED:
            self.assertLess(kilobytes, limit, what)

    def assert_not_woken(self, *pids):
        def stays(seconds):
            before = [status_field(pid, "voluntary_ctxt_switches") for pid in pids]
            time.sleep(seconds)
            return before == [status_field(pid, "voluntary_ctxt_switches") for pid in pids]

        # The end of the drained handshake and of the status' own connection.
        eventually(lambda: stays(1.5), "rest")
        # Time has to pass here: it is the absence of work that is measured.
        self.assertTrue(stays(6))

    def test_idle_it_is_not_woken(self):
        # A server that closes idle connections would wake it.
        _, daemon = self.opened("--keepalive", "0", upstream=("--keep-alive-timeout", "600"))
        with_clients = [self.client() for _ in range(3)]
        self.others(3)
        self.assert_not_woken(daemon.pid)
        del with_clients

    def test_idle_before_a_local_server_neither_it_nor_its_watcher_is_woken(self):
        daemon = self.start_local(options=["--keepalive", "0"])
        self.tool("echo", {"message": "x"})
        self.others(0)
        self.assert_not_woken(daemon.pid, *children(daemon.pid))

    def test_memory_before_load(self):
        _, daemon = self.opened()
        self.client().fence()
        self.assert_memory(self.anonymous(daemon), 3 * 1024, "RssAnon")

    def test_of_files_it_holds_little_more_than_the_libraries_alone_take(self):
        _, daemon = self.opened()
        self.client().fence()
        empty = self.run_process("empty", [binary("LINKED_AND_EMPTY")])
        eventually(lambda: os.readlink(f"/proc/{empty.pid}/exe").endswith("linked-and-empty") and
                   children(os.getpid()).get(empty.pid) == "S", "a program that has been loaded")
        self.assert_memory(daemon.status_field("RssFile") - empty.status_field("RssFile"), 7 * 1024,
                           "RssFile over that of an empty program with the same libraries")

    def test_memory_of_idle_clients(self):
        _, daemon = self.opened()
        self.client().fence()
        before = self.anonymous(daemon)
        clients = [self.client() for _ in range(200)]
        self.others(201)
        self.assert_memory(self.anonymous(daemon) - before, 200 * 16, "RssAnon of 200 clients")
        del clients

    def test_after_300_clients_everything_is_back(self):
        for orphans in ("cancel", "finish"):
            with self.subTest(orphans):
                _, daemon = self.opened("--orphans", orphans)
                for _ in range(20):
                    self.visit(daemon)
                self.others(0)
                fds = daemon.fds()
                self.visits(daemon, 300)
                # Up to 16 idle connections to the upstream may be kept.
                eventually(lambda: daemon.fds() <= fds + 16, lambda: f"{daemon.fds()} descriptors, {fds} before")
                # What libcurl and the allocator keep of a hundred connections at once differs from one release to the next:
                # it is bounded, and the next hundred have it again.
                memory = self.anonymous(daemon)
                self.assert_memory(memory, 12 * 1024, "RssAnon after 300 clients")
                self.visits(daemon, 300)
                if not SANITIZED:
                    eventually(lambda: self.anonymous(daemon) - memory < 1024,
                               lambda: f"RssAnon {self.anonymous(daemon) - memory} kB more after another 300 clients")
                daemon.stop()

    def visits(self, daemon, count):
        for n in range(count):
            self.visit(daemon, rude=n % 3 == 0)
        self.others(0)
        self.in_flight(0)  # what clients have left behind is carried out first

    @staticmethod
    def visit(daemon, rude=False):
        client = Client(daemon.socket_path)
        client.send(call("echo", {"message": "visit"}, 1), *([call("slow", {"steps": 100, "delayMs": 20}, 2)] if rude else []))
        client.answer(1)
        client.close()

    def test_memory_is_given_back_after_many_small_calls_at_once(self):
        """Of which the queues say nothing: it is libcurl's."""
        _, daemon = self.opened()
        clients = [self.client() for _ in range(250)]
        for client in clients:
            client.send(call("slow", {"steps": 1, "delayMs": 300}, 1))
        for client in clients:
            client.answer(1)
        most = self.anonymous(daemon)
        for client in clients:
            client.close()
        if not SANITIZED:
            eventually(lambda: self.anonymous(daemon) < most - 1024, lambda: f"RssAnon {self.anonymous(daemon)} of {most} kB", 15)

    def test_more_rounds_of_64_requests_and_lost_sessions_leave_no_more_than_the_first(self):
        server, daemon = self.opened("--keepalive", "0", upstream=("--keep-alive-timeout", "120"))
        clients = [self.client() for _ in range(4)]
        memory = []
        # Until eight rounds in a row leave nothing: what a round lost would show in each. The first ones, and those with more
        # at once than all before, fill the allocator's lists.
        while len(memory) < 60 and (len(memory) < 12 or memory[-1] - memory[-8] > 64):
            for first, client in enumerate(clients):
                client.send(*[call("slow", {"steps": 1, "delayMs": 100}, id) for id in range(first, 64, 4)])
            server.log("tools/call", wait=64)
            server.control("POST", "sessions/drop", "{}")
            for client in clients:
                client.lines(16)
            server.forget_log()
            clients[0].fence()
            memory.append(self.anonymous(daemon))
        self.assert_memory(memory[-1] - memory[-8], 65, f"RssAnon {memory}")

    def test_memory_is_given_back_after_a_flood_on_an_answers_stream(self):
        event = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 100}}

        def flood(asked):
            if asked.method != "tools/call":
                return good(asked)
            lines = [b"data: " + json.dumps(message).encode() + b"\n\n" for message in (event, answer_to(asked))]
            return response(200, [("Content-Type", "text/event-stream")], lines[0] * 100_000 + lines[1])

        server = ScriptedServer(flood)
        self.addCleanup(server.close)
        daemon = self.start_daemon(server)
        self.client().call("echo", {}, 1)
        if not SANITIZED:
            eventually(lambda: self.anonymous(daemon) < 8 * 1024, lambda: f"RssAnon {self.anonymous(daemon)} kB", 5)

    def test_a_hundred_thousand_notifications_cost_no_more_than_the_ring(self):
        server, daemon = self.opened()
        message = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$N}}'
        memory = [self.anonymous(daemon)]
        for round in (1, 2, 3):
            server.emit(message, 100_000)
            self.newest(round * 100_000)
            memory.append(self.anonymous(daemon))
        ring = self.ring()
        self.assertEqual((ring["entries"], ring["dropped"]), (1000, 299_000))
        self.assert_memory(memory[1] - memory[0], 16 * 1024, f"RssAnon {memory}")
        if not SANITIZED:  # what was buffered in between is given back a second later, but for what is not worth it
            eventually(lambda: self.anonymous(daemon) - memory[0] < 3 * 1024,
                       lambda: f"RssAnon {memory}, now {self.anonymous(daemon)}")

    def test_a_stuck_reader_does_not_make_it_grow(self):
        _, daemon = self.opened("--client-buffer", "1M", "--client-stall", "60s")
        stuck = Client(daemon.socket_path, receive_buffer=4096)
        self.clients.append(stuck)
        stuck.send(*[call("big", {"bytes": 500_000}, n) for n in range(60)])
        for _ in range(10):
            self.client().fence()
        self.assert_memory(self.anonymous(daemon), 40 * 1024, "RssAnon with 30 MB asked for and not read")


if __name__ == "__main__":
    main_parallel(2)
