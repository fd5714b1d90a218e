"""A protected MCP server with its authorization server, and what tests of tokens need besides."""

from .login_case import LoginCase
from .login_server import LoginServer, get, signed_in
from .protected_server import ProtectedServer

__all__ = ["LoginCase", "LoginServer", "ProtectedServer", "get", "signed_in"]
