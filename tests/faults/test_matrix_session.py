"""The fault matrix, part 4: the upstream loses the session, or does not give the server stream."""

from faults import main_parallel
from matrix import Result, Row, tests_of, well

IDS_ONLY = '{"keepStreams":true}'


def losing(body=IDS_ONLY):
    return lambda cell: cell.server.control("POST", "sessions/drop", body)


def losing_and_declining(cell):
    cell.server.fault({"status": 503}, method="initialize", times=2)
    cell.server.control("POST", "sessions/drop", IDS_ONLY)


def without_stream(action, times=-1):
    def strike(cell):
        cell.server.fault(action, http_method="GET", times=times)
        cell.server.control("POST", "streams/close", "{}")
    return strike


# A request is refused in the lost session and carried out in the next one.
LOST = {"reopened": 1, "seen": (1, 2), "keeps_stream": False}
STREAMLESS = {"keeps_stream": False}

ROWS = [
    Row("a_session_lost_with_404", losing(), Result(), **LOST),
    Row("a_session_lost_with_400", losing(), Result(), upstream=("--unknown-session", "400"), **LOST),
    Row("a_session_lost_with_400_as_events", losing(), Result(), upstream=("--unknown-session", "400-sse"), **LOST),
    Row("a_session_lost_with_its_streams", losing("{}"), Result(), **LOST),
    Row("a_session_lost_and_503_for_a_while", losing_and_declining, Result(), daemon=("--connect-wait", "20s"),
        failed_tries=2, **LOST),
    Row("a_session_lost_by_a_404_to_the_stream", without_stream({"status": 404}, times=1), Result(),
        **{**LOST, "seen": (1, 1)}),
    Row("a_stream_refused_with_405", without_stream({"status": 405}), Result(), stream="none", **STREAMLESS),
    Row("a_stream_refused_with_409", without_stream({"status": 409}), Result(), heal=well, **STREAMLESS),
    Row("a_stream_answered_once_with_a_page",
        without_stream({"status": 200, "contentType": "text/html", "body": "<html>"}, times=1), Result(), **STREAMLESS),
    Row("a_stream_refused_once_with_400",
        without_stream({"status": 400, "contentType": "text/plain", "body": "bad gateway"}, times=1), Result(), **STREAMLESS),
    Row("a_stream_closed_at_once", without_stream({"sse": [], "end": "close"}), Result(), heal=well, **STREAMLESS),
    Row("a_stream_reset", lambda cell: cell.server.control("POST", "streams/close", '{"end":"reset"}'), Result(),
        **STREAMLESS),
    Row("a_stream_given_up", without_stream({"status": 500}), Result(), stream="none", daemon=("--stream-retries", "2"),
        **STREAMLESS),
]
Matrix = tests_of(ROWS)


if __name__ == "__main__":
    main_parallel(6)
