"""A daemon that knows jobs and nothing else: a Unix socket that answers bridge/submit and its siblings as a test says."""

import json
import os
import socket
import threading
import time

from .waiting import DEADLINE, eventually

ENDED = ("completed", "failed", "cancelled")


class Job:
    def __init__(self, id, params, client):
        self.id, self.client = id, client
        self.method, self.params, self.key = params["method"], params.get("params"), params.get("key")
        self.state, self.question, self.response, self.answers = "working", None, None, []
        self.forgotten = False


class ScriptedJobs:
    """Requests are kept in `requests` as they came; jobs do what complete(), ask() and the like say."""

    def __init__(self, path):
        self.socket_path = path
        self.changed = threading.Condition()
        self.requests, self.notifications, self.jobs = [], [], {}
        self.replies = {}  # method: the result or {"error": …} that is given instead
        self.threads, self.connections = [], []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        os.chmod(path, 0o600)
        self.listener.listen(64)
        self._start(self._accept)

    # What a test does.

    def asked(self, method, count=1):
        """The params of the requests of this method, once there are so many."""
        return eventually(lambda: self._params(method, count), f"{count} of {method}")

    def add(self, id, **params):
        with self.changed:
            self.jobs[id] = Job(id, {"method": "tools/call", "params": {"name": "echo"}, **params}, None)
        return id

    def complete(self, id, text="done", **result):
        self.respond(id, {"result": {"content": [{"type": "text", "text": text}], **result}})

    def fail(self, id, error):
        self.respond(id, {"error": error}, "failed")

    def respond(self, id, members, state="completed"):
        self._set(id, state=state, response={"jsonrpc": "2.0", "id": None, **members})

    def ask(self, id, params, method="elicitation/create"):
        self._set(id, state="input_required", question={"method": method, "params": params})

    def answered(self, id, count=1):
        return eventually(lambda: len(self.jobs[id].answers) >= count and self.jobs[id].answers, f"answer {count} of {id}")

    def progress(self, params):
        """To everybody who collects and has given a token."""
        with self.changed:
            for message, send in self.requests:
                token = message["params"].get("_meta", {}).get("progressToken")
                if message["method"] == "bridge/collect" and token is not None:
                    send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, **params}})

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(DEADLINE)

    # How it works.

    closed = False
    submitted = 0

    def _params(self, method, count):
        with self.changed:
            found = [message["params"] for message, _ in self.requests if message["method"] == method]
        return found if len(found) >= count else None

    def _set(self, id, **members):
        with self.changed:
            for name, value in members.items():
                setattr(self.jobs[id], name, value)
            self.changed.notify_all()

    def _start(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection):
        writing = threading.Lock()

        def send(message):
            with writing:
                try:
                    connection.sendall(json.dumps(message).encode() + b"\n")
                except OSError:
                    pass

        with connection, connection.makefile("rb") as lines:
            for line in self._lines(lines):
                message = json.loads(line)
                message.setdefault("params", {})
                with self.changed:
                    (self.requests if "id" in message else self.notifications).append(
                        (message, send) if "id" in message else message)
                if "id" in message:
                    # A collect may wait; what comes after it on the connection does not.
                    self._start(self._answer, message, send)

    @staticmethod
    def _lines(file):
        try:
            yield from file
        except ConnectionResetError:
            pass  # it left without having read all

    def _answer(self, message, send):
        reply = self.replies.get(message["method"])
        if reply is None:
            name = message["method"].replace("bridge/", "_method_")
            method = getattr(self, name, None)
            with self.changed:
                reply = method(message["params"]) if method else {"error": {"code": -32601, "message": "unknown method"}}
        if reply == "silence":
            return
        send({"jsonrpc": "2.0", "id": message["id"], **(reply if "error" in reply else {"result": reply})})

    def _job(self, params):
        return self.jobs.get(params.get("job"))

    UNKNOWN = {"error": {"code": -32602, "message": "there is no such job", "data": {"source": "bridge", "kind": "job"}}}

    def _method_submit(self, params):
        for job in self.jobs.values():
            if params.get("key") and job.key == params["key"]:
                if job.params != params.get("params"):
                    return {"error": {"code": -32602, "message": "the key belongs to another call",
                                      "data": {"source": "bridge", "kind": "key"}}}
                return {"job": job.id, "state": job.state, **({"forgotten": True} if job.forgotten else
                                                              {"created": "2026-11-23T01:00:00Z", "durable": False})}
        self.submitted += 1
        id = f"j{self.submitted}"
        self.jobs[id] = Job(id, params, None)
        self.changed.notify_all()
        return {"job": id, "state": "working", "created": "2026-11-23T01:00:00Z", "durable": False}

    def _method_collect(self, params):
        job = self._job(params)
        if job is None:
            return self.UNKNOWN
        end = time.monotonic() + params.get("waitMs", 0) / 1000
        while job.state == "working" and time.monotonic() < end and not self.closed:
            self.changed.wait(end - time.monotonic())
        if job.state in ENDED and not params.get("keep", True):
            self.jobs.pop(job.id, None)
        return {"job": job.id, "state": job.state, "ageMs": 5,
                **({"question": job.question} if job.state == "input_required" else {}),
                **({"response": job.response} if job.response else {})}

    def _method_answer(self, params):
        job = self._job(params)
        if job is None or job.state != "input_required":
            return self.UNKNOWN
        job.answers.append({name: params[name] for name in ("result", "error") if name in params})
        job.state, job.question = "working", None
        self.changed.notify_all()
        return {}

    def _method_jobs(self, _):
        return {"jobs": [{"job": job.id, "state": job.state, "method": job.method, "tool": job.params["name"],
                          "created": "2026-11-23T01:00:00Z", "ageMs": 61000, "bytes": 1536,
                          **({"key": job.key} if job.key else {}), "pid": 42, "command": "mcp-nc"}
                         for job in reversed(self.jobs.values())]}

    def _method_cancel(self, params):
        job = self._job(params)
        if job is None:
            return self.UNKNOWN
        if job.state not in ENDED:
            job.state = "cancelled"
            self.changed.notify_all()
        return {"state": job.state}

    def _method_forget(self, params):
        job = self._job(params)
        if job is None:
            return self.UNKNOWN
        if job.state not in ENDED:
            return {"error": {"code": -32602, "message": "the job has not ended", "data": {"source": "bridge", "kind": "job"}}}
        del self.jobs[job.id]
        return {}

    def _method_tool(self, params):
        return {"tool": {"name": params["name"]}}  # takes any arguments, as they are written

    def _method_status(self, _):
        return {"upstream": {"state": "open", "ready": True}, "lastError": None}
