"""A child process that cannot outlive its test, with what it printed in files."""

import ctypes
import os
import signal
import subprocess

from .waiting import DEADLINE, eventually

MARKER = "MCP_E2E_TEST"
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

SANITIZER_REPORTS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "WARNING: ThreadSanitizer",
                     "AddressSanitizer:DEADLYSIGNAL")
UPGRADED, TOO_LATE = "continues serving", "upgrade failed; continuing with the old version: did not end within 5000 ms"


def marked(marker):
    """What a test's processes have in their environment. In the name: the daemon blots out the values."""
    return {f"{MARKER}_{marker}": "1"}


class Process:
    def __init__(self, name, command, folder, marker, environment=None, stdin=subprocess.DEVNULL, before_exec=None,
                 pass_fds=()):
        self.name = name
        self.stdout_path = os.path.join(folder, name + ".out")
        self.stderr_path = os.path.join(folder, name + ".err")
        variables = {key: value for key, value in os.environ.items() if not key.startswith(("MCP_", "LISTEN_"))}
        variables.update(marked(marker))
        variables.update(environment or {})

        def prepare():
            # ctest kills a test that takes too long, and then nobody else would end this one.
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if before_exec:
                before_exec()

        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            self.popen = subprocess.Popen([str(part) for part in command], stdin=stdin, stdout=out, stderr=err,
                                          cwd=folder, env=variables, preexec_fn=prepare, pass_fds=pass_fds)
        self.pid = self.popen.pid

    @property
    def stdin(self):
        return self.popen.stdin

    def stdout(self):
        with open(self.stdout_path, "rb") as file:
            return file.read()

    def stderr(self):
        with open(self.stderr_path, "r", encoding="utf-8", errors="replace") as file:
            return file.read()

    def running(self):
        return self.popen.poll() is None

    def signal(self, number):
        if self.running():
            os.kill(self.pid, number)

    def wait(self, deadline=DEADLINE):
        """The exit code; negative for a signal."""
        try:
            return self.popen.wait(deadline)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} does not end") from None

    def kill(self):
        if self.running():
            self.popen.kill()
        self.popen.wait()
        if self.popen.stdin:
            try:
                self.popen.stdin.close()
            except BrokenPipeError:
                pass

    def stdout_line(self, index=0):
        def line():
            lines = self.stdout().split(b"\n")
            if len(lines) > index + 1:
                return lines[index].decode()
            if not self.running():
                raise AssertionError(f"{self.name} ended with {self.popen.returncode}: {self.stderr()}")
            return None

        return eventually(line, f"line {index + 1} of {self.name}")

    def logged(self, text, times=1):
        """Waits until stderr holds the text so often; returns all of it."""
        eventually(lambda: self.stderr().count(text) >= times,
                   lambda: f"{text!r} {times} times in the log of {self.name}:\n{self.stderr()}")
        return self.stderr()

    def upgrade(self):
        """In place. A daemon gives the new program 5 s to show that it can continue: on a machine that stands still, again."""
        done, late = self.stderr().count(UPGRADED), self.stderr().count(TOO_LATE)

        def is_done():
            nonlocal late
            if self.stderr().count(TOO_LATE) > late:
                late += 1
                self.signal(signal.SIGUSR2)
            return self.stderr().count(UPGRADED) > done

        self.signal(signal.SIGUSR2)
        eventually(is_done, lambda: f"the upgrade of {self.name}:\n{self.stderr()}")

    def sanitizer_report(self):
        """The first report on stderr, as far as it says where; None if there is none."""
        text = self.stderr()
        found = [text.find(sign) for sign in SANITIZER_REPORTS if sign in text]
        return text[min(found):][:6000] if found else None

    # What /proc knows of it.

    def fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def status_field(self, name):
        return status_field(self.pid, name)

    def pages_made(self):
        """Page faults that took no reading: how often it wrote where it had no memory."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            return int(file.read().rpartition(")")[2].split()[7])

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status_field(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":"))


def open_files(pid):
    """What the process's descriptors lead to, but for those that close meanwhile."""
    links = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except FileNotFoundError:
            continue
    return links


def left_behind(marker):
    """Pids of processes that carry the test's marker and still run."""
    sought = f"{MARKER}_{marker}=".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if any(variable.startswith(sought) for variable in file.read().split(b"\0")):
                    found.append(int(entry))
        except OSError:
            continue
    return found


def described(pid):
    """Its name, its state, its parent and where it is in the kernel, for who has to find out why it still runs."""
    words = [str(pid)]
    for name in ("cmdline", "stat", "wchan", "syscall"):
        try:
            with open(f"/proc/{pid}/{name}", encoding="ascii", errors="replace") as file:
                text = file.read().replace("\0", " ").strip()
        except OSError as error:
            text = error.strerror
        words.append(f"{name}: {' '.join(text.split()[:4]) if name == 'stat' else text}")
    return ", ".join(words)
