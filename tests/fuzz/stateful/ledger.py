"""What was sent, done and received, by both ends: what the judge judges."""

import os
import sys

from policy import Policy


class Call:
    """A request of a client; `key` names what it wants done, whoever asks for it again."""

    def __init__(self, client, raw_id, method, key=None, plan=None, side="socket"):
        self.side = side       # whose rule of the policy holds
        self.policy = 0        # the first version of it that may hold
        self.grant = None      # of its client
        self.grant_has_ended = False  # before it was sent
        self.client, self.raw_id, self.method, self.key, self.plan = client, raw_id, method, key, plan or {}
        self.token = None      # its progress token as it stands on the wire
        self.wants_progress = True  # where its answer goes, its progress goes too
        self.partial = False   # some of its progress came before it
        self.progress = []     # what came for it
        self.answers = []      # ("result" | "upstream" | "bridge" | "status", details)
        self.cancelled = False
        self.goes_on = False   # with one that has reached the upstream
        self.ambiguous = False   # another with the same id was under way: an error is one's or the other's
        self.names_too_much = False  # a listen over the limit
        self.excused = None    # why no answer has to come

    def __str__(self):
        return f"{self.method} {self.raw_id} ({self.key}) of {self.client}"


class Notification:
    def __init__(self, serial, domain, method, at):
        self.serial, self.domain, self.method, self.at = serial, domain, method, at
        self.way = 0           # which stream was the newest: two of them have no order
        self.in_doubt = False  # the way broke before it is certain that the bridge has read it
        self.takers = []       # who received it and takes


class Question:
    def __init__(self, number, method, key):
        self.number, self.method, self.key = number, method, key
        self.asked = []        # clients in the order in which they were asked
        self.given = {}        # marker of an answer: the client that gave it
        self.responses = []    # what came upstream
        self.moot = False      # cancelled, its request ended, or its session lost


class Ledger:
    def __init__(self, timeline):
        self.timeline = timeline
        self.policy = Policy()
        self.violations = []
        self.calls = []
        self.by_key = {}
        self.acted = {}          # key: how often the upstream did it or may have done it
        self.arrived = {}        # key: how often it came upstream
        self.read = set()        # keys of what was read
        self.progress_sent = {}  # key: notifications with its token that left on a stream that did not break
        self.notifications = {}
        self.questions = {}
        self.unread_streams = []    # HTTP streams that were left without reading to their end
        self.words = []          # what the violations are about: for the timeline

    def begin(self):
        """Another scenario: what is late from the one before is still known."""
        self.timeline.begin()
        self.calls = []
        self.first_serial = len(self.notifications) + 1
        self.first_question = len(self.questions) + 1

    def note(self, who, what):
        self.timeline.note(who, what)

    def violation(self, text, *words):
        self.note("VIOLATION", text)
        self.violations.append(text)
        self.words += [str(word) for word in words]

    def report(self, folder, replay):
        """Prints what was found. `replay`: the arguments by which it is played again."""
        with open(os.path.join(folder, "timeline.txt"), "w", encoding="utf-8") as file:
            file.write(self.timeline.text())
        print(f"  everything: {folder}/timeline.txt, the daemon's log beside it\n  replay: {sys.argv[0]} {replay}")
        for violation in self.violations[:20]:
            print(f"  VIOLATION: {violation[:3000]}")
        for line in self.timeline.about(self.words):
            print("    " + line)
        sys.stdout.flush()

    # What clients do.

    def call(self, client, raw_id, method, key=None, plan=None, side="socket"):
        call = Call(client, raw_id, method, key, plan, side)
        call.policy = self.policy.settled
        self.calls.append(call)
        if key:
            self.by_key[key] = call
        return call

    # What the upstream does.

    def act(self, key):
        self.acted[key] = self.acted.get(key, 0) + 1

    def arrive(self, key):
        self.arrived[key] = self.arrived.get(key, 0) + 1
        return self.arrived[key]

    def emitted(self, domain, method, at):
        notification = Notification(len(self.notifications) + 1, domain, method, at)
        self.notifications[notification.serial] = notification
        return notification

    def doubt(self, domain, since):
        """The way of a domain broke: what was sent after `since` may not have been read."""
        for notification in self.notifications.values():
            if notification.domain == domain and notification.at >= since:
                notification.in_doubt = True

    def question(self, method, key):
        question = Question(len(self.questions) + 1, method, key)
        self.questions[question.number] = question
        return question
