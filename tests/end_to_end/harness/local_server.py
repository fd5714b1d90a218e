"""Daemons in front of a server that runs as their child."""

import json
import os
import sys

from .binaries import ROOT
from .case import Case
from .frames import text_of
from .waiting import eventually

WAYWARD = str(ROOT / "tests" / "support" / "wayward_server" / "wayward_server.py")


class LocalServer(Case):
    def wayward(self, *flags):
        """The command of the server that misbehaves on request."""
        return [sys.executable, "-S", "-E", WAYWARD, *flags]

    def start_local(self, *flags, options=(), **how):
        return self.start_daemon(None, *options, "--", *self.wayward(*flags), **how)

    def tool(self, name, arguments=None, client=None):
        """The text that a tool answers."""
        mine = client or self.client()
        try:
            return text_of(mine.call(name, arguments))
        finally:
            if client is None:
                mine.close()

    def says(self, message, client):
        """The server says this by itself, told so by the client."""
        self.tool("emit", {"message": {"jsonrpc": "2.0", **message}}, client)

    def answers(self, upstream_id, client):
        """The server answers a call of the tool `silent`."""
        self.says({"id": upstream_id, "result": {"content": [{"type": "text", "text": "late"}]}}, client)

    def next_id(self, client):
        """The id of the next request to the server, if no other client sends one."""
        return json.loads(self.tool("seen", client=client))["id"] + 1

    def child_pid(self):
        return int(self.tool("pid"))

    def another_child(self, than):
        """The child's pid, once it is another one."""
        pid = self.child_pid()
        self.assertNotEqual(pid, than)
        return pid

    def assert_gone(self, *pids):
        eventually(lambda: not any(runs(pid) for pid in pids), lambda: f"the end of {[pid for pid in pids if runs(pid)]}")


def runs(pid):
    """Whether the process is there and no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    """Direct children with their states, zombies too."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            found[int(entry)] = fields[0]
    return found
