"""One fault under one load: what every client got, what the upstream saw, and that all is as it was."""

import collections
import json

from faults import FaultCase, call, patient

from .footprint import Footprint
from .load import Burst, numbers_of
from .outcome import Error, Result
from .ways import Ways

SHORT = {"--connect-timeout": patient(1000), "--connect-wait": patient(2000), "--keepalive": "0"}
CLIENTS = 4
PATIENCE = 120  # seconds: longer than any row's own limits, so that it is the daemon that ends a request


class Cell(Ways, FaultCase):
    program = None

    def setUp(self):
        super().setUp()
        self.burst = None
        self.kept = collections.defaultdict(list)  # of a burst, what a client has read by the way

    def run_cell(self, row, column):
        self.row = row
        # Its idle connections stay: one that is closed just when it is used is a row of its own.
        self.server = self.upstream("--keep-alive-timeout", "120", *row.upstream)
        url, options, how = self.build_way(row)
        if row.strikes == "at start":
            row.strike(self)
        self.daemon = self.start_daemon(url, *self.limits(row), *options, program=self.program, **how)
        self.askers = [self.client() for _ in range(min(CLIENTS, column.requests))]
        self.listener = self.client()
        if row.strikes != "at start":
            self.warm_up(column)
        self.others(len(self.askers) + 1)  # all are there, and nobody else
        self.before = Footprint(self.daemon)
        if column.burst and row.strikes != "at start":
            self.burst = Burst(self.server)
            self.kept[self.listener] += numbers_of(self.listener, 10)
        if row.strikes == "before":
            row.strike(self)
        self.ask(column.requests)
        if row.strikes == "sent":
            self.seen_at_least_once(column.requests)
            row.strike(self)
        if row.heals == "waiting":
            row.noticed(self)
            row.heal(self)
        self.check_answers()
        if row.heals == "after":
            row.heal(self)
        if self.burst:
            self.burst.finish()
        self.recover()
        self.check_upstream(column.requests)
        if self.burst:
            self.check_burst(self.burst)
        self.before.check_back(self)

    @staticmethod
    def limits(row):
        given = dict(zip(row.daemon[::2], row.daemon[1::2]))
        # No other row shall end by it, however busy the machine is.
        ends_by_it = isinstance(row.gets, Error) and row.gets.kind == "timeout"
        request = {"--request-timeout": patient(2000) if ends_by_it else "60s"}
        return [part for option in {**SHORT, **request, **given}.items() for part in option]

    # In order.

    def warm_up(self, column):
        """The load once in health: what is kept of it is not counted as left behind."""
        for number, asker in enumerate(self.askers):
            asker.send(*[call("echo", {"message": "well"}, f"well-{id}") for id in range(number, column.requests, CLIENTS)])
        for number, asker in enumerate(self.askers):
            self.collect(asker, len(range(number, column.requests, CLIENTS)))
        if not self.askers:
            visitor = self.client()
            visitor.fence()
            visitor.close()
        self.daemon.status_when(lambda status: status["upstream"]["stream"] in ("open", "none"), "a server stream or none")
        self.server.forget_log()

    def ask(self, requests):
        tool, arguments = self.row.tool
        self.asked = collections.defaultdict(list)
        for id in range(requests):
            self.asked[self.askers[id % CLIENTS]].append(id)
        for asker, ids in self.asked.items():
            asker.send(*[call(tool, {**arguments, "message": f"m{id}"}, id) for id in ids])

    def seen_at_least_once(self, requests):
        if requests:
            self.server.log("tools/call", wait=requests)

    def check_answers(self):
        for asker, ids in self.asked.items():
            for id, answer in self.collect(asker, len(ids)).items():
                self.assertIn(id, ids)
                self.row.gets.check(self, answer, f"m{id}")

    def recover(self):
        """A client that comes now is served, and everything is as before."""
        client = self.client()
        Result().check(self, client.call("echo", {"message": "after"}, "after"), "after")
        client.close()
        self.daemon.status_when(lambda status: (status["upstream"]["state"], status["upstream"]["stream"],
                                                status["upstream"]["reopened"]) ==
                                ("open", self.row.stream, self.row.reopened), "the state after the fault")

    def check_upstream(self, requests):
        """Each call at most as often as the row says: one that is there twice in a session was refused in between."""
        in_all, in_a_session = collections.Counter(), collections.Counter()
        for entry in self.server.log("tools/call"):
            message = json.loads(entry["body"])["params"]["arguments"]["message"]
            if message in ("well", "after"):
                continue
            in_all[message] += 1
            in_a_session[message, entry["sessionId"]] += 1
        least, most = self.row.seen
        for id in range(requests):
            self.assertTrue(least <= in_all[f"m{id}"] <= most, f"m{id} was seen {in_all[f'm{id}']} times: {self.row.seen}")
        self.assertLessEqual(max(in_a_session.values(), default=0), self.row.in_a_session)
        self.assertEqual(len(self.server.log("initialize")),
                         self.row.reopened + self.row.failed_tries + (self.row.strikes == "at start"))

    def check_burst(self, burst):
        """To everybody in order, nothing twice, and nothing missing if the stream stayed."""
        emitted = burst.emitted
        if self.row.stream == "open":
            self.server.streams(1)
            self.assertEqual(burst.emit("end"), 1)
            for client in (self.listener, *self.askers):
                numbers = self.kept[client] + numbers_of(client)
                self.assertEqual(numbers, sorted(set(numbers)))
                if self.row.keeps_stream:
                    self.assertEqual(numbers, list(range(1, emitted + 1)))

    def collect(self, client, count):
        """As usual, but what comes between the answers is kept for check_burst."""
        answers = {}
        while len(answers) < count:
            message = client.line(PATIENCE)
            if "method" in message:
                if message["method"] == "notifications/message":
                    self.kept[client].append(message["params"]["data"])
                continue
            self.assertNotIn(message["id"], answers, "answered twice")
            answers[message["id"]] = message
        return answers

    def tearDown(self):
        if self.burst:
            self.burst.finish()
        super().tearDown()
