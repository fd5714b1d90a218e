"""A client of another user: what only root can try out."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534

_SCRIPT = r"""
import os, socket, sys
path, uid, gid, groups = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), [int(g) for g in sys.argv[4].split(",") if g]
os.setgroups(groups); os.setgid(gid); os.setuid(uid)
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\0" + path[1:] if path.startswith("@") else path)
    s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"bridge/status"}\n')
    data = b""
    while b"\n" not in data:
        part = s.recv(65536)
        if not part: break
        data += part
except OSError as error:
    print(type(error).__name__); sys.exit()
print("served" if b'"result"' in data else "closed")
"""


# Listens, says when it does, and says how much it is sent before it answers.
_LISTEN = r"""
import os, socket, sys
path, uid = sys.argv[1], int(sys.argv[2])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
s = socket.socket(socket.AF_UNIX)
s.bind("\0" + path[1:] if path.startswith("@") else path)
if not path.startswith("@"): os.chmod(path, 0o777)
s.listen(16)
print("listening", flush=True)
while True:
    c, _ = s.accept()
    data = b""
    while b"\n" not in data:
        part = c.recv(65536)
        if not part: break
        data += part
    print("got", len(data), flush=True)
    if data: c.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"pid":1}}\n')
    c.close()
"""


def listen_as_nobody(path):
    """A process of another user that serves a socket: its lines on stdout are `got N`."""
    process = subprocess.Popen([sys.executable, "-c", _LISTEN, path, str(NOBODY)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"listening\n"
    return process


def for_others(case, program):
    """A copy of the program that any user can reach: the clone may lie in a home folder, as /root is."""
    folder = tempfile.mkdtemp(prefix="mcp-e2e-programs-")
    case.addCleanup(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    return shutil.copy(program, folder)


def become_nobody():
    """For the process that is about to be started."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def is_root():
    return os.geteuid() == 0


def connect_as(path, uid=NOBODY, gid=NOBODY, groups=()):
    """"served", "closed", or the name of connect's error."""
    # The interpreter may stand in a home folder, so it is started as root and becomes the other one.
    command = [sys.executable, "-c", _SCRIPT, path, str(uid), str(gid), ",".join(str(group) for group in groups)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    answer = done.stdout.strip()
    return "closed" if answer in ("BrokenPipeError", "ConnectionResetError") else answer


@contextlib.contextmanager
def acting_as(uid=NOBODY):
    """What is connected meanwhile comes from this user. For root, in a program of one thread."""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
