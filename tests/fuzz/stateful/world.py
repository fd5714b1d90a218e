"""What a scenario runs in: an upstream, a daemon before it, and the patience that this machine needs."""

import asyncio
import os
import re
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "end_to_end"))

from harness.binaries import binary, is_sanitized, release_binary  # noqa: E402,F401
from harness.daemon import Daemon  # noqa: E402
from harness.processes import open_files  # noqa: E402,F401

import daemon_options
from upstream.both_upstream import BothUpstream
from upstream.http_upstream import HttpUpstream
from upstream.modern_stdio_upstream import ModernStdioUpstream
from upstream.modern_upstream import ModernUpstream
from upstream.sse_upstream import SseUpstream
from upstream.stdio_upstream import StdioUpstream


class World:
    """One daemon and its upstream. `patience`: seconds for what has to come; long, since only a violation waits so long."""

    def __init__(self, kind, ledger, choices, folder, marker, program, patience):
        # As the plans of calls know it.
        self.kind = choices.of("carrier").pick({"http": 2, "stdio": 1}) if kind == "modern" else \
            "http" if kind == "both" else kind
        self.is_modern, self.ledger, self.choices = kind == "modern", ledger, choices
        self.over_http = {"modern": ModernUpstream, "both": BothUpstream}.get(kind, HttpUpstream)
        self.folder, self.marker, self.program = folder, marker, program
        self.options = daemon_options.draw(choices.of("options"))
        self.forgets_streams = "--http-stream-buffer" in self.options or "--max-buffered" in self.options
        self.policy_file = os.path.join(folder, "policy.json") if choices.of("policy").chance(0.6) else None
        self.socket_path = os.path.join(folder, "s")
        self.face_path = os.path.join(folder, "http")
        self.options += ["--http", self.face_path, "--pipes"]
        self.patience = patience
        self.daemon = None
        self.reloads = 0
        self.tasks = set()
        self.others_done = asyncio.Event()

    async def start(self):
        if self.policy_file:
            self.ledger.policy.write(self.policy_file)
            self.options += ["--policy", self.policy_file]
        options, choices = list(self.options), self.choices.of("upstream")
        if self.kind == "stdio":
            self.upstream = (ModernStdioUpstream if self.is_modern else StdioUpstream)(self.ledger, choices)
            options += ["--", *await self.upstream.listen(os.path.join(self.folder, "upstream"))]
        elif self.kind == "sse":
            self.upstream = SseUpstream(self.ledger, choices)
            options += ["--url", await self.upstream.listen()]
        else:
            self.upstream = self.over_http(self.ledger, choices)
            options += ["--url", await self.upstream.listen()]
        self.daemon = await self.off_loop(Daemon, "daemon", self.folder, self.marker, self.socket_path, options,
                                          self.program)
        await self.off_loop(self.daemon.ready)
        log = await self.off_loop(self.daemon.logged, "HTTP frontend on ")
        self.face_port = int(re.search(r"HTTP frontend on http://127\.0\.0\.1:(\d+)/", log).group(1))

    async def off_loop(self, function, *arguments):
        """What waits in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)

    async def status(self):
        return await self.off_loop(self.daemon.status)

    async def issue(self, lists):
        """A grant whose way has these lists of tools: each was issued with the one before. Its id and that of the first."""
        return await self.off_loop(self._issue, lists)

    def _issue(self, lists):
        results = []
        for tools in lists:
            client = self.daemon.client()
            client.request("bridge/status")  # it takes no notifications, then
            if results:
                client.request("bridge/use", {"grant": results[-1]["grant"]})
            results.append(client.request("bridge/grant", {"tools": tools})["result"])
            client.close()
        return results[-1]["grant"], results[0]["id"]

    async def revoke(self, grant):
        await self.off_loop(self._revoke, grant)

    def _revoke(self, grant):
        client = self.daemon.client()
        client.request("bridge/revoke", {"id": grant})
        client.close()

    async def change_policy(self, choices):
        """While all is quiet."""
        if self.policy_file:
            self.ledger.policy.draw(choices)
            await self._reload_policy()

    async def change_policy_again(self, choices):
        """While clients are connected."""
        if self.policy_file and choices.chance(0.5):
            await asyncio.sleep(choices.pause(0.3))
            self.ledger.policy.change(choices)
            await self._reload_policy()

    async def _reload_policy(self):
        policy = self.ledger.policy
        policy.write(self.policy_file)
        self.reloads += 1
        self.daemon.signal(signal.SIGHUP)
        await self.off_loop(self.daemon.logged, "options were read again", self.reloads)
        policy.settled = len(policy.versions) - 1

    async def wait_for_others(self, closed):
        """Until the other clients have done their part, or this one's connection is closed."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self.others_done, closed)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=self.patience)
        for wait in waits:
            wait.cancel()

    async def stop(self):
        """The problem with how the daemon ended, or None."""
        problem = None
        if self.daemon:
            try:
                await self.off_loop(self.daemon.stop)
            except AssertionError as error:
                problem = str(error)
            self.daemon.kill()
            problem = self.daemon.sanitizer_report() or problem
        await self.upstream.stop()
        return problem
