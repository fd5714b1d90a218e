"""What a server says and asks meanwhile, and calls that outlive their command."""

import concurrent.futures
import contextlib
import re
import time


from .aspects import Absent, aspect, of, says
from .asking import log_level

ROW = "what comes meanwhile"


def long_call(tool, seconds, pattern):
    words = tool.call_words("trigger-long-running-operation", *tool.pairs(duration=seconds, steps=2))
    return tool.on_terminal(words, pattern).has(pattern)


@aspect(ROW, "progress")
def progress(tool):
    return long_call(tool, 2, r"50 ?%|1/2")


@aspect(ROW, "the server's log")
def log_messages(tool):
    with contextlib.suppress(Absent):
        log_level(tool)
    tool.call("toggle-simulated-logging")
    try:
        return long_call(tool, 13, r"(?i)-level message")
    finally:
        tool.call("toggle-simulated-logging")


@aspect(ROW, "changed lists")
def list_changed(tool):
    words = tool.call_words("gzip-file-as-resource", *tool.pairs(name=f"x{time.time_ns()}.gz", data="data:text/plain,hi"))
    return tool.on_terminal(words).has(r"(?i)list.?changed|resources?[^\n]*(changed|now)")


@aspect(ROW, "later, to whoever asks", r"\blisten\b|logging/tail")
def later(tool):
    words = of(tool, mcp_nc=["@ev", "listen", "--for", "15s", "--count", "1"], mcpdo=["@ev", "logging/tail"])
    tool.call("toggle-simulated-logging")
    try:
        return tool.on_terminal([tool.name, *words], r"(?i)-level message").has(r"(?i)-level message")
    finally:
        tool.call("toggle-simulated-logging")


@aspect(ROW, "every message, as it passes", r"\bmonitor\b|--trace")
def monitor(tool):
    words = of(tool, mcp_nc=["mcp-nc", "@ev", "monitor", "--for", "8s", "--count", "12"])
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        shown = pool.submit(tool.run, *words)
        while not shown.done():
            tool.call("echo", message="seen")
            time.sleep(0.2)
        return shown.result().has("tools/call.*seen")

ROW = "questions of the server"


@aspect(ROW, "a form at the terminal")
def form(tool):
    return tool.on_terminal(tool.call_words("trigger-elicitation-request"), "legal name").has("legal name")


@aspect(ROW, "a page to open")
def page_to_open(tool):
    words = tool.call_words("trigger-url-elicitation", *tool.pairs(url="https://example.com/x", message="because"))
    return tool.on_terminal(words, "because.*https://example.com/x").has("because.*https://example.com/x")


def ask_later(tool):
    """(what identifies the question, how it is declined)"""
    if tool.name == "mcpdo":
        asked = re.search(r"elicitation-[0-9a-f-]{36}", tool.call("trigger-elicitation-request").text)[0]
        return ["mcpdo", "elicitation/respond", asked, "--decline"]
    of(tool, mcp_nc=True)
    job = tool.run("mcp-nc", "@ev", "call", "--detach", "trigger-elicitation-request").out.strip()
    tool.run("mcp-nc", "@ev", "wait", job)
    return ["mcp-nc", "@ev", "answer", job, "--decline"]


@aspect(ROW, "answered later by another command", "elicit|answer")
def answered_later(tool):
    words = ask_later(tool)
    answered = tool.run(*words)
    if tool.name == "mcp-nc":
        answered = tool.run("mcp-nc", "@ev", "wait", words[3])
    return answered.has("(?i)declined")


@aspect(ROW, "with other calls in the meantime", "elicit|answer")
def others_meanwhile(tool):
    words = ask_later(tool)
    try:
        return tool.call("echo", message="free").has("Echo: free")
    finally:
        tool.run(*words)


@aspect(ROW, "a plain call without a terminal says how to answer", "elicit|answer")
def says_how_to_answer(tool):
    of(tool, mcp_nc=True, mcpdo=True)
    said = tool.call("trigger-elicitation-request")
    asked = re.search(r"elicitation-[0-9a-f-]{36}", said.text)
    if asked:
        tool.run("mcpdo", "elicitation/respond", asked[0], "--decline")
    return said.has(r"elicitation/respond|mcp-nc[^\n]*(answer|--detach)")

ROW = "detached calls"
DETACHED = r"--detach|--task\b|in the background"


@aspect(ROW, "of any tool", DETACHED)
def detached(tool):
    option = of(tool, mcp_nc="--detach", mcpdo="--task", mcpc="--detach")
    begun = tool.run(*tool.call_words("trigger-long-running-operation", *tool.pairs(duration=3, steps=1), option))
    if begun.has("completed"):
        return False
    job = re.search("[0-9a-f-]{20,}", begun.out)
    return bool(job) and of(tool, mcp_nc=lambda: says(tool, ["mcp-nc", "@ev", "wait", job[0]], "completed"),
                            mcpc=lambda: says(tool, ["mcpc", "@ev", "tasks-result", job[0]], "completed"))()


@aspect(ROW, "of a tool that only runs as a task", DETACHED)
def detached_task(tool):
    option = of(tool, mcp_nc="--detach", mcpdo="--task", mcpc="--detach")
    begun = tool.run(*tool.call_words("simulate-research-query", *tool.pairs(topic="x"), option))
    if tool.name == "mcp-nc":
        begun = tool.run("mcp-nc", "@ev", "wait", begun.out.strip())
        return begun.code == 0
    return begun.code == 0 and begun.has(r"(?i)research|task started")


@aspect(ROW, "at most once for a key", r"--key\b|idempotency")
def keyed(tool):
    of(tool, mcp_nc=True)
    jobs = {tool.run("mcp-nc", "@ev", "call", "--detach", "--key", "k1", "echo", "message=x").out for _ in range(2)}
    return len(jobs) == 1
