"""The fault matrix, part 3: the connection, or the answer on it, breaks."""

from faults import main_parallel
from matrix import Error, Result, Row, answering, tests_of, well


def resuming(first, then=None):
    """The answer's stream ends early, and so do those that continue it, or they begin with what is no news."""
    def strike(cell):
        cell.server.fault(first, method="tools/call", times=-1)
        if then:
            cell.server.fault(then, http_method="GET", times=-1)
    return strike


def resumed(times):
    def noticed(cell):
        requests = sum(map(len, cell.asked.values()))
        if requests:
            cell.server.log(http_method="GET", wait=times * requests)
    return noticed


def command(text):
    return lambda cell: cell.proxy_.command(text)


BROKEN = Error("closed", "unknown")
LONG = {"tool": ("slow", {"steps": 3000, "delayMs": 10}), "strikes": "sent"}
IDS = ("--event-ids", "--answers", "sse", "--retry", "100")
ENDS_EARLY = {"closeAfterEvents": 0, "end": "cut"}

ROWS = [
    Row("closed_before_the_answer", answering({"closeBeforeAnswer": True}), BROKEN, heal=well),
    Row("reset_before_the_answer", answering({"resetBeforeAnswer": True}), BROKEN, heal=well),
    Row("a_reused_connection_that_dies_before_the_first_byte", command("cut-after-down 0"), BROKEN,
        heal=command("pass"), keeps_stream=False),
    Row("all_connections_closed", command("close-all"), BROKEN, keeps_stream=False, **LONG),
    Row("all_connections_reset", command("reset-all"), BROKEN, keeps_stream=False, **LONG),
    Row("a_json_body_that_is_cut", answering({"truncateAt": 120}), BROKEN, heal=well),
    Row("an_event_stream_cut_without_ids", answering({"sse": [{"raw": ": here\n\n"}], "end": "cut"}), BROKEN, heal=well),
    Row("an_event_stream_cut_with_ids", resuming(ENDS_EARLY), Result(), heal=well, upstream=IDS),
    Row("several_resumptions", resuming(ENDS_EARLY, ENDS_EARLY), Result(), heal=well, upstream=IDS, heals="waiting",
        noticed=resumed(3), daemon=("--request-timeout", "20s")),
    Row("a_resumption_that_replays_nothing_new",
        resuming(ENDS_EARLY, {"sse": [{"data": "{}"}, {"data": "{}"}], "thenAnswer": True}), Result(), heal=well,
        upstream=IDS),
]
Matrix = tests_of(ROWS)


if __name__ == "__main__":
    main_parallel(8)
