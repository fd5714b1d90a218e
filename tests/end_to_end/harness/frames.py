"""The frames the tests send, as the text that goes on the wire."""

import json


def _compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def request(method, params=None, id=1):
    frame = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        frame["params"] = params
    return _compact(frame)


def notification(method, params=None):
    frame = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        frame["params"] = params
    return _compact(frame)


def answer(id, result=None, error=None):
    frame = {"jsonrpc": "2.0", "id": id}
    if error is not None:
        frame["error"] = error
    else:
        frame["result"] = {} if result is None else result
    return _compact(frame)


def call(tool, arguments=None, id=1, token=None):
    params = {"name": tool, "arguments": arguments or {}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return request("tools/call", params, id)


def initialize(id=0, capabilities=None, version="2025-11-25", name="e2e"):
    return request("initialize", {"protocolVersion": version, "capabilities": capabilities or {},
                                  "clientInfo": {"name": name, "version": "1"}}, id)


def text_of(response):
    """The text of a tool's answer."""
    assert "result" in response, f"no result: {response}"
    return response["result"]["content"][0]["text"]
