"""TLS before a server that has none: decrypts, and passes everything on."""

import asyncio
import socket
import ssl
import threading

from .certificates import key_of


def server_context(certificate, client_authority=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key_of(certificate))
    context.num_tickets = 0  # else a session is resumed, and the certificate not looked at
    context.options |= ssl.OP_NO_TICKET
    if client_authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_authority)
    return context


class TlsRefuser:
    """Requires a client's certificate, and tells whoever has none of `client_authority` so by an alert.

    asyncio closes without one, so this has a thread and does nothing else."""

    def __init__(self, certificate, client_authority):
        self.context = server_context(certificate, client_authority)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        self.accepted = []  # handshakes that were not refused
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(10)
            secured = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            try:
                secured.do_handshake()
                self.accepted.append(secured)
            except OSError:
                self._linger(socket.socket(fileno=secured.detach()))

    @staticmethod
    def _linger(connection):
        # Closed with unread bytes the alert might be lost by a reset.
        with connection:
            connection.settimeout(10)
            try:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


class TlsFront:
    """Runs in a thread of its own until close(). `client_authority`: a certificate of whose making is required."""

    def __init__(self, to_port, certificate, client_authority=None):
        self.to_port = to_port
        self.client_authority = client_authority
        self.handshakes = 0
        self.loop = asyncio.new_event_loop()
        self.use(certificate)
        # Each handshake asks which certificate is meant, also without a server name.
        first = self._context(certificate)
        first.sni_callback = self._choose
        self.server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=first))
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}/mcp"
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def use(self, certificate):
        """From the next handshake on."""
        self.context = self._context(certificate)

    def _context(self, certificate):
        return server_context(certificate, self.client_authority)

    def _choose(self, connection, _name, _context):
        self.handshakes += 1
        connection.context = self.context

    async def _serve(self, reader, writer):
        try:
            there = await asyncio.open_connection("127.0.0.1", self.to_port)
            await asyncio.gather(self._pass_on(reader, there[1]), self._pass_on(there[0], writer))
        except OSError:
            writer.close()

    @staticmethod
    async def _pass_on(reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def close(self):
        async def end():
            self.server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
