"""Reads the Prometheus text exposition."""

import re
import shutil
import subprocess

_SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)')


class Metrics:
    """`types` and `helps` by family; samples by name and labels. Anything unreadable is an AssertionError."""

    def __init__(self, text):
        assert text.endswith("\n"), text[-200:]
        self.text = text
        self.types, self.helps, self.samples = {}, {}, {}
        for line in text.splitlines():
            if line.startswith("# "):
                _, what, name, rest = line.split(" ", 3)
                kept = {"TYPE": self.types, "HELP": self.helps}[what]
                assert name not in kept, f"{name} twice"
                kept[name] = rest
                continue
            match = _SAMPLE.match(line)
            assert match, f"no sample: {line!r}"
            name, raw, value = match.groups()
            labels = _LABEL.findall(raw or "")
            assert ",".join(f'{key}="{text}"' for key, text in labels) == (raw or ""), f"labels: {line!r}"
            key = (name, frozenset(labels))
            assert key not in self.samples, f"twice: {line!r}"
            self.samples[key] = float(value)

    def of(self, name, **labels):
        """The values of all samples of that name which have these labels."""
        wanted = set(labels.items())
        return [value for (found, has), value in self.samples.items() if found == name and wanted <= has]

    def sum(self, name, **labels):
        values = self.of(name, **labels)
        assert values, f"no {name} with {labels}"
        return sum(values)

    def family(self, name):
        """What HELP and TYPE of this sample are under."""
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        return base if self.types.get(base) == "histogram" else name


def promtool(*arguments, stdin=None):
    """Runs it where it is installed; returns what it says, empty if all is well, None if it is not there."""
    program = shutil.which("promtool")
    if not program:
        return None
    done = subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
