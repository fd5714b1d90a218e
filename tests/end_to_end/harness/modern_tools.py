"""What the scripted server offers, in either era: tools, resources, prompts.

A tool is `async def tool(server, exchange, arguments)` and returns a result; or ends the exchange and returns None."""

import asyncio
import json

from .modern_protocol import LEVELS, TASKS
from .modern_rules import Refused


def schema(properties=None, **more):
    return {"type": "object", "properties": properties or {}, **more}


STRING, INTEGER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}

QUESTIONS = {
    "elicitation": {"method": "elicitation/create", "params": {
        "mode": "form", "message": "Who?", "requestedSchema": schema({"name": STRING}, required=["name"])}},
    "url": {"method": "elicitation/create", "params": {
        "mode": "url", "message": "Open it", "url": "https://example.com/consent"}},
    "sampling": {"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}], "maxTokens": 10}},
    "roots": {"method": "roots/list", "params": {}},
}
# A legacy URL elicitation names itself (2025-11-25, elicitation).
LEGACY_URL_ID = "consent-1"

TOOLS = [
    {"name": "echo", "description": "Says it again", "inputSchema": schema({"message": STRING})},
    {"name": "slow", "description": "Works in steps, with progress and log messages",
     "inputSchema": schema({"steps": INTEGER, "delayMs": INTEGER})},
    {"name": "hold", "description": "Works until the test lets it end", "inputSchema": schema({"key": STRING})},
    {"name": "log", "description": "Says one message of each level", "inputSchema": schema()},
    {"name": "ask", "description": "Asks the client, in rounds",
     "inputSchema": schema({"kinds": {"type": "array", "items": STRING}, "rounds": INTEGER, "state": FLAG})},
    {"name": "change", "description": "Changes what the server offers", "inputSchema": schema({"kind": STRING, "uri": STRING})},
    {"name": "task", "description": "A task where the client takes one", "inputSchema": schema({"ask": FLAG})},
    {"name": "fail", "description": "Fails", "inputSchema": schema()},
    {"name": "regional", "description": "Mirrors arguments into headers", "inputSchema": schema({
        "region": {**STRING, "x-mcp-header": "Region"}, "count": {**INTEGER, "x-mcp-header": "Count"},
        "note": STRING, "deep": schema({"flag": {**FLAG, "x-mcp-header": "Flag"}})})},
    {"name": "wrong-empty", "inputSchema": schema({"a": {**STRING, "x-mcp-header": ""}})},
    {"name": "wrong-token", "inputSchema": schema({"a": {**STRING, "x-mcp-header": "two words"}})},
    {"name": "wrong-line", "inputSchema": schema({"a": {**STRING, "x-mcp-header": "A\r\nEvil: 1"}})},
    {"name": "wrong-twice", "inputSchema": schema({"a": {**STRING, "x-mcp-header": "One"}, "b": {**STRING, "x-mcp-header": "oNE"}})},
    {"name": "wrong-number", "inputSchema": schema({"a": {"type": "number", "x-mcp-header": "A"}})},
    {"name": "wrong-object", "inputSchema": schema({"a": {"type": "object", "x-mcp-header": "A"}})},
    {"name": "wrong-items", "inputSchema": schema({"a": {"type": "array", "items": {**STRING, "x-mcp-header": "A"}}})},
    {"name": "wrong-choice", "inputSchema": schema({"b": STRING}, oneOf=[{"properties": {"a": {**STRING, "x-mcp-header": "A"}}}])},
]
WRONG = [tool["name"] for tool in TOOLS if tool["name"].startswith("wrong-")]
RIGHT = [tool["name"] for tool in TOOLS if not tool["name"].startswith("wrong-")]

RESOURCES = [{"uri": "demo://one", "name": "one", "mimeType": "text/plain"},
             {"uri": "demo://zwei ü", "name": "two", "mimeType": "text/plain"},
             {"uri": "ask://elicitation", "name": "asks first", "mimeType": "text/plain"}]
PROMPTS = [{"name": "greet", "arguments": [{"name": "whom", "required": True}]},
           {"name": "ask", "arguments": []}]


def said(words):
    return {"content": [{"type": "text", "text": words if isinstance(words, str) else json.dumps(words)}]}


async def echo(_, __, arguments):
    return said(str(arguments.get("message", "")))


async def slow(_, exchange, arguments):
    steps = arguments.get("steps", 3)
    for step in range(1, steps + 1):
        try:
            await asyncio.wait_for(exchange.gone.wait(), arguments.get("delayMs", 5) / 1000)
            return None
        except asyncio.TimeoutError:
            pass
        await exchange.progress(step, steps)
        await exchange.log("info", f"step {step}")
        await exchange.log("debug", f"detail of step {step}")
    return said(f"done after {steps} steps")


async def hold(server, exchange, arguments):
    await exchange.comment("begun")
    key = arguments.get("key", "")
    server.held[key] = exchange
    gate = server.gates.setdefault(key, asyncio.Event())
    waits = [asyncio.ensure_future(one.wait()) for one in (gate, exchange.gone)]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for one in waits:
        one.cancel()
    server.held.pop(key, None)
    server.gates.pop(key, None)
    if exchange.gone.is_set():
        return None
    return said(f"released {key}")


async def log(_, exchange, __):
    for level in LEVELS:
        await exchange.log(level, f"one at {level}")
    return said("logged")


async def ask(server, exchange, arguments):
    kinds = arguments.get("kinds", ["elicitation"])
    answers = await server.questions(exchange, kinds, arguments.get("rounds", 1), arguments.get("state", True))
    return None if answers is None else said({"answers": answers})


async def change(server, _, arguments):
    kind = arguments.get("kind", "tools")
    if kind == "resource":
        await server.publish("notifications/resources/updated", {"uri": arguments.get("uri", "demo://one")})
    else:
        await server.publish(f"notifications/{kind}/list_changed", {})
    return said("changed " + kind)


async def task(server, exchange, arguments):
    if not exchange.modern or TASKS not in exchange.capabilities.get("extensions", {}):
        return said("done at once")
    return {**server.tasks.create(exchange, arguments.get("ask", False)), "resultType": "task"}


async def fail(_, __, ___):
    return {**said("it failed"), "isError": True}


async def regional(_, __, arguments):
    return said(arguments)


CODE = {"echo": echo, "slow": slow, "hold": hold, "log": log, "ask": ask, "change": change, "task": task, "fail": fail,
        "regional": regional}


async def call(server, exchange):
    name = exchange.params.get("name")
    if not any(tool["name"] == name for tool in server.tools):
        raise Refused(-32602, f"Unknown tool: {name}", 200)
    return await CODE.get(name, echo)(server, exchange, exchange.params.get("arguments") or {})
