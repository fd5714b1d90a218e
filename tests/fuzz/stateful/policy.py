"""Who may call what: rules for --policy, drawn anew for each scenario, and by itself what they allow."""

import fnmatch
import json
import os

TOOLS = ("act", "act_again", "read_act")
URIS = ("fuzz://x", "hidden://x")
# Said of the notifications that a side may not be shown; the others are of fuzz://.
HIDDEN = "hidden://"
TOOL_LISTS = (None, ["act", "read_*"], ["*", "!*_again"], ["?ct", "!read_act"], ["!act"], ["act_*", "!*", "act"], "read-only", [])
# Each notification is to be taken by somebody: so all of them are shown to the socket's clients.
URI_LISTS = {"socket": (None, ["*", "!hidden://x"], ["fuzz://*", "hidden://*", "!*://x"]),
             "face": (None, ["fuzz://*"], ["*", "!hidden://*"], [])}


class Grant:
    """Of one client: the tools of each grant on the way to it."""

    def __init__(self, lists):
        self.lists, self.id, self.string = lists, None, None
        self.may_have_ended = False  # it is being revoked
        self.has_ended = False


def draw_lists(choices):
    """Of a grant, or of one and its child; empty: of none."""
    return [tools for tools in choices.choices(TOOL_LISTS, k=choices.pick({1: 2, 2: 1})) if tools is not None]


class Policy:
    """Of each side, the clients of the socket, who are one user, and those of the face. Until it is drawn all is allowed.
    It may change while clients are connected: then either version may hold for a call that was sent before the daemon has
    taken the last one."""

    def __init__(self):
        self.versions = [{"socket": {}, "face": {}}]
        self.settled = 0  # the version that the daemon has taken

    @property
    def rules(self):
        return self.versions[-1]

    def draw(self, choices):
        self.versions, self.settled = [{"socket": {}, "face": {}}], 0
        for side in self.rules:
            rule = {"tools": choices.choice(TOOL_LISTS), "resources": choices.choice(URI_LISTS[side]),
                    "inflight": choices.pick({None: 3, 1: 1, 4: 1}), "rate": None}
            self.rules[side] = {name: value for name, value in rule.items() if value is not None}
        if choices.chance(0.3):
            self.rules["face"]["rate"] = "20/1s"
        if choices.chance(0.1):
            self.rules["face"] = None  # no rule

    def change(self, choices):
        """While clients are connected: other tools, and other numbers in flight."""
        self.versions.append({side: None if rule is None else dict(rule) for side, rule in self.rules.items()})
        for rule in self.rules.values():
            if rule is not None:
                rule.pop("tools", None)
                tools, inflight = choices.choice(TOOL_LISTS), choices.pick({None: 1, 1: 1, 4: 1})
                rule.update({"tools": tools} if tools is not None else {}, inflight=inflight or 100)

    def write(self, path):
        rules = [{"uid": os.geteuid() + 1, "tools": []}, {"uid": [os.geteuid()], **self.rules["socket"]}]
        if self.rules["face"] is not None:
            rules.append({"http": True, **self.rules["face"]})
        with open(path, "w", encoding="utf-8") as file:
            file.write("// of this scenario\n" + json.dumps({"rules": rules}, indent=1))

    def allows(self, side, kind, name, rules=None):
        """`kind`: tools or resources."""
        rule = (rules or self.rules)[side]
        return rule is not None and self._matches(rule.get(kind), name)

    @staticmethod
    def _matches(globs, name):
        if globs is None:
            return True
        if globs == "read-only":
            return name == "read_act"
        if all(glob.startswith("!") for glob in globs):
            return False
        for glob in reversed(globs):
            if fnmatch.fnmatchcase(name, glob.removeprefix("!")):
                return not glob.startswith("!")
        return False

    def shown_tools(self, call):
        """By each version that may hold for it; nothing, if its grant may have ended before the answer came."""
        shown = [[name for name in TOOLS if self.allows(call.side, "tools", name, rules) and self._grants(call, name)]
                 for rules in self._of(call)]
        return shown + [[]] if call.grant is not None and call.grant.may_have_ended else shown

    def _grants(self, call, tool):
        return call.grant is None or all(self._matches(globs, tool) for globs in call.grant.lists)

    def denies(self, call):
        """Whether this call is not to reach the server."""
        if call.grant_has_ended and call.method in ("tools/call", "resources/read", "tools/list"):
            return True
        return all(self._denies(call, rules) for rules in self._of(call))

    def allows_call(self, call):
        """Whether it is not to be denied. What only reads has to be known from a list first, which may not be had."""
        if call.grant is not None and (call.grant.may_have_ended or "read-only" in call.grant.lists):
            return False
        return not any(rules[call.side] is None or self._denies(call, rules) or
                       (call.method == "tools/call" and rules[call.side].get("tools") == "read-only")
                       for rules in self._of(call))

    def _of(self, call):
        return self.versions[call.policy:]

    def _denies(self, call, rules):
        if call.method == "tools/call":
            tool = call.plan["tool"]
            return not (self.allows(call.side, "tools", tool, rules) and self._grants(call, tool))
        if call.method == "resources/read":
            return not self.allows(call.side, "resources", call.plan["uri"], rules)
        return False
