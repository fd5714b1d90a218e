"""What is read: help, the page for agents, errors."""

import json
import os
import re
import shutil

from tools import MODULES

from .aspects import aspect, of, says

ROW = "help"


@aspect(ROW, "of one verb")
def help_of_verb(tool):
    verb = of(tool, mcp_nc="call", mcpdo="tools/call", mcpc="tools-call", mcporter="call")
    shown = tool.run(tool.name, *tool.help_of_verb(verb))
    return shown.code == 0 and shown.has(re.escape(verb)) and not shown.has(r"\n\s+prompts")


@aspect(ROW, "with an example of it")
def help_with_example(tool):
    verb = of(tool, mcp_nc="call", mcpdo="tools/call", mcpc="tools-call", mcporter="call")
    return says(tool, [tool.name, *tool.help_of_verb(verb)], rf"{tool.name} [^\n]*{verb} [^\n]*\w+:?=\S")


@aspect(ROW, "in twenty lines at most")
def help_is_short(tool):
    verb = of(tool, mcp_nc="call", mcpdo="tools/call", mcpc="tools-call", mcporter="call")
    return len(tool.run(tool.name, *tool.help_of_verb(verb)).out.splitlines()) <= 20


@aspect(ROW, "a manual page")
def manual(tool):
    if tool.name == "mcp-nc":
        return tool.document("mcp-nc.1").exists()
    return "man" in json.loads((MODULES / tool.package / "package.json").read_text(encoding="utf-8"))

ROW = "for agents"
AGENTS = r"agent-help|for agents"


def agent_help(tool):
    return tool.run(tool.name, *of(tool, mcp_nc=["@ev", "agent-help"], mcpdo=["agent-help"]))


@aspect(ROW, "a page for a language model", AGENTS)
def for_agents(tool):
    return agent_help(tool).has(tool.name)


@aspect(ROW, "with the server and its tools in it", AGENTS)
def for_agents_server(tool):
    return agent_help(tool).has("get-sum")


@aspect(ROW, "in 1,500 tokens", AGENTS)
def for_agents_short(tool):
    return len(agent_help(tool).out) <= 4 * 1500


@aspect(ROW, "a skill that can be installed", "skill")
def skill(tool):
    words = of(tool, mcp_nc=["agent-help", "--skill", "--save", tool.home / "skills"], mcpdo=["agent-help", "--skill-path"])
    said = tool.run(tool.name, *words)
    return said.code == 0 and os.path.exists(said.out.strip()) and said.out.strip().endswith("SKILL.md")


@aspect(ROW, "output of limited length", "max-(bytes|chars)|truncat")
def limited(tool):
    option = of(tool, mcp_nc=["--max-bytes", "40"], mcpc=["--max-chars", "40"])
    return len(tool.run(*tool.call_words("get-env", options=option)).out) < 400


@aspect(ROW, "the whole of it kept in a file", "max-(bytes|chars)|truncat")
def limited_kept(tool):
    option = of(tool, mcp_nc=["--max-bytes", "40"], mcpc=["--max-chars", "40"])
    named = re.search(r"/[\w./-]+\.\w+", tool.run(*tool.call_words("get-env", options=option)).text)
    if not named or not os.path.exists(named[0]):
        return False
    shutil.rmtree(os.path.dirname(named[0]))
    return True


@aspect(ROW, "one value of a result", r"--(field|query|jq|select)\b")
def field(tool):
    option = of(tool, mcp_nc=["--field", "temperature"])
    return says(tool, tool.call_words("get-structured-content", *tool.pairs(location="Chicago"), options=option), r"^\d+\s*$")


ROW = "errors as JSON"


def failed(tool, verb="zzz", more=()):
    option = of(tool, mcp_nc=["--json"], mcpdo=["--format", "json"], mcpc=["--json"], mcporter=["--output", "json"])
    return tool.run(*tool.call_words(verb, *more, options=option))


@aspect(ROW, "the server's")
def json_of_server(tool):
    return any("error" in value or value.get("isError") for value in failed(tool).values())


@aspect(ROW, "wrong usage")
def json_of_usage(tool):
    return any("error" in value for value in failed(tool, "echo", ["--nothing"]).values())


@aspect(ROW, "the exit code too")
def json_exit_code(tool):
    return failed(tool).code != 0 and failed(tool, "echo", ["--nothing"]).code != 0


@aspect(ROW, "of which kind")
def json_kind(tool):
    value = next((value["error"] for value in failed(tool).values() if "error" in value), None)
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in ("kind", "code"))


@aspect(ROW, "whether the server got it", "delivered")
def json_delivered(tool):
    return '"delivered"' in of(tool, mcp_nc=failed)(tool).out
