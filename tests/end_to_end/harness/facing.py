"""A daemon with an HTTP frontend before a demo upstream."""

from .case import Case
from .face import Face
from .waiting import eventually


class Facing(Case):
    def setUp(self):
        super().setUp()
        self.faces = []

    def face(self, *options, upstream=(), token=None, ca_file=None, address="127.0.0.1:0"):
        """The upstream and the face; the daemon is `default_daemon`."""
        server = self.upstream(*upstream)
        return server, self.face_before(server, *options, token=token, ca_file=ca_file, address=address)

    def face_before(self, server, *options, token=None, ca_file=None, address="127.0.0.1:0", **how):
        daemon = self.start_daemon(server, "--http", address, *options, **how)
        face = Face.of(daemon, token=token, ca_file=ca_file)
        self.faces.append(face)
        return face

    def tearDown(self):
        for face in self.faces:
            face.close()
        super().tearDown()

    def parked(self, face, count):
        """Asked over HTTP: a connection to the socket that has not spoken yet is a client that could be asked, and with it
        there a question is refused, not parked."""
        eventually(lambda: face.get("/status").json()["requests"]["parked"] == count, f"{count} parked")

    def clients_of_kind(self, kind, count):
        return self.default_daemon.status_when(
            lambda status: sum(client["kind"] == kind for client in status["clients"]) == count, f"{count} {kind} clients")
