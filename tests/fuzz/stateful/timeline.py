"""What happened in a scenario, in the order in which this process saw it."""

import time

_LONGEST = 400


class Timeline:
    def __init__(self):
        self.lines = []
        self.start = time.monotonic()

    def begin(self):
        self.lines = []
        self.start = time.monotonic()

    def note(self, who, what):
        text = what if isinstance(what, str) else repr(what)
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}… ({len(text)})"
        self.lines.append(f"{(time.monotonic() - self.start) * 1000:9.1f} ms  {who:<12} {text}")

    def text(self):
        return "\n".join(self.lines)

    def about(self, words, most=120):
        """The last lines that name one of the words."""
        found = [line for line in self.lines if any(word in line for word in words if word)]
        return found[-most:]
