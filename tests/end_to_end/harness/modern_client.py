"""Scripted clients of 2026-07-28 that judge all that comes: over the Unix socket, and over HTTP.

    client = ModernClient(path); client = ModernFace(face)
    client.ask("tools/call", {"name": "echo", "arguments": {}})            # the response, judged
    client.ask("tools/call", params, capabilities={"elicitation": {}}, log_level="info", token="t")
    listen = client.listen(toolsListChanged=True); listen.next(); listen.close()
    client.assert_clean()

What is demanded: "Overview" (resultType, ids, error codes), "Caching", "Subscriptions" (acknowledgement first, nothing that
was not asked for, subscriptionId), "Logging", "Progress", "Multi Round-Trip Requests", "Streamable HTTP"."""

import json
import select
import time

from .face import BOTH
from .modern_protocol import (ACKNOWLEDGED, ASKED_FOR, CACHEABLE, CANCELLED, CAPABILITIES, CLIENT_INFO, EVENTS, LEVELS, LOG_LEVEL,
                              MAY_ASK, MESSAGE, PROGRESS, PROTOCOL_VERSION, SUBSCRIPTION_ID, TASKS, VERSION, annotations,
                              encoded, header_text, mirrored_name, value_at, wants)
from .socket_client import Client
from .waiting import DEADLINE

INFO = {"name": "scripted-client", "version": "1"}
ANSWERS = {"elicitation": {"action": "accept", "content": {"name": "Ada"}}, "url": {"action": "accept"},
           "sampling": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}},
           "roots": {"roots": [{"uri": "file:///here"}]}}


class Judge:
    """Knows what one client has asked, and judges what it is told."""

    def __init__(self):
        self.violations = []
        self.asked = {}          # id as JSON: the request, while it has no response
        self.listens = {}        # id as JSON: Subscription

    def assert_clean(self):
        assert not self.violations, "\n".join(self.violations)

    def _wrong(self, what, message):
        self.violations.append(f"{what}: {json.dumps(message)[:400]}")

    def message(self, message, stream_of=None):
        """`stream_of`: the request on whose response it came, where there are such streams."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._wrong("no message", message)
        elif "method" in message and "id" in message:
            self._wrong("a server sends no requests", message)
        elif "method" in message:
            self.notification(message, stream_of)
        else:
            self.response(message, stream_of)

    def notification(self, message, stream_of):
        method, params = message["method"], message.get("params") or {}
        candidates = [stream_of] if stream_of else list(self.asked.values())
        if method == PROGRESS:
            if not any(_meta(one).get("progressToken") == params.get("progressToken") is not None for one in candidates):
                self._wrong("progress that nobody asked for", message)
        elif method == MESSAGE:
            levels = [_meta(one)[LOG_LEVEL] for one in candidates if LOG_LEVEL in _meta(one)]
            if not any(LEVELS.index(params.get("level")) >= LEVELS.index(one) for one in levels):
                self._wrong("a log message below what was asked for", message)
        else:
            self._of_a_listen(method, params, message, stream_of)

    def _of_a_listen(self, method, params, message, stream_of):
        id = json.dumps((params.get("_meta") or {}).get(SUBSCRIPTION_ID))
        listen = self.listens.get(id)
        if listen is None:
            self._wrong("a notification of no subscription of ours", message)
            return
        if stream_of and json.dumps(stream_of["id"]) != id:
            self._wrong("a notification on the stream of another subscription", message)
        if listen.ended:
            self._wrong("a notification after the end of its subscription", message)
        if method.startswith("notifications/events/"):
            listen.came.append(message)
        elif method == CANCELLED:
            if params.get("requestId") != listen.id:
                self._wrong("a cancellation of something else", message)
            listen.ended = "cancelled"
        elif method == ACKNOWLEDGED:
            if listen.acknowledged is not None:
                self._wrong("a second acknowledgement", message)
            listen.acknowledged = params.get("notifications")
            if not within(listen.acknowledged, listen.filter):
                self._wrong("more acknowledged than was asked for", message)
        elif listen.acknowledged is None:
            self._wrong("a notification before the acknowledgement", message)
        elif not wants(listen.acknowledged, method, params):
            self._wrong("a notification that was not asked for", message)
        else:
            listen.came.append(message)

    def response(self, message, stream_of):
        request = self.asked.pop(json.dumps(message.get("id")), None)
        if request is None:
            if message.get("id") is not None or "error" not in message:
                self._wrong("a response to nothing", message)
            return
        if stream_of and stream_of is not request:
            self._wrong("a response on the stream of another request", message)
        if ("result" in message) == ("error" in message):
            self._wrong("neither a result nor an error", message)
        elif "error" in message:
            self._error(message)
        else:
            self._result(request, message)

    def _error(self, message):
        error = message["error"]
        if not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
            self._wrong("an error without code or message", message)
        elif error["code"] in (-32002, -32042):
            self._wrong("an error code that this revision forbids", message)
        elif -32099 <= error["code"] <= -32020 and error["code"] not in (-32020, -32021, -32022):
            self._wrong("an error code of the specification that it does not define", message)

    def _result(self, request, message):
        result, method = message["result"], request["method"]
        kinds = {"complete", "input_required"}
        if TASKS in capabilities_of(request).get("extensions", {}):
            kinds.add("task")
        kind = result.get("resultType")
        if kind not in kinds:
            self._wrong(f"the resultType {kind!r} of {method}", message)
        if kind == "complete" and method in CACHEABLE:
            if not isinstance(result.get("ttlMs"), int) or result["ttlMs"] < 0 or result.get("cacheScope") not in ("public", "private"):
                self._wrong(f"no caching hints for {method}", message)
        if kind == "input_required":
            self._asks(request, result, message)
        if method == "server/discover" and (VERSION not in result.get("supportedVersions", ()) or "capabilities" not in result):
            self._wrong("no discovery", message)
        listen = self.listens.get(json.dumps(request["id"]))
        if listen is not None:
            listen.ended = "graceful"
            if (result.get("_meta") or {}).get(SUBSCRIPTION_ID) != listen.id:
                self._wrong("the end of a subscription without its id", message)

    def _asks(self, request, result, message):
        if request["method"] not in MAY_ASK:
            self._wrong(f"{request['method']} must not ask", message)
        if "inputRequests" not in result and "requestState" not in result:
            self._wrong("input_required without requests or state", message)
        for question in result.get("inputRequests", {}).values():
            capability = ASKED_FOR.get(question.get("method"))
            if capability not in capabilities_of(request):
                self._wrong(f"asked for {capability}, which the request does not declare", message)
            if "id" in question:
                self._wrong("a question with an id", message)


class Subscription:
    def __init__(self, client, id, filters, connection=None):
        self.client, self.id, self.filter, self.connection = client, id, filters, connection
        self.acknowledged, self.ended = None, None
        self.came, self.read = [], 0

    def next(self):
        """The next notification that was asked for."""
        self.client.until(lambda: len(self.came) > self.read or self.ended, self)
        assert len(self.came) > self.read, f"the listen has ended: {self.ended}"
        self.read += 1
        return self.came[self.read - 1]

    def rest(self):
        """What came and was not read; nothing is waited for."""
        part, self.read = self.came[self.read:], len(self.came)
        return part

    def close(self):
        self.client.close_listen(self)


class Asker:
    """What both clients can do. `send_request(message)` and `until(condition, what)` are theirs."""

    def __init__(self):
        self.judge = Judge()
        self.next_id = 100
        self.capabilities = {}

    @property
    def violations(self):
        return self.judge.violations

    def assert_clean(self):
        self.judge.assert_clean()

    def meta(self, capabilities=None, log_level=None, token=None):
        meta = {PROTOCOL_VERSION: VERSION, CLIENT_INFO: INFO,
                CAPABILITIES: self.capabilities if capabilities is None else capabilities}
        if log_level:
            meta[LOG_LEVEL] = log_level
        if token is not None:
            meta["progressToken"] = token
        return meta

    def made(self, method, params=None, id=None, **meta):
        if id is None:
            self.next_id += 1
            id = self.next_id
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": self.meta(**meta)}}
        self.judge.asked[json.dumps(id)] = message
        return message

    def call_tool(self, tool, arguments=None, **how):
        return self.ask("tools/call", {"name": tool, "arguments": arguments or {}}, **how)

    def retry(self, request, response, answers=ANSWERS, **how):
        """The request again, with an answer to each question of an `input_required` and its state."""
        result = response["result"]
        params = {key: value for key, value in request["params"].items() if key not in ("_meta", "inputResponses", "requestState")}
        if "inputRequests" in result:
            params["inputResponses"] = {key: answers[_kind(question)] for key, question in result["inputRequests"].items()}
        if "requestState" in result:
            params["requestState"] = result["requestState"]
        message = self.made(request["method"], params, **how)
        return message, self.exchange(message)

    def with_answers(self, tool, arguments, capabilities, answers=ANSWERS, rounds=16):
        """Calls, and answers as long as it is asked: (the last response, how often it was asked)."""
        message = self.made("tools/call", {"name": tool, "arguments": arguments}, capabilities=capabilities)
        response = self.exchange(message)
        for asked in range(rounds):
            if "result" not in response or response["result"].get("resultType") != "input_required":
                return response, asked
            message, response = self.retry(message, response, answers, capabilities=capabilities)
        raise AssertionError(f"asked more than {rounds} times")


class ModernClient(Client, Asker):
    """Over the Unix socket. `others`: the notifications of requests, in the order they came."""

    def __init__(self, path, **how):
        Client.__init__(self, path, **how)
        Asker.__init__(self)
        self.responses = {}

    def begin(self, method, params=None, **how):
        """Sends a request and does not wait: its id."""
        message = self.made(method, params, **how)
        self.send(message)
        return message["id"]

    def ask(self, method, params=None, **how):
        return self.exchange(self.made(method, params, **how))

    def exchange(self, message):
        self.send(message)
        return self.response(message["id"])

    def response(self, id):
        key = json.dumps(id)
        self.until(lambda: key in self.responses, f"the response to {key}")
        return self.responses.pop(key)

    def take(self):
        """Reads one message and gives it to whom it belongs to."""
        message = self.line()
        self.judge.message(message)
        if "method" not in message:
            self.responses[json.dumps(message.get("id"))] = message
        elif message["method"] in (PROGRESS, MESSAGE):
            self.others.append(message)

    def until(self, condition, what):
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"never came: {what}"
            self.take()

    def fence(self):
        """Reads all that came before an answer that is asked for now; what of it was not read yet is returned."""
        self.others = []
        self.ask("server/discover")
        before, self.others = self.others, []
        return before

    def quiet(self, seconds=0.05):
        """That there is nothing to read; no proof, a help where no answer can be asked for."""
        return not self.buffer and not select.select([self.socket], [], [], seconds)[0]

    def listen(self, id=None, capabilities=None, **filters):
        message = self.made("subscriptions/listen", {"notifications": filters}, id, capabilities=capabilities)
        return self._listens(message, filters)

    def stream_events(self, name, id=None, **params):
        """`events/stream` of the events extension."""
        message = self.made("events/stream", {"name": name, **params}, id, capabilities={"extensions": {EVENTS: {}}})
        self.judge.listens[json.dumps(message["id"])] = one = Subscription(self, message["id"], {})
        self.send(message)
        return one

    def _listens(self, message, filters):
        self.judge.listens[json.dumps(message["id"])] = one = Subscription(self, message["id"], filters)
        self.send(message)
        self.until(lambda: one.acknowledged is not None or one.ended or json.dumps(one.id) in self.responses, "acknowledgement")
        return one

    def close_listen(self, listen):
        listen.ended = listen.ended or "local"
        self.cancel(listen.id)
        self.judge.listens.pop(json.dumps(listen.id), None)

    def cancel(self, id):
        self.judge.asked.pop(json.dumps(id), None)
        self.send({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": id}})


class ModernFace(Asker):
    """Over HTTP: each request is a POST of its own, with the mirrored headers. `face`: harness.face.Face."""

    def __init__(self, face):
        super().__init__()
        self.face = face
        self.tools = {}
        self.others = []
        self.open = []

    def headers(self, message):
        params = message["params"]
        headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": message["method"]}
        name = mirrored_name(message["method"], params)
        if name is not None:
            headers["Mcp-Name"] = encoded(name)
        if message["method"] == "tools/call":
            for header, path in self.tools.get(params["name"], {}).items():
                value = value_at(params.get("arguments") or {}, path)
                if value is not None:
                    headers["Mcp-Param-" + header] = encoded(header_text(value))
        return headers

    def post(self, message, headers=None):
        """The response as it begins: an EventSource with `status`."""
        source = self.face.post_stream(message, accept=BOTH, headers=self.headers(message) if headers is None else headers)
        for name in ("mcp-session-id",):
            if source.headers.get(name):
                self.judge._wrong("a session id", {name: source.headers[name]})
        return source

    def ask(self, method, params=None, **how):
        return self.exchange(self.made(method, params, **how))

    def begin(self, method, params=None, **how):
        """Sends a request and does not read its answer: the stream, once its head has come."""
        return self.post(self.made(method, params, **how))

    def exchange(self, message, headers=None):
        """The response; what came before it on its stream goes to `others`."""
        source = self.post(message, headers)
        try:
            response = self._read(source, message)
        finally:
            source.close()
        expected = {-32601: 404, -32020: 400, -32021: 400, -32022: 400}.get(response.get("error", {}).get("code"))
        if expected and source.status not in (expected, 200 if _streams(source) else expected):
            self.judge._wrong(f"HTTP {source.status} where it must be {expected}", response)
        if message["method"] == "tools/list" and "result" in response:
            self._learns(response["result"]["tools"])
        return response

    def _learns(self, tools):
        for tool in tools:
            try:
                self.tools[tool["name"]] = annotations(tool["inputSchema"])
            except ValueError:
                pass  # a client of HTTP leaves a tool with invalid annotations out

    def _read(self, source, message):
        if not _streams(source):
            response = json.loads(source.response.read())
            self.judge.message(response, message)
            if response.get("id") != message["id"]:
                self.judge._wrong("a body that answers something else", response)
            return response
        while True:
            came = source.message()
            self.judge.message(came, message)
            if "method" not in came:
                return came
            self.others.append(came)

    def listen(self, id=None, capabilities=None, **filters):
        return self._streams_for(self.made("subscriptions/listen", {"notifications": filters}, id, capabilities=capabilities), filters,
                                 lambda one: one.acknowledged is not None)

    def stream_events(self, name, id=None, **params):
        message = self.made("events/stream", {"name": name, **params}, id, capabilities={"extensions": {EVENTS: {}}})
        return self._streams_for(message, {}, lambda one: True)

    def _streams_for(self, message, filters, ready):
        source = self.post(message)
        one = Subscription(self, message["id"], filters, source)
        self.judge.listens[json.dumps(one.id)] = one
        self.open.append(source)
        one.message = message
        if not _streams(source):
            response = json.loads(source.response.read())
            self.judge.message(response, message)
            raise AssertionError(f"no stream: {source.status} {response}")
        self.until(lambda: ready(one) or one.ended, one)
        return one

    def until(self, condition, listen):
        while not condition():
            event = listen.connection.event()
            if event is None:
                listen.ended = listen.ended or "sudden"
                return
            self.judge.message(json.loads(event["data"]), listen.message)

    def close_listen(self, listen):
        listen.ended = listen.ended or "local"
        self.judge.asked.pop(json.dumps(listen.id), None)
        listen.connection.close()

    def close(self):
        for source in self.open:
            source.close()


def _streams(source):
    return (source.headers.get("content-type") or "").startswith("text/event-stream")


def _meta(request):
    return request["params"]["_meta"]


def capabilities_of(request):
    return _meta(request)[CAPABILITIES]


def _kind(question):
    if question["method"] == "elicitation/create":
        return "url" if question["params"].get("mode") == "url" else "elicitation"
    return {"sampling/createMessage": "sampling", "roots/list": "roots"}[question["method"]]


def within(part, whole):
    """Whether a filter asks for no more than another."""
    for field, value in (part or {}).items():
        if isinstance(value, list):
            if not set(value) <= set(whole.get(field, ())):
                return False
        elif value and not whole.get(field):
            return False
    return True
