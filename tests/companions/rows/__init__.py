"""The rows of the table: importing them collects their aspects, in the order of the table."""

from . import typing, reading, asking, meanwhile, servers, others  # noqa: F401
from .aspects import ASPECTS, tried

__all__ = ["ASPECTS", "tried"]
