"""The fault matrix, part 1: no connection to the upstream comes about, or it is good for nothing."""

from faults import main_parallel, patient
from matrix import Error, Result, Row, tests_of


def away(cell):
    """A request has found out."""
    if cell.askers:
        cell.daemon.status_when(lambda status: status["upstream"]["state"] == "waiting", "away")


def expire(cell):
    cell.front.use(cell.authority.sign("old", expired=True))
    cell.drop_connections()


def hang_after_accept(cell):
    cell.proxy_.command("accept-hang on")
    cell.drop_connections()


# Rows with TLS have more time: the front that ends it here is slow, above all with 64 handshakes at once.
ROWS = [
    Row("refused", lambda cell: cell.refuse(), Error("connect", "no", "cannot reach"), seen=(0, 0), keeps_stream=False,
        heal=lambda cell: cell.proxy_.command("refuse off")),
    Row("refused_for_a_moment", lambda cell: cell.refuse(), Result(), heals="waiting", noticed=away, keeps_stream=False,
        daemon=("--connect-wait", "20s"), heal=lambda cell: cell.proxy_.command("refuse off")),
    Row("a_connect_that_hangs", lambda cell: cell.drop_syns(), Error("connect", "no", "no connection within"),
        seen=(0, 0), keeps_stream=False, heal=lambda cell: cell.take_syns(),
        # A try that is under way when the fault heals hangs for up to --connect-timeout.
        daemon=("--connect-wait", patient(4000))),
    Row("a_name_that_is_gone", lambda cell: cell.names.forget(), Error("dns", "no", "resolve"), way="name", strikes="at start",
        seen=(0, 0), heal=lambda cell: cell.names.know()),
    Row("a_name_server_that_is_silent", lambda cell: (cell.names.forget(), cell.names.be_silent()),
        Error("dns", "no", "name server"), way="name", strikes="at start", seen=(0, 0), heal=lambda cell: cell.names.know()),
    Row("a_certificate_that_has_expired", expire, Error("tls", "no", "expired"), way="tls", seen=(0, 0),
        keeps_stream=False, daemon=("--connect-timeout", "60s", "--connect-wait", "12s", "--request-timeout", "90s"),
        heal=lambda cell: cell.front.use(cell.authority.sign("new"))),
    Row("a_tls_handshake_that_hangs", hang_after_accept, Error("tls", "no", "handshake"), way="tls", seen=(0, 0),
        keeps_stream=False,
        daemon=("--connect-timeout", patient(4000), "--connect-wait", patient(12000), "--request-timeout", "90s"),
        heal=lambda cell: cell.proxy_.command("accept-hang off")),
    Row("hanging_after_accept", hang_after_accept, Error("timeout", "unknown"), seen=(0, 1), keeps_stream=False,
        heal=lambda cell: cell.proxy_.command("accept-hang off")),
]
Matrix = tests_of(ROWS)

if __name__ == "__main__":
    main_parallel(6)
