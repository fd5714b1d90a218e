"""The daemon's child: stdin to a Unix socket, and what comes from there to stdout. It ends when either side does."""

import os
import socket
import sys
import threading


def copy(source, target):
    try:
        while data := source():
            target(data)
    except OSError:
        pass


connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])


def upward():
    copy(lambda: os.read(0, 1 << 16), connection.sendall)
    connection.shutdown(socket.SHUT_WR)


def write(data):
    while data:
        data = data[os.write(1, data):]


threading.Thread(target=upward, daemon=True).start()
copy(lambda: connection.recv(1 << 16), write)
os._exit(0)
