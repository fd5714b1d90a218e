"""A local MCP server (2025-11-25) that asks for roots as soon as it may, and makes tasks of calls.

Its tool `roots` says which it knows, `declared` what the client has declared; `work` ends as a task when it is
asked for its result; `ask` asks a person, and `answers` says what was answered."""

import json
import sys

ROOTS = []
TASKS = {}
DECLARED = {}
ANSWERS = []


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def call(params):
    if "task" in params:
        task = {"taskId": f"t{len(TASKS) + 1}", "status": "working", "statusMessage": "under way", "ttl": 60000,
                "createdAt": "2026-01-02T03:04:05Z", "lastUpdatedAt": "2026-01-02T03:04:05Z", "pollInterval": 100}
        TASKS[task["taskId"]] = task
        return {"task": task}
    if params["name"] == "answers":
        return text(" ".join(ANSWERS))
    if params["name"] == "declared":
        return text(" ".join(sorted(DECLARED)))
    return text(" ".join(root["uri"] for root in ROOTS) or "none")


def of_task(method, params):
    task = TASKS[params["taskId"]]
    if method == "tasks/get":
        return task
    task["status"] = "completed" if method == "tasks/result" else "cancelled"
    return text("the work is done") if method == "tasks/result" else task


def answer(method, params):
    if method == "initialize":
        DECLARED.update(params["capabilities"])
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "roots and tasks", "version": "1"},
                "capabilities": {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("roots", "declared", "work", "ask", "answers")]}
    if method == "tools/call":
        return call(params)
    if method == "tasks/list":
        return {"tasks": list(TASKS.values())}
    return of_task(method, params) if method.startswith("tasks/") else {}


def take(message):
    method = message.get("method")
    if method in ("notifications/initialized", "notifications/roots/list_changed"):
        if "roots" in DECLARED:
            send(id="roots", method="roots/list")
    elif method is None and message["id"] == "question":
        ANSWERS.append(message.get("result", {}).get("action", "an error"))
    elif method is None:
        ROOTS[:] = message.get("result", {}).get("roots", [])
    elif method == "tools/call" and message["params"]["name"] == "ask":
        # Never answered; and what it asks is not withdrawn if it is cancelled.
        send(id="question", method="elicitation/create", params={"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}})
    elif "id" in message:
        try:
            send(id=message["id"], result=answer(method, message.get("params") or {}))
        except KeyError:
            send(id=message["id"], error={"code": -32602, "message": "no such task"})


for line in sys.stdin:
    take(json.loads(line))
