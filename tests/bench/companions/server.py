"""The server of the everyday tasks, over stdio: `server.py LOG`; what it was asked is a line each of LOG."""

import json
import sys
import threading
import time

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXT, NUMBER = {"type": "string"}, {"type": "number"}
CUSTOMER = {"type": "object", "properties": {"name": TEXT, "age": NUMBER}, "required": ["name"]}


def tool(name, description, properties=None, required=(), **hints):
    schema = {"type": "object", "properties": properties or {}, "required": list(required), "additionalProperties": False}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


TOOLS = [
    tool("add", "Adds two numbers", {"a": NUMBER, "b": NUMBER}, ["a", "b"], readOnlyHint=True),
    tool("say", "Says a text again", {"text": TEXT}, ["text"], readOnlyHint=True),
    tool("join", "Joins texts with a plus sign", {"tags": {"type": "array", "items": TEXT}}, ["tags"], readOnlyHint=True),
    tool("order", "Orders something for a customer", {"customer": CUSTOMER, "count": NUMBER}, ["customer", "count"]),
    tool("fail", "Fails with a text"),
    tool("weather", "The weather as an object", readOnlyHint=True),
    tool("picture", "A picture of one pixel", readOnlyHint=True),
    tool("wait", "Takes some seconds and tells its progress", {"seconds": NUMBER}, ["seconds"], readOnlyHint=True),
    tool("ask", "Asks the user for a name"),
    tool("tick", "Makes the server tell of its clock for some seconds"),
    *(tool(f"manage_item_{n:02}", "Changes item number %d of the inventory, which is described at some length so that the "
           "line does not fit the width of a terminal" % n, {"id": TEXT, "amount": NUMBER}, ["id"], destructiveHint=n % 2 == 0,
           readOnlyHint=False) for n in range(30)),
]
RESOURCES = [{"uri": "ev://pixel", "name": "pixel", "mimeType": "image/png"}, {"uri": "ev://clock", "name": "clock"}]
WRITING = threading.Lock()
waiting, cancelled = {}, set()


def send(**message):
    with WRITING:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def told(method, **params):
    send(method=method, params=params)


def ticking():
    for n in range(60):
        told("notifications/message", level="warning", logger="clock", data=f"the clock shows {n}")
        told("notifications/resources/updated", uri="ev://clock")
        time.sleep(0.5)


def call(name, given, meta, call_id):
    def text(said, **more):
        return {"content": [{"type": "text", "text": said}], **more}
    if name == "add":
        return text(f"the sum is {given['a'] + given['b']:g}")
    if name == "say":
        return text(f"{type(given['text']).__name__} {given['text']}")
    if name == "join":
        return text("+".join(given["tags"]))
    if name == "order":
        return text(f"ordered {given['count']:g} for {given['customer']['name']}")
    if name == "fail":
        return text("the shelf is empty", isError=True)
    if name == "weather":
        value = {"town": "Oslo", "days": [{"temperature": 7, "sky": "grey"}]}
        return text(json.dumps(value), structuredContent=value)
    if name == "picture":
        return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}
    if name == "wait":
        for done in range(int(given["seconds"] * 2)):
            if call_id in cancelled:
                return None
            if "progressToken" in meta:
                told("notifications/progress", progressToken=meta["progressToken"], progress=done, total=given["seconds"] * 2,
                     message=f"step {done}")
            time.sleep(0.5)
        return text("waited long enough")
    if name == "ask":
        answered = waiting["question"] = threading.Event(), []
        schema = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
        send(id="question", method="elicitation/create", params={"message": "Who are you?", "requestedSchema": schema})
        answered[0].wait(60)
        return text(f"answered {json.dumps(answered[1])}")
    if name == "tick":
        threading.Thread(target=ticking, daemon=True).start()
        return text("ticking")
    return text(f"did {name}")


def answer(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "everyday-server", "version": "1.0"},
                "capabilities": {"tools": {}, "resources": {"subscribe": True}, "logging": {}}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "resources/list":
        return {"resources": RESOURCES}
    if method == "resources/templates/list":
        return {"resourceTemplates": []}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "mimeType": "image/png", "blob": PIXEL}]}
    if method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
        return {}
    if method == "tools/call" and params["name"] in [one["name"] for one in TOOLS]:
        return call(params["name"], params.get("arguments") or {}, params.get("_meta") or {}, request["id"])
    return None


def serve(request):
    try:
        result = answer(request)
    except (KeyError, TypeError, ValueError) as error:
        send(id=request["id"], error={"code": -32602, "message": f"invalid arguments: {error!r}"})
        return
    if result is None:
        send(id=request["id"], error={"code": -32601, "message": "not known, or cancelled"})
    else:
        send(id=request["id"], result=result)


def main():
    with open(sys.argv[1], "a", encoding="utf-8") as log:
        for line in sys.stdin:
            message = json.loads(line)
            log.write(line)
            log.flush()
            if message.get("id") == "question":
                waiting["question"][1].append(message.get("result") or message.get("error"))
                waiting["question"][0].set()
            elif message.get("method") == "notifications/cancelled":
                cancelled.add(message["params"]["requestId"])
            elif "id" in message and "method" in message:
                threading.Thread(target=serve, args=(message,), daemon=True).start()


if __name__ == "__main__":
    main()
