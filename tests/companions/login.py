"""A server that wants a login, as far as a command line gets without a person."""

import http.server
import json
import threading


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, value, **headers):
        body = json.dumps(value).encode()
        self.send_response(code)
        for name, text in {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, base):
        where = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
        self.answer(401, {}, WWW_Authenticate=where)

    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        if "oauth-protected-resource" in self.path:
            self.answer(200, {"resource": base + "/mcp", "authorization_servers": [base]})
        elif ".well-known" in self.path:
            self.answer(200, {
                "issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
                "registration_endpoint": base + "/register", "device_authorization_endpoint": base + "/device",
                "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token",
                                          "urn:ietf:params:oauth:grant-type:device_code"],
                "token_endpoint_auth_methods_supported": ["none"]})
        else:
            self.refuse(base)

    def do_POST(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/register":
            self.answer(201, {**json.loads(body), "client_id": "companion"})
        elif self.path == "/device":
            self.answer(200, {"device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": base + "/device",
                              "expires_in": 600, "interval": 5})
        elif self.path == "/token":
            self.answer(400, {"error": "authorization_pending"})
        else:
            self.refuse(base)


class LoginServer:
    """Its address, while it is entered."""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/mcp"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
