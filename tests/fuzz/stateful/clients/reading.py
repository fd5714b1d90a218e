"""What a client makes of a message that came to it: the same for every kind of client."""

import json
import re

_ID = re.compile(rb'"id":("(?:[^"\\]|\\.)*"|[^,}\]]+)')
HUGE_KEPT = 200


def kind_of_error(error):
    data = error.get("data")
    return "bridge" if isinstance(data, dict) and data.get("source") == "bridge" else "upstream"


class Reader:
    """`who` is a connection or a session. Keeps the outstanding calls by the raw text of their ids."""

    def __init__(self, who, ledger, one_stream=True, side="socket"):
        self.who, self.ledger, self.side = who, ledger, side
        self.takes = True
        self.one_stream = one_stream  # all that comes is in one order
        self.outstanding = {}   # raw id: calls in the order in which they were sent
        self.tokens = {}        # raw token: call
        self.last_serial = {}   # (domain, way): the newest
        self.serials = set()
        self.asked = []         # questions not yet answered: (raw id, number)
        self.asked_by_id = {}   # all of them

    def note(self, what):
        self.ledger.note(self.who, what)

    def violation(self, text, *words):
        self.ledger.violation(f"{self.who}: {text}", self.who, *words)

    def sent(self, call):
        self.outstanding.setdefault(call.raw_id, []).append(call)
        if call.token is not None:
            self.tokens[call.token] = call

    def missing(self):
        """Calls whose answer has to come."""
        return [call for calls in self.outstanding.values() for call in calls
                if not call.cancelled and call.excused is None]

    def message(self, data):
        self.note(f"< {data[:HUGE_KEPT].decode(errors='replace')}{'…' if len(data) > HUGE_KEPT else ''}")
        try:
            message = json.loads(data)
        except ValueError:
            self.violation(f"not JSON: {data[:300]!r}")
            return
        for part in message if isinstance(message, list) else [message]:
            self._one(part, data)

    def _one(self, message, data):
        if "method" not in message:
            self._answer(message, data)
        elif "id" in message:
            self._question(message, data)
        else:
            self._notification(message, data)

    # Answers.

    def _answer(self, message, data):
        if message.get("id") is None:
            return
        raw = self._raw_id(data, message["id"])
        calls = self.outstanding.get(raw)
        if not calls:
            self.violation(f"an answer to {raw}, which waits for none: {data[:300]!r}", raw)
            return
        call = self._matching(calls, message)
        calls.remove(call)
        if not calls:
            del self.outstanding[raw]
        call.answers.append(self._judged(call, message, data))

    @staticmethod
    def _matching(calls, message):
        """Of several with the same id the one that it is about, as far as can be told."""
        told = message.get("result") or (message.get("error") or {}).get("data") or {}
        key = told.get("key") or told.get("echo")
        named = [call for call in calls if key is not None and call.key == key]
        waiting = [call for call in calls if not call.cancelled]
        return (named or waiting or calls)[0]

    @staticmethod
    def _raw_id(data, value):
        """As it stands on the wire."""
        for raw in _ID.findall(data):
            try:
                if json.loads(raw) == value:
                    return raw.decode()
            except ValueError:
                pass
        return json.dumps(value)

    def _judged(self, call, message, data):
        if "error" in message:
            kind = kind_of_error(message["error"])
            details = message["error"].get("data") or {}
            if kind == "upstream" and call.key and not call.ambiguous and details.get("key") not in (None, call.key):
                self.violation(f"{call} got the error of {details['key']}", call.key, details["key"])
            return (kind, message["error"])
        result = message["result"]
        if call.method == "tools/list":
            self._list(call, result)
        if call.method == "tools/call":
            if call.ambiguous:
                pass
            elif result.get("key") != call.key:
                self.violation(f"{call} got the answer of {result.get('key')}", call.key, result.get("key"))
            elif call.plan["end"] == "huge" and len(data) < 300_000:
                self.violation(f"{call} got {len(data)} bytes of its answer", call.key)
        elif call.method == "resources/read" and not call.ambiguous and result.get("echo") != call.key:
            self.violation(f"{call} got the answer of {result.get('echo')}", call.key)
        return ("result", None)

    def _list(self, call, result):
        names, shown = [tool["name"] for tool in result["tools"]], self.ledger.policy.shown_tools(call)
        if names not in shown:
            self.violation(f"{call} lists {names}, and its policy allows {shown}", call.raw_id)

    # Questions.

    def _question(self, message, data):
        number = (message.get("params") or {}).get("question")
        question = self.ledger.questions.get(number)
        if question is None:
            self.violation(f"a question nobody asked: {data[:300]!r}")
            return
        if self.who in question.asked:
            self.violation(f"is asked {number} twice", f'"question":{number}')
            return
        question.asked.append(self.who)
        self.asked.append((self._raw_id(data, message["id"]), question))
        self.asked_by_id[message["id"]] = question

    def _withdrawn(self, params):
        """It may be asked that again, under another id."""
        question = self.asked_by_id.get(params["requestId"])
        if question is not None and self.who in question.asked:
            question.asked.remove(self.who)

    # Notifications.

    def _notification(self, message, data):
        params = message.get("params") or {}
        if message["method"] == "notifications/progress":
            self._progress(params, data)
        elif message["method"] == "notifications/cancelled":
            self._withdrawn(params)
        elif "serial" in params:
            self._serial(params)
        elif "of" in params:
            self._log_of_request(params)

    def _progress(self, params, data):
        call = self.tokens.get(json.dumps(params["progressToken"]))
        if call is None or call.key != params["key"]:
            self.violation(f"progress of {params['key']} with token {params['progressToken']!r}", params["key"])
        elif call.answers and self.one_stream and not call.ambiguous:
            self.violation(f"progress of {call} behind its answer", call.key)
        elif call.progress and call.progress[-1] >= params["progress"]:
            if call.wants_progress:
                self.violation(f"progress {params['progress']} of {call} after {call.progress[-1]}", call.key)
        else:
            call.progress.append(params["progress"])

    def _serial(self, params):
        serial, domain = params["serial"], params["domain"]
        if "uri" in params and not self.ledger.policy.allows(self.side, "resources", params["uri"]):
            self.violation(f"notification {serial} of {params.get('uri')}, which its policy hides", f'"serial":{serial},')
        notification = self.ledger.notifications.get(serial)
        if notification is None:
            self.violation(f"notification {serial}, which was never said")
            return
        if serial in self.serials:
            self.violation(f"notification {serial} twice", f'"serial":{serial},')
            return
        order = (domain, notification.way)
        if self.last_serial.get(order, 0) > serial:
            self.violation(f"notification {serial} after {self.last_serial[order]} of {domain}",
                           f'"serial":{serial},')
        self.serials.add(serial)
        self.last_serial[order] = max(self.last_serial.get(order, 0), serial)
        if self.takes:
            notification.takers.append(self.who)

    def _log_of_request(self, params):
        """With one stream for everything it cannot be told whose it is: then it is everybody's."""
        call = self.ledger.by_key.get(params["of"])
        if call is None:
            self.violation(f"a log message of {params['of']}, which nobody called", params["of"])
