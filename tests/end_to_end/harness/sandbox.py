"""A program without sockets: what the sandboxes of coding agents forbid (seccomp)."""

import ctypes
import errno
import platform
import socket
import struct

CALLS = {"x86_64": {"socket": 41, "connect": 42}, "aarch64": {"socket": 198, "connect": 203}}.get(platform.machine())

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def forbidding(call, error=errno.EPERM):
    """For the process that is about to be started: socket(AF_UNIX), or any connect(), fails with that."""
    steps = [(_LOAD, 0, 0, 0), (_JUMP_IF_EQUAL, 0, 3 if call == "socket" else 1, CALLS[call])]
    if call == "socket":
        steps += [(_LOAD, 0, 0, 16), (_JUMP_IF_EQUAL, 0, 1, socket.AF_UNIX)]
    steps += [(_RETURN, 0, 0, _FAIL | error), (_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = _Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)

    def forbid():
        for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0)):
            if libc.prctl(*arguments) != 0:
                raise OSError(ctypes.get_errno(), "prctl")

    forbid.code = code  # lives as long as the program
    return forbid
