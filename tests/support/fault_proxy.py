"""A TCP proxy that cuts, resets, hangs and refuses as the control port says.

    fault_proxy.py HOST PORT      passes on to it; prints `listening on 127.0.0.1:PORT` and `control on 127.0.0.1:PORT`
    printf 'refuse on\\nstats\\n' | nc -N 127.0.0.1 CONTROL

A command is a line on the control port, answered by `ok`, `error …` or JSON. It applies to open and new connections until
`pass` or another value. Bytes count per connection from its start or the command; `down` is server to client.

    cut-after-down N [once], cut-after-up N [once]      passes N bytes; at the next one both sides get FIN (`down 0`: the
                                                        request arrives, no byte of the answer does); `once`: then disarmed
    reset-after-down N [once], reset-after-up N [once]  the same with RST
    refuse on|off, accept-hang on|off                   refuses new connections; accepts them and passes nothing
    close-all, reset-all, hang-all                      FIN, RST, or silence for the open connections
    pass                                                all of the above off
    stats                                               {"accepted":2,"open":1}

A connection that the server refuses is reset.
"""

import select
import socket
import struct
import sys
import time

LOCAL = "127.0.0.1"
BACKLOG = 1024
MOST_QUEUED = 1 << 20
PORTION = 1 << 16
CUT_TIME = 2.0  # seconds for the peers to close
ACTIONS = ("cut", "reset")
DIRECTIONS = ("up", "down")


def at_once(plain):
    plain.setblocking(False)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain


def reserve(port=0):
    """Bound and not listening: connections are refused."""
    plain = socket.socket()
    plain.setblocking(False)
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    plain.bind((LOCAL, port))
    return plain


class Pipe:
    """One direction of a connection: bytes that were read and not passed on yet."""

    def __init__(self, source, target, limit):
        self.source, self.target = source, target
        self.queued = bytearray()
        self.at_end = self.end_passed = False
        self.arm(limit)

    def arm(self, limit):
        """`limit`: (action, bytes that pass before it); None: no limit, and what is held is released."""
        self.limit, self.left, self.held = limit, limit[1] if limit else PORTION, False

    def wants_to_read(self):
        return not self.at_end and len(self.queued) < MOST_QUEUED

    def wants_to_write(self):
        return not self.held and not self.end_passed and (self.at_end or bool(self.queued))

    def read(self):
        data = self.source.recv(PORTION)
        self.at_end = not data
        self.queued += data

    def write(self):
        """True: the limit was reached."""
        while self.queued:
            if self.left == 0:
                return True
            sent = self.target.send(self.queued[:self.left])
            del self.queued[:sent]
            if self.limit:
                self.left -= sent
        if self.at_end:
            self.target.shutdown(socket.SHUT_WR)
            self.end_passed = True
        return False


class Connection:
    """A client's connection, and the one to the server. `state`: parked, connecting, open, cut, gone."""

    def __init__(self, client, limits):
        self.client, self.server = at_once(client), at_once(socket.socket())
        self.state, self.cut_until = "parked", None
        self.pipes = {"up": Pipe(self.client, self.server, limits["up"]),
                      "down": Pipe(self.server, self.client, limits["down"])}

    def begin(self, address):
        self.server.connect_ex(address)
        self.state = "connecting"

    def interest(self):
        """(socket, events) to poll for. A socket without interest is left out: a closed one would be reported again and again."""
        if self.state == "parked":
            return [(self.client, 0)]  # errors
        if self.state == "connecting":
            return [(self.server, select.POLLOUT)]
        if self.state == "cut":
            return [(one, select.POLLIN) for one in (self.client, self.server) if one.fileno() >= 0]
        up, down = self.pipes["up"], self.pipes["down"]
        wanted = []
        for one, incoming, outgoing in ((self.client, up, down), (self.server, down, up)):
            events = select.POLLIN * incoming.wants_to_read() | select.POLLOUT * outgoing.wants_to_write()
            if events:
                wanted.append((one, events))
        return wanted

    def step(self, ready):
        """`ready`: sockets with events. The direction whose limit was reached, or None."""
        try:
            if self.state == "parked" and self.client in ready:
                self.reset()
            elif self.state == "connecting" and self.server in ready:
                self.state = "open"
                if self.server.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self.reset()
            elif self.state == "cut":
                self.drain()
            elif self.state == "open":
                return self.pass_on(ready)
        except OSError:
            self.reset()
        return None

    def pass_on(self, ready):
        for direction, pipe in self.pipes.items():
            try:
                if pipe.source in ready and pipe.wants_to_read():
                    pipe.read()
                if pipe.wants_to_write() and pipe.write():
                    getattr(self, pipe.limit[0])()
                    return direction
            except BlockingIOError:
                pass
        if all(pipe.end_passed for pipe in self.pipes.values()):
            self.end()
        return None

    def drain(self):
        """Closing with unread bytes would be a reset, so they are read until the peer closes too."""
        for one in (self.client, self.server):
            try:
                while one.fileno() >= 0 and one.recv(PORTION):
                    pass
                one.close()
            except BlockingIOError:
                pass
            except OSError:
                one.close()
        if time.monotonic() > self.cut_until or self.client.fileno() < 0 and self.server.fileno() < 0:
            self.end()

    def cut(self):
        if self.state in ("cut", "gone"):
            return
        for one in (self.client, self.server):
            try:
                one.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # not connected
        self.state, self.cut_until = "cut", time.monotonic() + CUT_TIME

    def reset(self):
        for one in (self.client, self.server):
            if one.fileno() >= 0:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.end()

    def end(self):
        self.client.close()
        self.server.close()
        self.state = "gone"


class Proxy:
    def __init__(self, server):
        self.server = server
        self.listener = reserve()
        self.port = self.listener.getsockname()[1]
        self.listener.listen(BACKLOG)
        self.refuses = self.accept_hang = False
        self.limits = dict.fromkeys(DIRECTIONS)
        self.once = dict.fromkeys(DIRECTIONS, False)
        self.connections, self.accepted = [], 0

    # Commands.

    def obey(self, line):
        name, *words = line.split() or [""]
        if name in ("refuse", "accept-hang") and words in (["on"], ["off"]):
            (self.set_refuse if name == "refuse" else self.set_accept_hang)(words == ["on"])
        elif name == "pass":
            for direction in DIRECTIONS:
                self.set_limit(direction, None)
            self.set_accept_hang(False)
            self.set_refuse(False)
        elif name in ("close-all", "reset-all", "hang-all"):
            for connection in self.connections:
                {"close-all": connection.cut, "reset-all": connection.reset, "hang-all": lambda one=connection: hang(one)}[name]()
        elif name == "stats":
            opened = sum(connection.state != "gone" for connection in self.connections)
            return f'{{"accepted":{self.accepted},"open":{opened}}}'
        else:
            return self.obey_limit(name.split("-after-"), words)
        return "ok"

    def obey_limit(self, name, words):
        if len(name) != 2 or name[0] not in ACTIONS or name[1] not in DIRECTIONS or not words or not words[0].isdecimal() \
                or words[1:] not in ([], ["once"]):
            return "error: unknown command"
        self.set_limit(name[1], (name[0], int(words[0])), len(words) == 2)
        return "ok"

    def set_limit(self, direction, limit, once=False, but=None):
        self.limits[direction], self.once[direction] = limit, once
        for connection in self.connections:
            if connection is not but:
                connection.pipes[direction].arm(limit)

    def set_refuse(self, on):
        if on == self.refuses:
            return
        if on:
            self.listener.close()
            self.listener = reserve(self.port)
        else:
            self.listener.listen(BACKLOG)
        self.refuses = on

    def set_accept_hang(self, on):
        self.accept_hang = on
        for connection in self.connections:
            if not on and connection.state == "parked":
                connection.begin(self.server)

    # The loop.

    def accept(self):
        try:
            while True:
                connection = Connection(self.listener.accept()[0], self.limits)
                self.accepted += 1
                self.connections.append(connection)
                if not self.accept_hang:
                    connection.begin(self.server)
        except BlockingIOError:
            pass

    def run(self, control):
        controls = {}  # a connection: what of its command has come
        while True:
            wanted = [(one, select.POLLIN) for one in (control, *controls)]
            if not self.refuses:
                wanted.append((self.listener, select.POLLIN))
            for connection in self.connections:
                wanted += connection.interest()
            by_descriptor, poll = {one.fileno(): one for one, _ in wanted}, select.poll()
            for one, events in wanted:
                poll.register(one, events)
            is_cutting = any(connection.state == "cut" for connection in self.connections)
            ready = {by_descriptor[descriptor] for descriptor, _ in poll.poll(100 if is_cutting else None)}
            for connection in self.connections:
                reached = connection.step(ready)
                if reached and self.once[reached]:
                    self.set_limit(reached, None, but=connection)
            # Commands come after pending data, and before what arrives next.
            for one in [one for one in controls if one in ready]:
                if not self.serve_control(one, controls):
                    del controls[one]
                    one.close()
            if self.listener in ready:
                self.accept()
            if control in ready:
                controls[control.accept()[0]] = b""
            self.connections = [connection for connection in self.connections if connection.state != "gone"]

    def serve_control(self, one, controls):
        data = one.recv(PORTION)
        *lines, controls[one] = (controls[one] + data).split(b"\n")
        for line in lines:
            try:
                answer = self.obey(line.decode())
            except OSError as error:  # the port is taken
                answer = f"error: {error}"
            one.sendall(answer.encode() + b"\n")
        return bool(data)


def hang(connection):
    for pipe in connection.pipes.values():
        pipe.held = True


def main(host, port):
    control = reserve()
    control.listen()
    proxy = Proxy((host, int(port)))
    print(f"listening on {LOCAL}:{proxy.port}\ncontrol on {LOCAL}:{control.getsockname()[1]}", flush=True)
    proxy.run(control)


if __name__ == "__main__":
    main(*sys.argv[1:])
