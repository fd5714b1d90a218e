"""Handlers that take each notification once they have handled it, beside a daemon that is killed and upgraded: each is
handled at least once, in order, and none after it was taken (BEHAVIOUR, "Control methods: bridge/take"). One is this
test's own; the other is `mcp-nc listen --exec`, which is killed, too.

MCP_HANDLED=2000 python3 tests/end_to_end/test_handled.py     # a longer one; MCP_HANDLED_SEED=N draws another"""

import os
import random
import signal
import threading
import time

from harness import Client, eventually, main, notification, request
from harness.binaries import binary
from harness.processes import left_behind
from harness.socket_client import Closed
from harness.upgrading import Upgrading
from harness.with_state import WithState


class Handler(threading.Thread):
    """Runs a step for the oldest notification that was not taken. Fails at random; at random it is killed before or
    after the step, and another one begins with nothing in memory. Ends when `goal` was reached."""

    def __init__(self, test, chance):
        super().__init__(daemon=True)
        self.test, self.chance = test, chance
        self.runs, self.taken, self.wrong = [], set(), []
        self.goal = None

    def run(self):
        while not self.wrong and not self.is_done:
            try:
                client = Client(self.test.default_daemon.socket_path)
            except OSError:
                time.sleep(0.01)  # no daemon
                continue
            try:
                self.live(client)
            except (OSError, Closed):
                pass  # the daemon was killed
            except Exception as fault:
                self.wrong.append(repr(fault))
            finally:
                client.close()

    is_done = False

    def live(self, client):
        client.send(notification("bridge/peek"))
        while not self.wrong:
            page = self.ask(client, "bridge/notifications", {"untaken": True, "limit": 1, "waitMs": 200})
            if not page["notifications"]:
                self.is_done = page["newest"] == self.goal
                if self.is_done:
                    return
                continue
            number = page["notifications"][0]["seq"]
            if number in self.taken:
                self.wrong.append(f"{number} came after it was taken")
            end = self.chance.choices(("works", "fails", "killed before", "killed after"), (6, 2, 1, 1))[0]
            if end == "killed before":
                return
            self.runs.append(number)
            if end == "killed after":
                return
            if end == "works":
                answer = self.ask(client, "bridge/take", {"instance": page["instance"], "seqs": [number]})
                if answer != {"taken": [number], "unknown": []}:
                    self.wrong.append(f"take of {number}: {answer}")
                self.taken.add(number)

    @staticmethod
    def ask(client, method, params):
        client.send(request(method, params, "ask"))
        return client.answer("ask")["result"]


class Ledger(WithState, Upgrading):
    def test_each_is_handled_at_least_once_in_order_and_none_after_it_was_taken(self):
        count = int(os.environ.get("MCP_HANDLED", 150))
        seed = int(os.environ.get("MCP_HANDLED_SEED", 1))
        chance = random.Random(seed)
        ring = ("--ring", str(2 * count))
        server, daemon = self.begin(*ring)
        handler = Handler(self, random.Random(seed + 1))
        handler.start()
        emitted = 0
        disturbances = ["kill", "upgrade"] * max(3, count // 100)
        chance.shuffle(disturbances)
        while emitted < count and not handler.wrong:
            batch = min(max(1, count // len(disturbances)), count - emitted)
            self.gather_many(server, batch)
            emitted += batch
            disturbance = disturbances.pop() if disturbances else None
            # In the middle of what the handler does, wherever that is.
            runs = len(handler.runs) + chance.randrange(batch)
            while len(handler.runs) < runs and not handler.wrong and len(handler.taken) < emitted:
                time.sleep(0.001)
            if disturbance == "kill":
                daemon.crash()
                daemon = self.start(server, *ring)
                server.streams(1)
            elif disturbance == "upgrade":
                self.upgrade()
                server.streams(1)
        handler.goal = emitted
        handler.join(120)
        self.assertEqual(handler.wrong, [], f"seed {seed}")
        self.assertFalse(handler.is_alive(), f"seed {seed}: {len(handler.taken)} of {count} were taken")
        self.assertEqual(sorted(set(handler.runs)), list(range(1, count + 1)), f"seed {seed}")
        self.assertEqual(handler.runs, sorted(handler.runs), f"seed {seed}")
        self.assertEqual(self.ring()["untaken"], 0)

    def test_each_is_handled_by_mcp_nc_though_it_fails_and_is_killed(self):
        count = int(os.environ.get("MCP_HANDLED", 150))
        seed = int(os.environ.get("MCP_HANDLED_SEED", 1))
        chance = random.Random(seed)
        ring = ("--ring", str(2 * count))
        server, daemon = self.begin(*ring)
        self.lead_to(daemon)
        self.handler, killed, emitted = self.handle(), 0, 0
        disturbances = ["kill", "upgrade", "handler"] * max(3, count // 100)
        chance.shuffle(disturbances)
        while emitted < count:
            batch = min(max(1, count // len(disturbances)), count - emitted)
            self.gather_many(server, batch)
            emitted += batch
            runs = len(self.runs()) + chance.randrange(batch)
            while len(self.runs()) < runs and (self.runs() or [0])[-1] < emitted:
                self.supervise()
                time.sleep(0.001)
            disturbance = disturbances.pop() if disturbances else None
            if disturbance == "kill":
                daemon.crash()
                daemon = self.start(server, *ring)
                self.lead_to(daemon)
            elif disturbance == "upgrade":
                self.upgrade()
            elif disturbance == "handler":
                self.handler.kill()
                # The one that was running when it was killed.
                eventually(lambda: not self.commands(), "the end of its command")
                killed += 1
                self.handler = self.handle()
            server.streams(1)
        eventually(lambda: self.supervise() or self.ring()["untaken"] == 0,
                   lambda: f"all are taken; seed {seed}: {self.handler.stderr()}", 300)
        self.handler.signal(signal.SIGTERM)
        self.assertEqual(self.handler.wait(), 0, self.handler.stderr())
        runs = self.runs()
        self.assertEqual(sorted(set(runs)), list(range(1, count + 1)), f"seed {seed}")
        self.assertEqual(runs, sorted(runs), f"seed {seed}")
        with open(self.path("failed"), encoding="ascii") as file:
            failed = len(file.read().splitlines())
        self.assertGreater(failed, 0)
        self.assertLessEqual(len(runs) - count, failed + killed, f"seed {seed}: none is repeated that had succeeded")

    def lead_to(self, daemon):
        """The handler's socket is that of this daemon."""
        os.symlink(daemon.socket_path, self.path("next"))
        os.replace(self.path("next"), self.path("socket"))

    def handle(self):
        # A pause is a second, so few fail.
        command = 'echo "$MCP_SEQ" >>runs; [ $(($(wc -l <runs) % 50)) -ne 7 ] || { echo x >>failed; exit 1; }'
        return self.run_process("handler", [binary("MCP_NC"), "-s", self.path("socket"), "listen", "--exec", command])

    def supervise(self):
        """Starts it again where the daemon was killed before it had begun, as its service does."""
        if self.handler.popen.poll() == 3:
            self.handler = self.handle()

    def runs(self):
        if not os.path.exists(self.path("runs")):
            return []
        with open(self.path("runs"), encoding="ascii") as file:
            return [int(line) for line in file.read().splitlines()]

    def commands(self):
        """The processes of commands."""
        return [pid for pid in left_behind(self.marker) if variable_of(pid, b"MCP_SEQ")]


def variable_of(pid, name):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(one.startswith(name + b"=") for one in file.read().split(b"\0"))
    except OSError:
        return False


if __name__ == "__main__":
    main()
