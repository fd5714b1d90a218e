"""What listens on NOTIFY_SOCKET in the place of systemd."""

import os
import socket

from .waiting import DEADLINE


class ServiceManager:
    """`heard` is every line so far, in the order they came."""

    def __init__(self, address):
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.heard = []

    def environment(self, **more):
        return {"NOTIFY_SOCKET": self.address, **more}

    def expect(self, line, deadline=DEADLINE):
        """Waits for the next message with a line that begins like this; returns that line."""
        self.socket.settimeout(deadline)
        while True:
            try:
                lines = self.socket.recv(1 << 16).decode().split("\n")
            except socket.timeout:
                raise AssertionError(f"nobody said {line!r}: {self.heard}") from None
            self.heard += lines
            for one in lines:
                if one.startswith(line):
                    return one

    def waiting(self):
        """The messages that are there already, without waiting for any."""
        messages = []
        self.socket.setblocking(False)
        while True:
            try:
                messages.append(self.socket.recv(1 << 16).decode())
            except BlockingIOError:
                break
        for message in messages:
            self.heard += message.split("\n")
        return messages

    def close(self):
        self.socket.close()
        if not self.address.startswith("@") and os.path.exists(self.address):
            os.unlink(self.address)
