"""The extensions of the scripted server: tasks (io.modelcontextprotocol/tasks) and events (io.modelcontextprotocol/events)."""

from .modern_protocol import SUBSCRIPTION_ID, TASKS
from .modern_rules import Refused
from .modern_tools import QUESTIONS, said

EVENT = "notifications/events/event"
ACTIVE = "notifications/events/active"
TIME = "2026-07-28T00:00:00Z"


class Tasks:
    def __init__(self, server):
        self.server = server
        self.known = {}

    def create(self, _, asks):
        id = f"task {len(self.known) + 1} ü"  # what Mcp-Name can only say as Base64
        self.known[id] = {"taskId": id, "status": "input_required" if asks else "working", "createdAt": TIME,
                          "lastUpdatedAt": TIME, "ttlMs": 60000, "pollIntervalMs": 50,
                          **({"inputRequests": {"who": QUESTIONS["elicitation"]}} if asks else {})}
        return {key: value for key, value in self.known[id].items() if key != "inputRequests"}

    async def serve(self, exchange):
        if TASKS not in exchange.capabilities.get("extensions", {}):
            raise Refused(-32021, "Missing required client capability", 400,
                          {"requiredCapabilities": {"extensions": {TASKS: {}}}})
        task = self.known.get(exchange.params.get("taskId"))
        if task is None:
            raise Refused(-32602, "Unknown task", 200)
        if exchange.method == "tasks/get":
            return dict(task)
        if exchange.method == "tasks/cancel":
            await self.change(task["taskId"], status="cancelled")
        elif set(exchange.params.get("inputResponses", {})) >= set(task.get("inputRequests", {})):
            self.server.task_answers[task["taskId"]] = exchange.params.get("inputResponses")
            task.pop("inputRequests", None)
            await self.change(task["taskId"], status="working")
        return {}

    async def change(self, id, **fields):
        self.known[id].update(fields)
        await self.server.publish("notifications/tasks", dict(self.known[id]))

    async def complete(self, id, words):
        await self.change(id, status="completed", result=said(words))


class Events:
    """One event type, `deploy`, whose cursor is the number of events before it. `oldest`: what was kept."""

    def __init__(self):
        self.happened = []
        self.oldest = 0
        self.streams = []
        self.can_stream = True

    def occurrence(self, number):
        return {"eventId": f"deploy-{number}", "name": "deploy", "timestamp": TIME, "data": self.happened[number],
                "cursor": f"c{number + 1}"}

    async def happen(self, data):
        self.happened.append(data)
        for exchange in list(self.streams):
            await self._send(exchange, len(self.happened) - 1)

    async def _send(self, exchange, number):
        await exchange.notify(EVENT, {**self.occurrence(number), "_meta": {SUBSCRIPTION_ID: exchange.id}})

    def _since(self, cursor):
        """(first number, truncated); a missing or null cursor is now."""
        if cursor is None:
            return len(self.happened), False
        number = int(cursor[1:])
        return max(number, self.oldest), number < self.oldest

    async def serve(self, exchange):
        params = exchange.params
        if exchange.method == "events/list":
            return {"events": [{"name": "deploy", "description": "Something was deployed", "delivery": ["poll", "push"],
                                "inputSchema": {"type": "object"}, "payloadSchema": {"type": "object"}}]}
        if params.get("name") != "deploy":
            raise Refused(-32602, f"Unknown event: {params.get('name')}", 200)
        first, truncated = self._since(params.get("cursor"))
        if exchange.method == "events/poll":
            return {"events": [self.occurrence(number) for number in range(first, len(self.happened))],
                    "cursor": f"c{len(self.happened)}", "hasMore": False, "truncated": truncated, "nextPollMs": 1}
        if exchange.method == "events/stream" and not self.can_stream:
            raise Refused(-32014, "Unsupported delivery mode: push", 200)
        if exchange.method == "events/subscribe":
            return {"cursor": f"c{first}", "truncated": truncated, "refreshBefore": TIME}
        await exchange.notify(ACTIVE, {"cursor": f"c{first}", "truncated": truncated, "_meta": {SUBSCRIPTION_ID: exchange.id}})
        for number in range(first, len(self.happened)):
            await self._send(exchange, number)
        self.streams.append(exchange)
        try:
            await exchange.gone.wait()
        finally:
            self.streams.remove(exchange)
        return None
