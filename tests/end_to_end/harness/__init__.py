"""What every end-to-end test is written with: real processes in a folder of the test's own."""

from .case import Case, main
from .frames import answer, call, initialize, notification, request, text_of
from .socket_client import Client, Closed
from .waiting import DEADLINE, eventually, patient, within

__all__ = ["Case", "Client", "Closed", "DEADLINE", "answer", "call", "eventually", "initialize", "main",
           "notification", "patient", "request", "text_of", "within"]
