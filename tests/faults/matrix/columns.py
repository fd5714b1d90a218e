"""What is going on while the fault strikes."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    requests: int  # that wait for their answer
    burst: bool = False  # of notifications on the server stream, to every client


COLUMNS = (
    Column("while_idle", requests=0),
    Column("with_one_request_waiting", requests=1),
    Column("with_64_requests_waiting", requests=64),
    Column("in_a_burst_of_notifications", requests=1, burst=True),
)
