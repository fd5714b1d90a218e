"""What the upstream says and does, whatever it is reached by. A carrier gives it messages and an outlet for each request."""

import asyncio
import json
import time

from plan import HUGE, WIDE
from policy import HIDDEN, TOOLS

QUESTION_PATIENCE = 1.0
MOST_SUBSCRIBING = 16


def dumps(message):
    return json.dumps(message, separators=(",", ":")).encode()


class Session:
    def __init__(self, name, log):
        self.name, self.log = name, log
        self.lost = False


class Server:
    """`kind`: http, stdio or sse. A carrier sets `say`, which puts a message on the session's own stream and tells
    whether there was one."""

    def __init__(self, ledger, choices, kind):
        self.ledger, self.choices, self.kind = ledger, choices, kind
        self.session = None
        self.sessions_opened = 0
        self.way = 0  # how many streams were opened of which two may tell the same
        self.questions_waiting = {}
        self.tasks = set()
        self.handlers = set()
        self.say = lambda message: False
        self.lose = lambda: None
        self.subscribing = 0
        self.read_by_then = 5.0  # seconds: what was written so long before a way broke was read
        self.quiet = False  # at the end of a scenario nothing is made up any more

    def note(self, what):
        self.ledger.note("upstream", what)

    def start(self, coroutine):
        task = asyncio.ensure_future(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def way_broke(self, domain):
        self.ledger.doubt(domain, time.monotonic() - self.read_by_then)

    # The session.

    def open_session(self, log):
        self.sessions_opened += 1
        self.session = Session(f"session-{self.sessions_opened}", log)
        return self.session

    def session_is_over(self, why):
        if self.session and not self.session.lost:
            self.note(f"{self.session.name} is lost: {why}")
            self.session.lost = True
            self.way_broke(self.session.name)
            for question in self.ledger.questions.values():
                question.moot = True

    def initialize_result(self):
        return {"protocolVersion": "2024-11-05" if self.kind == "sse" else "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True},
                                 "logging": {}, "prompts": {}},
                "serverInfo": {"name": "fuzz", "version": "1"}}

    # Notifications of the session.

    def notify(self, kind):
        """On the session's own stream, with a serial number; None if there is no session."""
        if self.session is None or self.session.lost:
            return None
        method = {"updated": "notifications/resources/updated", "list_changed": "notifications/tools/list_changed",
                  "log": "notifications/message"}[kind]
        notification = self.ledger.emitted(self.session.name, method, time.monotonic())
        notification.way = self.way
        params = {"serial": notification.serial, "domain": self.session.name}
        if kind == "updated":
            params["uri"] = f"{HIDDEN if notification.serial % 5 == 0 else 'fuzz://'}{notification.serial}"
        if kind == "log":
            params.update(level="info", data="x" * self.choices.pick({10: 8, 3000: 2, 60000: 0.3}))
        self.note(f"says {method} {notification.serial}")
        if not self.say(dumps({"jsonrpc": "2.0", "method": method, "params": params})):
            notification.in_doubt = True
        return notification

    # Requests.

    def plain_result(self, message):
        """Of what only reads."""
        method, params = message["method"], message.get("params") or {}
        if method == "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name == "read_act"}}
                              for name in TOOLS]}
        if params.get("echo"):
            self.ledger.read.add(params["echo"])
        return {"echo": params.get("echo"), "contents": []}

    async def subscribe(self, message):
        """Of what a large listen of a client names, few come at a time; sessions that overlap have some each."""
        if WIDE not in message["params"].get("uri", ""):
            return
        self.subscribing += 1
        if self.subscribing > MOST_SUBSCRIBING:
            self.ledger.violation(f"{self.subscribing} subscriptions are asked for at once", "upstream")
        await asyncio.sleep(0.002)
        self.subscribing -= 1

    async def call(self, message, outlet):
        """Carries out a plan; `outlet` is the request's own stream."""
        params = message["params"]
        key, plan = params["arguments"]["key"], params["arguments"]["plan"]
        token = (params.get("_meta") or {}).get("progressToken")
        self.ledger.act(key)
        self.note(f"acts {key} id {message['id']}")
        await asyncio.sleep(plan["before"])
        progress = 0
        for number, step in enumerate(plan["steps"]):
            if step[0] == "progress" and token is not None:
                progress += 1
                outlet.message({"jsonrpc": "2.0", "method": "notifications/progress",
                                "params": {"progressToken": token, "progress": progress, "key": key}})
            elif step[0] == "disguised":  # nobody may get it: another parser reads another token
                outlet.message({"jsonrpc": "2.0", "method": "notifications/progress",
                                "params": {"progressToken": token or 0, step[1]: token or 0, "progress": 999, "key": key}})
            elif step[0] == "log":
                outlet.message({"jsonrpc": "2.0", "method": "notifications/message",
                                "params": {"level": "info", "data": "step", "of": key, "number": number}})
            elif step[0] in ("updated", "list_changed"):
                self.notify(step[0])
            elif step[0] == "server_stream":
                self.notify("log")
            elif step[0] == "sleep":
                await asyncio.sleep(step[1])
            elif step[0] == "ask":
                await self.ask(step[1], outlet if step[2] == "request" else None, key)
        self.ledger.progress_sent[key] = progress
        self.finish(message, plan["end"], key, outlet)

    def finish(self, message, end, key, outlet):
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        self.note(f"answers {key}: {end}")
        if end == "hang":
            outlet.hang()
            return
        if end == "malformed":
            outlet.malformed(b'{"jsonrpc":"2.0","id":%s,"result":' % dumps(message["id"]))
            return
        if end == "error":
            answer["error"] = {"code": -32099, "message": "as planned", "data": {"key": key}}
        else:
            answer["result"] = {"key": key, "isError": end == "tool_error", "content": [
                {"type": "text", "text": "h" * HUGE if end == "huge" else "done"}]}
        outlet.answer(answer)

    # Questions.

    async def ask(self, method, outlet, key):
        """On a request's own stream, or the session's; waits for the answer for a while."""
        question = self.ledger.question(method, key if outlet else None)
        # A number of the server's own, which the bridge uses too.
        id = question.number if question.number % 2 else f"q{question.number}"
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {"question": question.number}}
        answered = asyncio.get_running_loop().create_future()
        self.questions_waiting[dumps(id)] = (question, answered)
        self.note(f"asks {question.number} {method} id {id} {'for ' + key if outlet else 'on the stream'}")
        if self.session is None or self.session.lost:
            question.moot = True  # of a server that has gone: it is played to its end, unheard
        if outlet:
            outlet.message(message)
        elif not self.say(dumps(message)):
            question.moot = True
        done, _ = await asyncio.wait([answered], timeout=QUESTION_PATIENCE)
        if not done:
            question.moot = True
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
            self.note(f"takes question {question.number} back")
            if outlet:
                outlet.message(cancelled)
            else:
                self.say(dumps(cancelled))

    def response(self, message):
        """An answer to a question of ours."""
        known = self.questions_waiting.get(dumps(message.get("id")))
        if known is None:
            self.ledger.violation(f"an answer to nothing that was asked: {message}")
            return
        question, answered = known
        self.note(f"is answered {question.number}: {message.get('result') or message.get('error')}")
        question.responses.append(message)
        if not answered.done():
            answered.set_result(message)

    # What comes without being asked.

    async def live(self, choices, until):
        """Up to the event: notifications, questions, losses."""
        while not until.is_set():
            await asyncio.sleep(choices.random() * 0.04)
            what = choices.pick({"updated": 6, "log": 6, "list_changed": 1, "burst": 1, "ask": 1,
                                 "break": 1, "lose": 0.4})
            if what == "burst":
                for _ in range(choices.randrange(5, 60)):
                    self.notify("log")
            elif what == "ask":
                self.start(self.ask("roots/list", None, None))
            elif what == "break":
                self.break_stream(choices.chance(0.5))
            elif what == "lose":
                self.lose()
            else:
                self.notify(what)

    def break_stream(self, politely):
        """A carrier says how."""

    def calls(self):
        """What is still being carried out."""
        return set(self.tasks)

    async def handle(self, reader, writer):
        """A connection, as asyncio's servers call it."""
        task = asyncio.current_task()
        self.handlers.add(task)
        try:
            await self.connection(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.handlers.discard(task)
            writer.close()

    async def stop(self):
        self.listener.close()
        ending = self.tasks | self.handlers
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
