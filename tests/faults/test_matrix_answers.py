"""The fault matrix, part 2: the upstream takes the request and then is slow, or declines."""

from faults import main_parallel
from matrix import Error, Result, Row, answering, tests_of, well


def declined_once(cell):
    cell.seen_at_least_once(sum(map(len, cell.asked.values())))


def later(seconds):
    return {"headers": {"Retry-After": str(seconds)}}


PATIENT = ("--connect-wait", "20s")
AGAIN = {"seen": (1, 4), "in_a_session": 4, "heals": "waiting", "noticed": declined_once, "daemon": PATIENT}

ROWS = [
    Row("hanging_after_the_request", answering({"hang": True}), Error("timeout", "unknown", "--request-timeout"), heal=well),
    Row("hanging_in_the_middle_of_a_header", answering({"headerHang": True}), Error("timeout", "unknown"), heal=well),
    Row("a_byte_a_second", answering({"trickleMs": 1000}), Error("timeout", "unknown"), heal=well,
        daemon=("--request-max", "2500ms")),
    Row("429", answering({"status": 429}), Error("http", "no", status=429), heal=well),
    Row("429_with_a_short_retry_after", answering({"status": 429, **later(1)}), Result(), heal=well, **AGAIN),
    Row("429_with_a_long_retry_after", answering({"status": 429, **later(3600)}),
        Error("http", "no", status=429, retryAfterMs=3_600_000), heal=well),
    Row("502", answering({"status": 502}), Error("http", "unknown", status=502), heal=well),
    Row("503", answering({"status": 503}), Error("http", "unknown", status=503), heal=well),
    Row("503_with_a_short_retry_after", answering({"status": 503, **later(1)}), Result(), heal=well, **AGAIN),
    Row("503_with_a_long_retry_after", answering({"status": 503, **later(3600)}),
        Error("http", "no", status=503, retryAfterMs=3_600_000), heal=well),
]
Matrix = tests_of(ROWS)


if __name__ == "__main__":
    main_parallel(6)
