"""The fault matrix under its heaviest load, on the optimised daemon: its memory, too, is back where it was."""

import test_matrix_answers
import test_matrix_away
import test_matrix_broken
import test_matrix_session
from faults import main_parallel
from harness.binaries import release_binary
from matrix import COLUMNS, tests_of

ROWS = [row for part in (test_matrix_away, test_matrix_answers, test_matrix_broken, test_matrix_session) for row in part.ROWS]
Matrix = tests_of(ROWS, [column for column in COLUMNS if column.requests == 64], release_binary("MCP_BRIDGED"))

if __name__ == "__main__":
    main_parallel(10)
