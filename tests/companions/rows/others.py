"""What else there is."""

import concurrent.futures
import json
import os
import time

from .aspects import aspect, of, says

ROW = "what else"


@aspect(ROW, "an interactive shell", r"interactive shell|\bREPL\b")
def interactive(tool):
    words, typed = of(tool, mcp_nc=(["@ev", "shell"], "call echo message=typed"),
                      mcpc=(["shell", "@ev"], "tools-call echo message:=typed"))
    return says(tool, [tool.name, *words], "Echo: typed", stdin=typed + "\nexit\n")


@aspect(ROW, "its sessions as an MCP server for other clients", r"--proxy|\bserve\b|stdio command of any MCP client")
def as_server(tool):
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "table", "version": "1"}}}) + "\n"
    if tool.name == "mcpc":
        port = "17{:03}".format(os.getpid() % 1000)
        opened = tool.run("mcpc", "connect", f"{tool.config}:ev", "@proxied", "--proxy", port)
        tool.run("mcpc", "close", "@proxied")
        return opened.code == 0 and opened.has("proxy: 127.0.0.1")
    words = of(tool, mcp_nc=["@ev"], mcporter=["serve", "--stdio"])
    return says(tool, [tool.name, *words], '"serverInfo"', stdin=hello, deadline=10)


@aspect(ROW, "record and replay", r"\brecord\b|\breplay\b")
def record(tool):
    if tool.name == "mcp-nc":
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            recorded = pool.submit(tool.run, "mcp-nc", "@ev", "record", "seen", "--count", "12", "--for", "20s")
            while not recorded.done():
                tool.call("echo", message="x")
                time.sleep(0.2)
        return tool.run("mcp-nc", "@ev", "replay", "seen").code == 0
    return tool.run(tool.name, *of(tool, mcporter=["record", "one", "--", "mcporter", "call", "ev.echo", "message=x"])).code == 0


@aspect(ROW, "a typed client or a command line made of a server", r"generate-cli|emit-ts|codegen")
def generated(tool):
    out = tool.home / "ev.d.ts"
    if tool.name == "mcp-nc":
        return says(tool, ["mcp-nc", "@ev", "tools", "--types"], r'interface Tools.*"get-sum".*"a": number')
    tool.run(tool.name, *of(tool, mcporter=["emit-ts", "ev", "--mode", "types", "--out", out]))
    return out.exists()
