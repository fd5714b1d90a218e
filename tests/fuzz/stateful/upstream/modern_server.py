"""What a server of MCP 2026-07-28 says and does, however it is reached: no session, questions in results."""

from .server import dumps

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
CAPABILITY_FOR = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
REMOVED = ("initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel")


def is_removed(method):
    return method in REMOVED or method.startswith("tasks/")


def method_not_found(id):
    return {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}


def acknowledgement(message):
    return {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": message["params"]["notifications"], "_meta": {META + "subscriptionId": message["id"]}}}


class ModernServer:
    """Beside a Server: a carrier adds how it is sent and listened to."""

    used_states = None  # a client may retry twice; a server that acts is to take one of them

    def wrong_message(self, message):
        """Why it is none of this revision."""
        meta = (message.get("params") or {}).get("_meta") or {}
        if message.get("method") is None:
            return "a response"
        if "id" in message and (meta.get(META + "protocolVersion") != VERSION or META + "clientCapabilities" not in meta):
            return "no _meta"
        return None

    def notify(self, kind):
        return super().notify("updated" if kind == "log" else kind)

    def plain_result(self, message):
        if message["method"] == "server/discover":
            found = {"supportedVersions": [VERSION], "serverInfo": {"name": "fuzz", "version": "2"},
                     "capabilities": {**self.initialize_result()["capabilities"], "tools": {"listChanged": True}}}
        else:
            found = super().plain_result(message)
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **found}

    # Calls, and what they ask.

    async def call(self, message, outlet):
        self._of_this_revision(message, outlet)
        params = message["params"]
        key, plan = params["arguments"]["key"], params["arguments"]["plan"]
        if "requestState" in params:
            self.used_states = self.used_states or set()
            if params["requestState"] != self._state(key) or key in self.used_states:
                outlet.answer({"jsonrpc": "2.0", "id": message["id"],
                               "error": {"code": -32602, "message": "unknown state", "data": {"key": key}}})
                return
            self.used_states.add(key)
            self._answered(params.get("inputResponses") or {})
        elif self._asks(message, key, plan, outlet):
            return
        await super().call(message, outlet)

    @staticmethod
    def _state(key):
        return f"state of {key} \u00e9\\/\""

    @staticmethod
    def _of_this_revision(message, outlet):
        """Each result says what it is, and nobody is told log messages who did not ask for them."""
        answer, say = outlet.answer, outlet.message
        wants_logs = META + "logLevel" in message["params"]["_meta"]

        def typed(response):
            if "result" in response:
                response["result"].setdefault("resultType", "complete")
            answer(response)

        def filtered(notification):
            if wants_logs or notification["method"] != "notifications/message":
                say(notification)

        outlet.answer, outlet.message = typed, filtered

    def _asks(self, message, key, plan, outlet):
        """Whether it was answered with questions that its client has declared to answer."""
        declared = message["params"]["_meta"][META + "clientCapabilities"]
        asked = {}
        for step in plan["steps"]:
            if step[0] == "ask" and CAPABILITY_FOR.get(step[1]) in declared:
                question = self.ledger.question(step[1], key)
                question.moot = True  # whoever was asked may leave it
                asked[f"q\"{question.number}"] = {"method": step[1], "params": {"question": question.number}}
        if asked:
            self.note(f"asks in the result of {key}: {list(asked)}")
            outlet.answer({"jsonrpc": "2.0", "id": message["id"], "result": {
                "resultType": "input_required", "inputRequests": asked, "requestState": self._state(key)}})
        return bool(asked)

    def _answered(self, responses):
        for id, result in responses.items():
            question = self.ledger.questions[int(id.partition('"')[2])]
            self.note(f"is answered {question.number}: {result}")
            # What nobody answered is an elicitation that the user has cancelled.
            question.responses.append({"error": result} if result == {"action": "cancel"} else {"result": result})

    async def ask(self, method, outlet, key):
        """There are no requests of the server."""
