"""From a table of rows to tests: one for each row and column."""

from .cell import Cell
from .columns import COLUMNS


def tests_of(rows, columns=COLUMNS, program=None):
    """A test case with a test of each cell, named by its row and column. `program`: another daemon than the usual one."""

    def test_of(row, column):
        def test(self):
            self.run_cell(row, column)

        return test

    tests = {f"test_{row.name}_{column.name}": test_of(row, column) for row in rows for column in columns}
    assert len(tests) == len(rows) * len(columns), "two rows of one name"
    return type("Matrix", (Cell,), {**tests, "program": program})
