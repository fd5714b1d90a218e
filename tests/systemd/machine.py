"""The booted machine that run.sh has started: commands in it, and its files."""

import json
import os
import subprocess

LEADER = os.environ.get("MCP_MACHINE_LEADER")


class Machine:
    # Seen from outside; the machine's own /run is in there too.
    root = f"/proc/{LEADER}/root"

    def path(self, path):
        return self.root + path

    def run(self, *command, code=0, input=None):
        """Runs a command in the machine; returns its stdout."""
        done = subprocess.run(["nsenter", "-t", LEADER, "-m", "-u", "-i", "-n", "-p", "-C", "--",
                               *map(str, command)], capture_output=True, timeout=120, check=False, text=True,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}, input=input)
        if code is not None and done.returncode != code:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def write(self, path, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(path), mode)

    def remove(self, path):
        if os.path.exists(self.path(path)):
            os.unlink(self.path(path))

    def show(self, unit, name):
        """A property of a unit."""
        return self.run("systemctl", "show", "-P", name, unit).strip()

    def journal(self, unit, since):
        """What the unit's processes wrote since that cursor."""
        text = self.run("journalctl", "-u", unit, "--after-cursor", since, "-o", "json")
        return [entry for entry in map(json.loads, text.splitlines()) if entry.get("_COMM") == "mcp-bridged"]

    def cursor(self):
        self.run("journalctl", "--sync")
        return json.loads(self.run("journalctl", "-n", "1", "-o", "json"))["__CURSOR"]
