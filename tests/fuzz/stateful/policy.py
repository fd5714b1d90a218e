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


class Policy:
    """Of each side, the clients of the socket, who are one user, and those of the face. Until it is drawn all is allowed."""

    def __init__(self):
        self.rules = {"socket": {}, "face": {}}

    def draw(self, choices):
        for side in self.rules:
            rule = {"tools": choices.choice(TOOL_LISTS), "resources": choices.choice(URI_LISTS[side]),
                    "inflight": choices.pick({None: 3, 1: 1, 4: 1}), "rate": None}
            self.rules[side] = {name: value for name, value in rule.items() if value is not None}
        if choices.chance(0.3):
            self.rules["face"]["rate"] = "20/1s"
        if choices.chance(0.1):
            self.rules["face"] = None  # no rule

    def write(self, path):
        rules = [{"uid": os.geteuid() + 1, "tools": []}, {"uid": [os.geteuid()], **self.rules["socket"]}]
        if self.rules["face"] is not None:
            rules.append({"http": True, **self.rules["face"]})
        with open(path, "w", encoding="utf-8") as file:
            file.write("// of this scenario\n" + json.dumps({"rules": rules}, indent=1))

    def allows(self, side, kind, name):
        """`kind`: tools or resources."""
        rule = self.rules[side]
        if rule is None:
            return False
        globs = rule.get(kind)
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

    def shown_tools(self, side):
        return [name for name in TOOLS if self.allows(side, "tools", name)]

    def is_sure(self, side, call):
        """Whether what it allows of a call is not denied: what only reads has to be known from a list first."""
        rule = self.rules[side]
        return call.method != "tools/call" or rule is None or rule.get("tools") != "read-only"

    def denies(self, side, call):
        """Whether this call is not to reach the server."""
        if call.method == "tools/call":
            return not self.allows(side, "tools", call.plan["tool"])
        if call.method == "resources/read":
            return not self.allows(side, "resources", call.plan["uri"])
        return False
