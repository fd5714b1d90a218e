"""Which server: by name, by address, by command line; and its login."""

import concurrent.futures
import contextlib
import json
import os
import re
import subprocess

from login import LoginServer
from tools import EVERYTHING, processes, wait_until

from .aspects import aspect, of, says

ROW = "servers by name"


@aspect(ROW, "from a file of `mcpServers`")
def by_name(tool):
    return tool.call("echo", message="named").has("Echo: named")


@aspect(ROW, "one session for many calls")
def one_session(tool):
    tool.call("echo", message="x")
    first = tool.children()
    tool.call("echo", message="x")
    return len(first) == 1 and tool.children() == first


@aspect(ROW, "what runs")
def what_runs(tool):
    words = of(tool, mcp_nc=["servers"], mcpdo=["connections/list"], mcpc=[], mcporter=["daemon", "status"])
    return says(tool, [tool.name, *words], r"\bev\b[^\n]*")


@aspect(ROW, "what a daemon said")
def logs(tool):
    words = of(tool, mcp_nc=["logs", "@ev"], mcpdo=["logs", "@ev"], mcpc=["@ev", "logs"], mcporter=["logs", "ev"])
    shown = tool.run(tool.name, *words)
    return shown.code == 0 and shown.has(r"\d\d:\d\d|info|serves")


@aspect(ROW, "ended by a verb")
def ended(tool):
    tool.stop()
    # What an earlier session left behind is not looked at.
    for pid in tool.children():
        os.kill(pid, 9)
    tool.connect()
    by_name(tool)
    words = of(tool, mcp_nc=["stop", "@ev"], mcpdo=["disconnect", "ev"], mcpc=["close", "@ev"], mcporter=["daemon", "stop"])
    tool.run(tool.name, *words)
    gone = wait_until(lambda: not tool.children(), 15)
    for pid in tool.children():
        os.kill(pid, 9)
    return gone


@aspect(ROW, "started by the first call")
def on_demand(tool):
    tool.stop()
    return tool.call("echo", message="first").has("Echo: first")


@aspect(ROW, "once, if two come at once")
def two_at_once(tool):
    # Three times: a race is lost now and then.
    return all(together(tool) for _ in range(3))


def together(tool):
    tool.stop()
    begin = (lambda: tool.connect() and tool.call("echo", message="x")) if tool.name in ("mcpdo", "mcpc") else \
        lambda: tool.call("echo", message="x")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: begin(), range(2)))
    one = len(tool.children()) == 1 and all(answer.has("Echo: x") for answer in answers)
    if not one:
        tool.stop()
        tool.connect()
    return one


@aspect(ROW, "ended when nobody used them for long", r"\bidle\b|keep-?alive")
def idle(tool):
    if tool.name == "mcporter":
        # The entry of the configuration: nothing in the help speaks of it.
        entry = {**tool.servers["ev"], "lifecycle": {"mode": "keep-alive", "idleTimeoutMs": 1000}}
        other = tool.home / "idle.json"
        other.write_text(json.dumps({"mcpServers": {"ev": entry}}), encoding="utf-8")
        tool.stop()
        tool.run("mcporter", "--config", other, "call", "ev.echo", "message=x")
        ended_itself = wait_until(lambda: not tool.children(), 60)
        tool.run("mcporter", "--config", other, "daemon", "stop")
        return ended_itself
    of(tool, mcp_nc=True)
    with subprocess.Popen([tool.daemon_program, "--socket", tool.home / "i", "--idle-exit", "1s", "--log-level", "error",
                           "--", *tool.everything], env=tool.environment) as daemon:
        return daemon.wait(60) == 0


@aspect(ROW, "those of a folder's file only once approved", r"approv|trust")
def approved(tool):
    entry = {"own": {"command": "touch", "args": [str(tool.home / "ran")]}}
    (tool.home / "work/config").mkdir(exist_ok=True)
    for name in (".mcp.json", "config/mcporter.json"):
        (tool.home / "work" / name).write_text(json.dumps({"mcpServers": entry}), encoding="utf-8")
    try:
        words = of(tool, mcp_nc=["@own", "tools"], mcporter=["list", "own"])
        asked = tool.run(tool.name, *words, deadline=20)
        if (tool.home / "ran").exists() or not asked.has("approve"):
            return False
        tool.run("mcp-nc", "approve", "--yes", "@own")
        tool.run(tool.name, *words, deadline=20)
        return wait_until((tool.home / "ran").exists)
    finally:
        (tool.home / "work/.mcp.json").unlink()
        (tool.home / "work/config/mcporter.json").unlink()


@aspect(ROW, "those that other programs' files name", r"\bimports?\b|\bcodex\b")
def imports(tool):
    (tool.home / "work/.cursor").mkdir(exist_ok=True)
    (tool.home / "work/.cursor/mcp.json").write_text(json.dumps({"mcpServers": {"cur": tool.servers["ev"]}}), encoding="utf-8")
    if tool.name == "mcp-nc":
        return says(tool, ["mcp-nc", "servers"], r"@cur\b")
    # Read where the folder has no file of its own.
    words = of(tool, mcporter=["config", "list", "--source", "import"])
    return says(tool, ["mcporter", *words], r"\bcur\b")


ROW = "servers that no file names"


@contextlib.contextmanager
def http_server(tool):
    port = "18{:03}".format(os.getpid() % 1000)
    with subprocess.Popen(["node", EVERYTHING, "streamableHttp", tool.mark], env={**tool.environment, "PORT": port},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        for line in child.stderr:
            if b"listening" in line:
                break
        yield f"http://127.0.0.1:{port}/mcp"
        child.terminate()


@aspect(ROW, "by address")
def by_url(tool):
    with http_server(tool) as url:
        first = of(tool, mcp_nc=[], mcpdo=["connect", url, "--connection", "web"], mcpc=["connect", url, "@web"], mcporter=[])
        if first:
            shown = tool.run(tool.name, *first)
            name = re.search(r"@[\w./:-]+", shown.text)
            name = name[0] if name else "@web"
        words = of(tool, mcp_nc=["--url", url, "call", "echo", "message=web"],
                   mcpdo=[first and name, "tools/call", "echo", "message:=web"],
                   mcpc=["@web", "tools-call", "echo", "message:=web"],
                   mcporter=["call", f"{url}.echo", "--allow-http", "message=web"])
        return says(tool, [tool.name, *words], "Echo: web")


def command_line(tool):
    return " ".join(["node", str(EVERYTHING), "stdio", tool.mark, "again"])


def run_command(tool):
    line = command_line(tool)
    words = of(tool, mcp_nc=["--run", line, "call", "echo", "message=run"], mcpdo=["@node", "tools/call", "echo", "message:=run"],
               mcpc=["@line", "tools-call", "echo", "message:=run"], mcporter=["call", "--stdio", line, "echo", "message=run"])
    begin = of(tool, mcp_nc=None, mcpdo=["connect", "--", *line.split()], mcpc=["connect", line, "@line"], mcporter=None)
    if begin:
        tool.run(tool.name, *begin)
    return says(tool, [tool.name, *words], "Echo: run")


@aspect(ROW, "by command line")
def by_command(tool):
    return run_command(tool)


@aspect(ROW, "kept for the next call")
def kept(tool):
    def again():
        return [pid for pid, (_, command) in processes().items() if tool.mark in command and "again" in command
                and command.startswith(("node", "/usr/bin/node"))]
    if not run_command(tool):
        return False
    first = again()
    words = of(tool, mcp_nc=["--run", command_line(tool), "call", "echo", "message=run"],
               mcpdo=["@node", "tools/call", "echo", "message:=run"], mcporter=["call", "--stdio", command_line(tool), "echo", "message=run"])
    return says(tool, [tool.name, *words], "Echo: run") and len(first) == 1 and first == again()

ROW = "login"


def login(tool, *options):
    with LoginServer() as url:
        words = of(tool, mcp_nc=["--url", url, "login"], mcpdo=["connect", url], mcpc=["login", url],
                   mcporter=["auth", "--http-url", url, "--allow-http", "--no-browser"])
        return tool.run(tool.name, *words, *options, deadline=10)


@aspect(ROW, "by a browser, also one elsewhere")
def by_browser(tool):
    return login(tool).has(r"/authorize\?[^\n]*code_challenge=")


@aspect(ROW, "by a code typed on another device", r"\bdevice (code|login|authorization)|--device")
def by_device(tool):
    of(tool, mcp_nc=True)
    return login(tool, "--device").has("ABCD-EFGH")
