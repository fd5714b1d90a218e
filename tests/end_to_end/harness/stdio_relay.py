"""The child that a daemon runs for a scripted server: its stdin and stdout go to a Unix socket of the test's process.

`python3 -S -E stdio_relay.py SOCKET`. It ends when either side does."""

import contextlib
import os
import socket
import sys
import threading


def main(path):
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)

    def up():
        with contextlib.suppress(OSError):
            while data := os.read(0, 1 << 16):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    threading.Thread(target=up, daemon=True).start()
    with contextlib.suppress(OSError):
        while data := server.recv(1 << 16):
            while data:
                data = data[os.write(1, data):]
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
