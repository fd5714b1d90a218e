"""An MCP server that wants tokens, and the authorization server that issues them: one HTTP server.

The MCP side knows `initialize`, `ping`, and two tools: `echo`, and `admin`, which needs the scope
of that name. It answers with JSON and has no GET stream. The tests change its attributes while it runs.
"""

import base64
import http.server
import json
import ssl
import threading
import time
import urllib.parse

from harness.certificates import key_of


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # a connection that finds it full is tried again only after a second, then after three


class ProtectedServer:
    def __init__(self, certificate=None, host="127.0.0.1"):
        handler = type("Handler", (_Handler,), {"owner": self})
        self.http = _Server((host, 0), handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key_of(certificate))
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.origin = f"{'https' if certificate else 'http'}://{host}:{self.http.server_address[1]}"
        self.url = self.origin + "/mcp"
        self.issuer = self.origin + "/as"
        self.token_url = self.origin + "/as/token"
        self.lock = threading.Lock()

        self.documents = {}  # path: an object, a text, or a number for a status
        self.challenge = 'Bearer error="invalid_token"'
        self.client_id, self.client_secret = "the-client", "s3cret +&%:hush"
        self.expires_in = 3600
        self.delay = 0.0

        self.tokens = {}    # token: (scopes, when it expires)
        self.requests = []  # to the token endpoint: (form, headers)
        self.fetched = []   # paths of documents
        self.calls = []     # (method, token, arguments) that were let through
        self.refused = []   # (method, token) that were not
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    # Metadata.

    def publish(self, resource_place="/.well-known/oauth-protected-resource/mcp",
                server_place="/.well-known/oauth-authorization-server/as", resource=None, issuer=None, **more):
        """`more`: members of the server's document; `scopes_supported` goes to the resource's."""
        scopes = more.pop("scopes_supported", None)
        self.documents[resource_place] = {"resource": resource or self.url, "authorization_servers": [self.issuer],
                                          **({"scopes_supported": scopes} if scopes else {})}
        self.documents[server_place] = {"issuer": issuer or self.issuer, "token_endpoint": self.token_url, **more}

    # Tokens.

    def revoke_all(self):
        with self.lock:
            self.tokens.clear()

    def scopes_of(self, token):
        """None if the token is not good."""
        with self.lock:
            scopes, expires = self.tokens.get(token, (None, 0))
        return scopes if scopes is not None and time.monotonic() < expires else None

    def issue(self, form, headers):
        with self.lock:
            self.requests.append((form, headers))
            number = len(self.requests)
        time.sleep(self.delay)
        if form.get("grant_type") != "client_credentials" or not form.get("resource"):
            return 400, {"error": "invalid_request"}
        if not self._is_client(form, headers):
            return 401, {"error": "invalid_client", "error_description": json.dumps([form, headers["Authorization"]])}
        token = f"token-{number}-0123456789"
        with self.lock:
            self.tokens[token] = (set(form.get("scope", "").split()), time.monotonic() + self.expires_in)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in}

    def _is_client(self, form, headers):
        if "client_assertion" in form:
            return "Authorization" not in headers  # the test verifies it
        if "client_secret" in form:
            return (form["client_id"], form["client_secret"]) == (self.client_id, self.client_secret)
        kind, _, credentials = headers.get("Authorization", "").partition(" ")
        pair = base64.b64decode(credentials).decode().split(":") if kind == "Basic" else []
        return [urllib.parse.unquote_plus(part) for part in pair] == [self.client_id, self.client_secret]

    # MCP.

    def answer(self, message, token):
        """(status, challenge, object or None) for one message."""
        scopes = self.scopes_of(token)
        method, arguments = message.get("method"), message.get("params", {}).get("arguments")
        tool = message.get("params", {}).get("name") if method == "tools/call" else None
        missing = scopes is not None and tool == "admin" and "admin" not in scopes
        with self.lock:
            (self.refused if scopes is None or missing else self.calls).append((method, token, arguments))
        if scopes is None:
            return 401, self.challenge, None
        if missing:
            return 403, 'Bearer error="insufficient_scope", scope="admin"', None
        if "id" not in message:
            return 202, None, None
        result = {}
        if method == "initialize":
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "protected", "version": "1"}}
        elif tool:
            result = {"content": [{"type": "text", "text": (arguments or {}).get("message", tool)}]}
        return 200, None, {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def called(self, method):
        with self.lock:
            return [call for call in self.calls if call[0] == method]


class _Handler(http.server.BaseHTTPRequestHandler):
    owner = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def _send(self, status, body=None, headers=()):
        data = body.encode() if isinstance(body, str) else b"" if body is None else json.dumps(body).encode()
        head = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(data)}", *headers]
        self.wfile.write(("\r\n".join(head) + "\r\n\r\n").encode() + data)

    def do_GET(self):
        if self.path == "/mcp":
            return self._send(405)
        self.owner.fetched.append(self.path)
        found = self.owner.documents.get(self.path, 404)
        return self._send(found) if isinstance(found, int) else self._send(200, found)

    def do_DELETE(self):
        self._send(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/mcp":
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status, challenge, answer = self.owner.answer(json.loads(body), token)
            self._send(status, answer, [f"WWW-Authenticate: {challenge}"] if challenge else [])
        elif self.path.startswith("/as/token"):
            form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
            self._send(*self.owner.issue(form, self.headers))
        else:
            self._send(404)
