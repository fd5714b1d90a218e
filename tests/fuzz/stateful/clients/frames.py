"""What clients send: frames with ids of every form, and lines that are no frames."""

import json

BAD_LINES = [b"oops", b"[]", b"{}", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'"text"',
             b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
             b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,"method":7}', b"[[]]", b"{" * 2000]

# Members that are none of the protocol's, and that some parser takes for one: by case, by Unicode folding, without NUL.
DISGUISES = {
    "requestId": ["RequestID", "requestid", "reque\\u017ftId", "requestId\\u0000", "requestId\\u0000x"],
    "id": ["ID", "\\u0049d", "id\\u0000", "\\u0131d"],
    "method": ["Method", "METHOD", "method\\u0000"],
    "params": ["Params", "param\\u017f", "params\\u0000\\ud800"],
    "name": ["Name", "NAME", "name\\u0000"],
}


def disguised(choices, raw):
    """An invalid frame which another parser would read as something about the request `raw`."""
    known = choices.choice(sorted(DISGUISES))
    name = choices.choice(DISGUISES[known])
    cancelled = '"method":"notifications/cancelled","params":{"requestId":%s}' % raw
    return ({
        "requestId": '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody","%s":%s}}' % (name, raw),
        "id": '{"jsonrpc":"2.0","id":"nobody","result":{},"%s":%s}' % (name, raw),
        "method": '{"jsonrpc":"2.0","method":"notifications/fuzz","%s":"notifications/cancelled","params":{"requestId":%s}}'
                  % (name, raw),
        "params": '{"jsonrpc":"2.0",%s,"%s":{"requestId":"nobody"}}' % (cancelled, name),
        "name": '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"act","%s":"other"}}' % (raw, name),
    }[known]).encode()


def dumps(value):
    return json.dumps(value, separators=(",", ":"))


def raw_id(choices, number):
    """Another one for each number."""
    return choices.pick({str(number): 6, f'"{number}"': 2, f'"\\u00e9-{number}"': 1, f"{number}.5": 1,
                         f"-{number}": 1, f'"\\"{number}\\\\"': 1, f"{10 ** 20 + number}": 1})


def request(raw, method, params=None):
    """`params` is an object or already text."""
    if params is None:
        return f'{{"jsonrpc":"2.0","id":{raw},"method":"{method}"}}'.encode()
    text = params if isinstance(params, str) else dumps(params)
    return f'{{"jsonrpc":"2.0","id":{raw},"method":"{method}","params":{text}}}'.encode()


def notification(method, params=None):
    frame = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        frame["params"] = params
    return dumps(frame).encode()


def call_params(call):
    params = {"name": call.plan["tool"], "arguments": {"key": call.key, "plan": call.plan}}
    text = dumps(params)
    if call.token is not None:
        text = text[:-1] + f',"_meta":{{"progressToken":{call.token}}}}}'
    return text


def give_token(call, choices, number):
    """Some calls want progress."""
    if choices.chance(0.5):
        call.token = choices.pick({str(number): 1, f'"{call.client}-{number}"': 1})


def answer(raw, result=None, error=None):
    body = f'"error":{dumps(error)}' if error else f'"result":{dumps(result)}'
    return f'{{"jsonrpc":"2.0","id":{raw},{body}}}'.encode()


CAPABILITIES = {"elicitation": {}, "sampling": {}, "roots": {}}


def initialize(raw, capabilities=None, version="2025-11-25"):
    return request(raw, "initialize", {"protocolVersion": version, "capabilities": capabilities or {},
                                       "clientInfo": {"name": "fuzz", "version": "1"}})
