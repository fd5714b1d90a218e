"""The scriptable MCP server of tests/support, and its control API."""

import http.client
import json
import signal
import urllib.parse

from . import ports
from .binaries import binary
from .processes import Process
from .waiting import DEADLINE


class DemoUpstream(Process):
    def __init__(self, name, folder, marker, *options):
        super().__init__(name, [binary("DEMO_UPSTREAM"), *options], folder, marker)
        self.url = self.stdout_line().split()[-1]
        address = urllib.parse.urlsplit(self.url)
        self.host, self.port = address.hostname, address.port
        self.held = None

    def control(self, method, path, body=None, allowed=(200,)):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=2 * DEADLINE)
        try:
            connection.request(method, "/control/" + path, body=body)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        assert response.status in allowed, f"{method} {path}: {response.status} {text[:2000]}"
        return json.loads(text) if text else None

    def log(self, method=None, http_method=None, wait=None, since=None):
        """The requests it saw; with `wait` once there are so many."""
        query = {"method": method, "httpMethod": http_method, "since": since, "wait": wait}
        if wait:
            query["timeoutMs"] = int(DEADLINE * 1000)
        return self.control("GET", "log?" + urllib.parse.urlencode({k: v for k, v in query.items() if v is not None}))

    def bodies(self, method=None, wait=None):
        return [json.loads(entry["body"]) for entry in self.log(method, wait=wait) if entry["httpMethod"] == "POST"]

    def forget_log(self):
        self.control("DELETE", "log")

    def fault(self, action, method=None, times=1, nth=None, http_method=None):
        """`action` as an object, or as text where $ID stands in it."""
        match = {key: value for key, value in
                 {"method": method, "nth": nth, "httpMethod": http_method}.items() if value is not None}
        if not isinstance(action, str):
            action = json.dumps(action)
        body = '{"match":%s,"times":%d,"action":%s}' % (json.dumps(match), times, action)
        return self.control("POST", "fault", body)

    def clear_faults(self):
        self.control("DELETE", "fault")

    def emit(self, message, count=1):
        """A message (text: byte for byte) on the GET stream, which is waited for."""
        self.streams(1)
        if not isinstance(message, str):
            message = json.dumps(message)
        sent = self.control("POST", "emit", '{"count":%d,"message":%s}' % (count, message))
        assert sent["sent"] == 1 or count > 1, sent
        return sent

    def emit_raw(self, raw):
        self.streams(1)
        return self.control("POST", "emit", json.dumps({"raw": raw}))

    def ask(self, message):
        """A request to the client on the GET stream."""
        self.streams(1)
        if not isinstance(message, str):
            message = json.dumps(message)
        return self.control("POST", "request", '{"message":%s}' % message)

    def answers(self, wait=None):
        return self.control("GET", f"answers?wait={wait}&timeoutMs={int(DEADLINE * 1000)}" if wait else "answers")

    def state(self, **wait):
        query = urllib.parse.urlencode({**wait, "timeoutMs": int(DEADLINE * 1000)}) if wait else ""
        return self.control("GET", "state?" + query)

    def streams(self, count):
        return self.state(streams=count)

    def stop(self):
        self.signal(signal.SIGTERM)
        code = self.wait()
        assert code == 0, f"{self.name} ended with {code}: {self.stderr()[-2000:]}"
        self._hold_port()

    def kill(self):
        ran = self.running()
        super().kill()
        if ran:
            self._hold_port()
        elif self.held:
            self.held.close()

    def _hold_port(self):
        """Whoever still calls it must not reach the server of another test."""
        self.held = ports.hold(self.port, self.host)
