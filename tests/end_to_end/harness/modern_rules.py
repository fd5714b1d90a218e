"""What MCP 2026-07-28 demands of a client, judged on what a server receives.

`Rules` keeps what is needed to judge (ids in use, tokens in use, what was asked and with which state) and a list of
violations, each a sentence. It judges; what is answered is the server's. The pages: "Streamable HTTP", "stdio",
"Overview" (_meta, messages), "Multi Round-Trip Requests", "Cancellation", "Progress"."""

import json

from .modern_protocol import CANCELLED, CAPABILITIES, CLIENT_INFO, LEVELS, LOG_LEVEL, META_KEY, PROTOCOL_VERSION, REMOVED, annotations, decoded, header_text, mirrored_name, value_at


class Refused(Exception):
    """What the server must answer to a request that breaks a rule."""

    def __init__(self, code, message, status=400, data=None):
        super().__init__(message)
        self.code, self.message, self.status, self.data = code, message, status, data


class Rules:
    def __init__(self):
        self.violations = []
        self.advice = []           # what a client SHOULD have done
        self.in_flight = {}        # id as JSON: method
        self.seen_ids = set()
        self.initialized = False
        self.tokens = set()
        self.rounds = {}           # requestState: (id, method, params without its own, keys asked for)
        self.announced = {}        # tool: {header name: path}, as a client last saw it in tools/list
        self.current = {}          # the same as it is now

    def violation(self, text):
        self.violations.append(text)

    # The frame.

    def frame(self, message, over_http):
        """Whether the message is one that a client may send at all."""
        if not isinstance(message, dict):
            self.violation(f"a body that is no single message: {json.dumps(message)[:200]}")
            return False
        if message.get("jsonrpc") != "2.0":
            self.violation(f"no jsonrpc 2.0: {json.dumps(message)[:200]}")
        if "method" not in message:
            self.violation(f"a client must not send responses: {json.dumps(message)[:200]}")
            return False
        method, id = message["method"], message.get("id")
        if method in REMOVED:
            # A legacy client that does not know the server yet begins with it, and so may the bridge in its place, once.
            if method != "initialize" or self.initialized:
                self.violation(f"{method} is not in this revision")
            self.initialized = True
            return False
        if "id" not in message:
            if method == CANCELLED and not over_http:
                requested = json.dumps(message.get("params", {}).get("requestId"))
                if requested not in self.seen_ids:
                    self.violation(f"cancels {requested}, which was never asked")
            elif over_http:
                self.violation(f"{method}: no notification goes from client to server over HTTP")
            return True
        if isinstance(id, bool) or not isinstance(id, (str, int)):
            self.violation(f"{method}: {json.dumps(id)} is no id")
        if json.dumps(id) in self.in_flight:
            self.violation(f"{method}: id {json.dumps(id)} is in use for {self.in_flight[json.dumps(id)]}")
        return True

    # The metadata of a request.

    def meta(self, message):
        """Raises Refused where a server must."""
        method, params = message["method"], message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if not isinstance(meta, dict):
            self._refuse(method, -32602, "no _meta")
        for key in meta:
            if not META_KEY.match(key):
                self.violation(f"{method}: {key!r} is no key of _meta")
        for key, kind in ((PROTOCOL_VERSION, str), (CAPABILITIES, dict)):
            if not isinstance(meta.get(key), kind):
                self._refuse(method, -32602, f"_meta without {key}")
        info = meta.get(CLIENT_INFO)
        if info is None:
            self.advice.append(f"{method}: no clientInfo")
        elif not (isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)):
            self.violation(f"{method}: clientInfo is {json.dumps(info)}")
        if LOG_LEVEL in meta and meta[LOG_LEVEL] not in LEVELS:
            self._refuse(method, -32602, f"{meta[LOG_LEVEL]!r} is no log level")
        for extension in meta[CAPABILITIES].get("extensions", {}):
            if "/" not in extension:
                self.violation(f"{method}: the extension {extension!r} has no prefix")
        token = meta.get("progressToken")
        if token is not None:
            if isinstance(token, bool) or not isinstance(token, (str, int)):
                self.violation(f"{method}: {json.dumps(token)} is no progress token")
            elif json.dumps(token) in self.tokens:
                self.violation(f"{method}: the progress token {json.dumps(token)} is in use")

    def _refuse(self, method, code, text):
        self.violation(f"{method}: {text}")
        raise Refused(code, text)

    # HTTP.

    def http(self, headers, message):
        """`headers`: (name, value) as they came. Raises Refused for what does not agree with the body."""
        method = message["method"]
        self.must_not(headers, "mcp-session-id", method)
        self.must_not(headers, "last-event-id", method)
        accepted = [one.split(";")[0].strip() for one in ",".join(values(headers, "accept")).split(",")]
        for kind in ("application/json", "text/event-stream"):
            if kind not in accepted:
                self.violation(f"{method}: Accept does not name {kind}: {accepted}")
        if [one.split(";")[0].strip().lower() for one in values(headers, "content-type")] != ["application/json"]:
            self.violation(f"{method}: Content-Type is {values(headers, 'content-type')}")
        if "id" not in message:
            return
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        self._mirrors(headers, method, "MCP-Protocol-Version", meta.get(PROTOCOL_VERSION), plain=True)
        self._mirrors(headers, method, "Mcp-Method", method, plain=True)
        name = mirrored_name(method, params)
        if name is not None:
            self._mirrors(headers, method, "Mcp-Name", name)
        elif values(headers, "mcp-name"):
            self.violation(f"{method}: Mcp-Name, though it has none")
        if method == "tools/call":
            self._parameters(headers, params)
        else:
            for header, _ in headers:
                if header.lower().startswith("mcp-param-"):
                    self.violation(f"{method}: {header}")

    def must_not(self, headers, name, what):
        if values(headers, name):
            self.violation(f"{what}: the header {name}, which this revision has not")

    def _mirrors(self, headers, method, header, expected, plain=False):
        found = values(headers, header)
        try:
            same = len(found) == 1 and (found[0] if plain else decoded(found[0])) == expected
        except ValueError as error:
            same, found = False, [f"{found[0]}: {error}"]
        if not same:
            self._refuse(method, -32020, f"Header mismatch: {header} is {found}, and the body says {expected!r}")

    def _parameters(self, headers, params):
        """Judged as violations by what the client was told of the tool, refused by what the tool is now."""
        tool, arguments = params.get("name"), params.get("arguments") or {}
        expected = {f"mcp-param-{name}".lower(): value_at(arguments, path)
                    for name, path in self.announced.get(tool, {}).items()}
        expected = {name: header_text(value) for name, value in expected.items() if value is not None}
        found = {}
        for header, value in headers:
            if header.lower().startswith("mcp-param-"):
                if header.lower() in found:
                    self.violation(f"{tool}: {header} stands twice")
                try:
                    found[header.lower()] = decoded(value)
                except ValueError as error:
                    self._refuse(tool, -32020, f"Header mismatch: {header}: {error}")
        if found != expected and self.announced.get(tool, {}) == self.current.get(tool, {}):
            self.violation(f"{tool}: its headers are {found}, and should be {expected}")
        for name, path in self.current.get(tool, {}).items():
            value = value_at(arguments, path)
            mirrored = found.get(f"mcp-param-{name}".lower())
            if (None if value is None else header_text(value)) != mirrored:
                raise Refused(-32020, f"Header mismatch: Mcp-Param-{name} is {mirrored!r}, and the body says {value!r}")

    # Tools, as a client is told of them.

    def tells(self, tools):
        for tool in tools:
            self.announced[tool["name"]] = valid_annotations(tool)

    def has(self, tools):
        self.current = {tool["name"]: valid_annotations(tool) for tool in tools}

    # Rounds of a request that asked for input.

    def asked(self, message, state, keys):
        if state is not None:
            self.rounds[state] = (message["id"], message["method"], _own(message["params"]), set(keys))

    def retried(self, message):
        """Judges a request that brings answers or a state; whether it goes on with one that was asked."""
        method, params = message["method"], message.get("params") or {}
        if "inputResponses" in params and not isinstance(params["inputResponses"], dict):
            self.violation(f"{method}: inputResponses is {json.dumps(params['inputResponses'])[:100]}")
        if "requestState" not in params:
            return False
        if params["requestState"] not in self.rounds:
            self.violation(f"{method}: the requestState {params['requestState']!r} was never given")
            return False
        id, first, own, keys = self.rounds[params["requestState"]]
        if json.dumps(id) == json.dumps(message["id"]):
            self.violation(f"{method}: the retry has the id of the request, {json.dumps(id)}")
        if (first, own) != (method, _own(params)):
            self.violation(f"{method}: the retry is another request: {_own(params)}, not {first} {own}")
        missing = keys - set(params.get("inputResponses") or {})
        if missing:
            self.violation(f"{method}: the retry brings no answer to {sorted(missing)}")
        return True

    # What is under way.

    def begins(self, message):
        id = json.dumps(message["id"])
        self.in_flight[id] = message["method"]
        self.seen_ids.add(id)
        token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
        if token is not None:
            self.tokens.add(json.dumps(token))

    def ends(self, message):
        self.in_flight.pop(json.dumps(message["id"]), None)
        token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
        self.tokens.discard(json.dumps(token))


def values(headers, name):
    return [value for header, value in headers if header.lower() == name.lower()]


def valid_annotations(tool):
    try:
        return annotations(tool.get("inputSchema", {}))
    except ValueError:
        return {}


def _own(params):
    """The parameters without what belongs to a single sending."""
    return {key: value for key, value in params.items() if key not in ("_meta", "inputResponses", "requestState")}


def modern(message):
    """Whether a request says of itself that it is of this revision."""
    meta = (message.get("params") or {}).get("_meta") if isinstance(message.get("params"), dict) else None
    return isinstance(meta, dict) and any(key in meta for key in (PROTOCOL_VERSION, CAPABILITIES)) \
        or message.get("method", "").startswith(("server/discover", "subscriptions/"))


__all__ = ["PREFIX", "Refused", "Rules", "modern", "valid_annotations", "values"]
