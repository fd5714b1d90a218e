"""Ports at which nothing answers, and which no other test is given: tests run beside one another."""

import socket


def hold(port=0, host="127.0.0.1"):
    """A socket that owns the port and does not listen. One that sets SO_REUSEADDR can still listen there."""
    one = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((host, port))
    return one
