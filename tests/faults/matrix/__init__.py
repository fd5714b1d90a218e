"""The fault matrix: rows are faults, columns are loads, each cell is one test."""

from .cell import Cell
from .columns import COLUMNS
from .outcome import Error, Result
from .row import Row, answering, well
from .table import tests_of

__all__ = ["COLUMNS", "Cell", "Error", "Result", "Row", "answering", "tests_of", "well"]
