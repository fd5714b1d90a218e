"""Names that one process alone knows: its own hosts file and name server, in a mount namespace (root only)."""

import ctypes
import os
import random
import socket

_CLONE_NEWNS, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20000, 0x1000, 0x4000, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


class NameService:
    NAME = "upstream.test"

    def __init__(self, folder):
        self.hosts, self.resolver = os.path.join(folder, "hosts"), os.path.join(folder, "resolv.conf")
        # A loopback address of its own, so that tests at the same time do not meet.
        self.address = f"127.{random.randint(2, 250)}.{random.randint(2, 250)}.{random.randint(2, 250)}"
        self.server = None
        self._write(self.resolver, f"nameserver {self.address}\noptions timeout:5 attempts:1\n")
        self.forget()
        self.missing = os.path.join(folder, "missing")
        os.makedirs(self.missing, exist_ok=True)
        for name in ("hosts", "resolv.conf"):
            self._write(os.path.join(self.missing, name), "")

    @staticmethod
    def _write(path, text):
        # In place: the file is mounted, not its name.
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def know(self):
        self._write(self.hosts, f"127.0.0.1 localhost {self.NAME}\n")

    def forget(self):
        """The name server, which nobody runs, is asked from now on."""
        self._write(self.hosts, "127.0.0.1 localhost\n")

    def be_silent(self):
        """There is a name server, and it never answers."""
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind((self.address, 53))

    def close(self):
        if self.server:
            self.server.close()

    def enter(self):
        """In the child before exec."""
        hosts, resolver = self.hosts.encode(), self.resolver.encode()
        if (_libc.unshare(_CLONE_NEWNS) or _libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) or
                self._add_missing_files() or
                _libc.mount(hosts, b"/etc/hosts", None, _MS_BIND, None) or
                _libc.mount(resolver, os.path.realpath("/etc/resolv.conf").encode(), None, _MS_BIND, None)):
            raise OSError(ctypes.get_errno(), "mount")

    def _add_missing_files(self):
        """Debian's smallest installation has no hosts file, so nothing to mount on: it gets one, for this process alone."""
        if os.path.exists("/etc/hosts") and os.path.exists("/etc/resolv.conf"):
            return 0
        layers = f"lowerdir={self.missing}:/etc".encode()
        return _libc.mount(b"overlay", b"/etc", b"overlay", 0, layers)
