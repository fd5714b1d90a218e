"""A local MCP server over stdio that does on request what a good one never does.

Flags: --banner (prints a line that is no message first), --crash (ends at once with code 7),
--ignore-term, --linger (does not end when its stdin is closed), --asks (asks for roots as soon as it may, and makes
tasks of calls; its tools `ask`, `answers`, `declared`, `roots` and `work` are listed then).
Tools: the text of the answer is what the tool says it is.
"""

import json
import os
import signal
import subprocess
import sys
import time


def write(message):
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def sleeper(own_session):
    """A process that never ends by itself and holds our stdout."""
    child = subprocess.Popen(["sleep", "100000"], start_new_session=own_session)
    return child.pid


def crash(_):
    os._exit(3)


def die(arguments):
    os.kill(os.getpid(), arguments.get("signal", signal.SIGKILL))


def orphan(arguments):
    """A grandchild whose parent has ended: nobody but a subreaper knows of it."""
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.write(write_end, str(sleeper(arguments.get("session", True))).encode())
        os._exit(0)
    os.wait()
    return os.read(read_end, 100).decode()


def flood_stderr(arguments):
    for n in range(arguments["lines"]):
        sys.stderr.write(f"flood {n} " + "x" * 200 + "\n")
    sys.stderr.flush()
    return "flooded"


def print_garbage(arguments):
    sys.stdout.write(arguments["text"] + "\n")
    sys.stdout.flush()
    return "printed"


def stop_reading(_):
    write({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "deaf"}})
    while True:
        time.sleep(1000)


def close_stdout(_):
    os.close(1)
    while True:
        time.sleep(1000)


def big(arguments):
    return "x" * arguments["bytes"]


def environment(arguments):
    return json.dumps({name: value for name, value in os.environ.items() if name.startswith(tuple(arguments["names"]))})


def progress(arguments, token=None):
    for step in range(1, arguments["steps"] + 1):
        write({"jsonrpc": "2.0", "method": "notifications/progress",
               "params": {"progressToken": token, "progress": step, "total": arguments["steps"]}})
    return "done"


def emit(arguments):
    write(arguments["message"])
    return "emitted"


def seen(_):
    """The line of this very request, as it came."""
    return LINE


def silent(_):
    """No answer at all."""


def heard(_):
    """What came last that is no tool's call."""
    return HEARD


# Of --asks.

ROOTS, TASKS, DECLARED, ANSWERS = [], {}, {}, []


def ask(_):
    """The call is never answered, and what is asked is not withdrawn if it is cancelled."""
    write({"jsonrpc": "2.0", "id": "question", "method": "elicitation/create",
           "params": {"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}}})


def as_task(_):
    task = {"taskId": f"t{len(TASKS) + 1}", "status": "working", "statusMessage": "under way", "ttl": 60000,
            "createdAt": "2026-01-02T03:04:05Z", "lastUpdatedAt": "2026-01-02T03:04:05Z", "pollInterval": 100}
    TASKS[task["taskId"]] = task
    return {"task": task}


def of_task(method, task):
    if method == "tasks/result":
        task["status"] = "completed"
        return {"content": [{"type": "text", "text": "the work is done"}]}
    if method == "tasks/cancel":
        task["status"] = "cancelled"
    return task


def result_of(method, params):
    """None: as without --asks."""
    if method == "initialize":
        DECLARED.update(params["capabilities"])
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "asks", "version": "1"},
                "capabilities": {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ASKING]}
    if method == "tools/call" and "task" in params:
        return as_task(params)
    if method == "tasks/list":
        return {"tasks": list(TASKS.values())}
    return of_task(method, TASKS[params["taskId"]]) if method.startswith("tasks/") else None


def asks(message):
    """Whether it was handled here."""
    method, id = message.get("method"), message.get("id")
    if method is None:
        result = message.get("result", {})
        if id == "question":
            ANSWERS.append(result.get("action", "an error"))
        else:
            ROOTS[:] = [root["uri"] for root in result.get("roots", [])]
        return True
    if method in ("notifications/initialized", "notifications/roots/list_changed") and "roots" in DECLARED:
        write({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"})
    if id is None:
        return True
    try:
        result = result_of(method, message.get("params") or {})
    except KeyError:
        write({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no such task"}})
        return True
    if result is not None:
        answer(id, result)
    return result is not None


ASKING = {
    "ask": ask,
    "answers": lambda _: " ".join(ANSWERS),
    "declared": lambda _: " ".join(sorted(DECLARED)),
    "roots": lambda _: " ".join(ROOTS) or "none",
    "work": lambda _: "done",
}

LINE = ""
HEARD = ""

TOOLS = {
    "echo": lambda arguments: arguments["message"],
    "pid": lambda _: str(os.getpid()),
    "where": lambda _: os.getcwd(),
    "arguments": lambda _: json.dumps(sys.argv[1:]),
    "grandchild": lambda _: str(sleeper(False)),
    "orphan": orphan,
    "crash": crash,
    "die": die,
    "flood-stderr": flood_stderr,
    "garbage": print_garbage,
    "stop-reading": stop_reading,
    "close-stdout": close_stdout,
    "big": big,
    "environment": environment,
    "emit": emit,
    "seen": seen,
    "silent": silent,
    "heard": heard,
    **ASKING,
}


def answer(id, result):
    write({"jsonrpc": "2.0", "id": id, "result": result})


def handle(message):
    method, id = message.get("method"), message.get("id")
    if "--asks" in sys.argv and asks(message):
        return
    if method == "initialize":
        answer(id, {"protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}},
                    "serverInfo": {"name": "wayward", "version": "1"}})
    elif method == "tools/call":
        arguments = message["params"].get("arguments", {})
        if message["params"]["name"] == "raw":
            # These very bytes, with our id in them.
            text = arguments["text"].replace("x" * 1000, "x" * 1000 * arguments.get("times", 1))
            sys.stdout.write(text.replace("$ID", str(id)) + "\n")
            sys.stdout.flush()
            return
        if message["params"]["name"] == "progress":
            text = progress(arguments, message["params"]["_meta"]["progressToken"])
        else:
            text = TOOLS[message["params"]["name"]](arguments)
        if text is not None:
            answer(id, {"content": [{"type": "text", "text": text}]})
    elif method == "resources/read" and message["params"]["uri"] == "crash:once":
        # The next one finds the file that says that it was done.
        if not os.path.exists(os.environ["WAYWARD_CRASHED"]):
            open(os.environ["WAYWARD_CRASHED"], "w", encoding="ascii").close()
            os._exit(3)
        answer(id, {"contents": []})
    elif id is not None and method is not None:
        answer(id, {})


def main():
    if "--crash" in sys.argv:
        print("starting\nno account for", os.environ.get("SECRET"), file=sys.stderr, flush=True)
        os._exit(7)
    if "--ignore-term" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "--banner" in sys.argv:
        print("Welcome to the wayward server \x1b[31mv1", flush=True)
    global LINE, HEARD
    for LINE in sys.stdin:
        message = json.loads(LINE)
        if message.get("method") != "tools/call":
            HEARD = LINE
        handle(message)
    if "--linger" in sys.argv:
        while True:
            time.sleep(1000)


main()
