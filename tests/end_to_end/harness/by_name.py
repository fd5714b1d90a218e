"""mcp-nc @NAME, in a home of its own."""

import json
import os
import signal

from .binaries import binary
from .local_server import LocalServer
from .terminal import Terminal


class ByName(LocalServer):
    def setUp(self):
        super().setUp()
        for folder in ("home/.config/mcp", "run", "project"):
            os.makedirs(self.path(folder))
        os.chmod(self.path("run"), 0o700)
        self.environment = {"HOME": self.path("home"), "XDG_RUNTIME_DIR": self.path("run"),
                            "PATH": os.path.dirname(binary("MCP_BRIDGED")) + ":" + os.environ["PATH"]}
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            self.environment[name] = ""

    def tearDown(self):
        pids = [server["pid"] for server in self.servers() if server["running"]]
        for pid in pids:
            os.kill(pid, signal.SIGCONT)  # a test that fails may leave it stopped
            os.kill(pid, signal.SIGTERM)
        self.assert_gone(*pids)
        super().tearDown()

    def run_in(self, folder, *arguments, code=0, stdin=None, **environment):
        command = ["env", "-C", self.path(folder), binary("MCP_NC"), *arguments]
        return self.run_tool(command, code, stdin, environment={**self.environment, **environment})

    def terminal(self, *arguments, folder="home", **how):
        """mcp-nc on a terminal of its own."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        terminal = Terminal(["env", "-C", self.path(folder), *variables, binary("MCP_NC"), *arguments], self.marker, **how)
        self.clients.append(terminal)
        return terminal

    def named(self, *arguments, **how):
        """mcp-nc, run where no file names servers."""
        return self.run_in("home", *arguments, **how)

    def servers(self, folder="home"):
        return json.loads(self.run_in(folder, "servers", "--json", code=None)[0] or '{"servers":[]}')["servers"]

    def running(self, folder="home"):
        return {server["name"]: server["pid"] for server in self.servers(folder) if server["running"]}

    def write(self, path, servers, **more):
        with open(self.path(path), "w", encoding="utf-8") as file:
            json.dump({"mcpServers": servers, **more}, file)

    def own(self, servers, **more):
        self.write("home/.config/mcp/mcp.json", servers, **more)

    def project(self, servers, **more):
        self.write("project/.mcp.json", servers, **more)

    def child(self, **more):
        command = self.wayward()
        return {"command": command[0], "args": command[1:], **more}

    def echoes(self, *where, folder="home", **environment):
        self.assertEqual(self.run_in(folder, *where, "call", "echo", "message=x", **environment)[0], "x\n")
