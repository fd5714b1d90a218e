"""A protected MCP server with its authorization server, and what tests of tokens need besides."""

from .keys import make_certificate, make_key, verified_claims
from .protected_server import ProtectedServer

__all__ = ["ProtectedServer", "make_certificate", "make_key", "verified_claims"]
