"""A protected MCP server whose authorization server wants a person: it checks every parameter of the
authorization code flow, of the device flow, of refresh, registration and revocation, and notes in `faults`
what is wrong with one. How it misbehaves is said by its attributes, which the tests change while it runs.
"""

import base64
import hashlib
import http.client
import json
import secrets
import time
import urllib.parse

from .protected_server import ProtectedServer, _Handler

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
METADATA = {"code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
            "authorization_response_iss_parameter_supported": True}


class LoginServer(ProtectedServer):
    def __init__(self, certificate=None, host="127.0.0.1"):
        super().__init__(certificate, host)
        self.http.RequestHandlerClass.__bases__ = (_LoginHandler,)
        self.challenge = f'Bearer resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        self.faults = []
        # How it behaves.
        self.refusal_of_registration = None    # (status, object)
        self.auth_method = "none"
        self.iss = self.issuer                 # of redirects; None: none
        self.state = None                      # instead of what was sent
        self.error = None                      # of redirects
        self.rotates = True
        self.refresh_status = None             # of the refreshes to come
        self.refresh_error = "invalid_grant"   # of a refused one
        self.refresh_delay = 0.0
        self.device_answers = []               # errors before the token
        self.revocation_status = 200
        # What it has seen.
        self.clients = {}          # id: the metadata
        self.codes = {}            # code: the authorization request
        self.refresh_tokens = {}   # token: {"family", "used", "scope", "client"}
        self.revoked_families = set()
        self.reused = []           # refresh tokens that came a second time
        self.refreshes = []        # (time, refresh token)
        self.authorizations = []   # the requests, as the browser brings them
        self.registrations = []
        self.revocations = []
        self.device_codes = {}

    def offer(self, **more):
        """Publishes the metadata; `more` are members of the server's, None leaves one out."""
        endpoints = {"authorization_endpoint": self.issuer + "/authorize",
                     "device_authorization_endpoint": self.issuer + "/device",
                     "revocation_endpoint": self.issuer + "/revoke", "registration_endpoint": self.issuer + "/register",
                     **METADATA}
        endpoints.update(more)
        self.publish(**{name: value for name, value in endpoints.items() if value is not None})
        return self

    def be_of_2025_03_26(self):
        """No metadata, and the endpoints at the origin."""
        self.challenge = "Bearer"
        self.issuer, self.iss, self.token_url = self.origin, None, self.origin + "/token"
        self.documents = {}

    def fault(self, what):
        with self.lock:
            self.faults.append(what)
        return 400, {"error": "invalid_request", "error_description": what}

    def demand(self, form, **expected):
        """Notes what is not as it is to be; True if nothing is."""
        wrong = [name for name, value in expected.items() if form.get(name) != value]
        for name in wrong:
            self.fault(f"{name} is {form.get(name)!r} instead of {expected[name]!r}")
        return not wrong

    # A person at a browser.

    def authorize(self, query):
        """The redirect's address, or None for a page that says what is wrong."""
        request = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
        with self.lock:
            self.authorizations.append(request)
        good = self.demand(request, response_type="code", code_challenge_method="S256", resource=self.url)
        redirect = request.get("redirect_uri", "")
        client = self.clients.get(request.get("client_id"))
        if client is None or redirect not in client["redirect_uris"]:
            self.fault(f"client {request.get('client_id')} with {redirect}")
            return None
        if len(request.get("code_challenge", "")) != 43 or len(request.get("state", "")) < 22 or not good:
            self.fault("code_challenge or state")
            return None
        code = secrets.token_urlsafe(16)
        with self.lock:
            self.codes[code] = request
        answer = {"state": request["state"] if self.state is None else self.state}
        answer.update(self.error if self.error else {"code": code})
        if self.iss is not None:
            answer["iss"] = self.iss
        return redirect + "?" + urllib.parse.urlencode(answer)

    # The token endpoint and its neighbours: (status, object).

    def client_of(self, form, headers):
        kind, _, credentials = headers.get("Authorization", "").partition(" ")
        if kind == "Basic":
            id, _, secret = base64.b64decode(credentials).decode().partition(":")
            id, secret, way = urllib.parse.unquote(id), urllib.parse.unquote(secret), "client_secret_basic"
        else:
            id, secret = form.get("client_id"), form.get("client_secret")
            way = "none" if secret is None else "client_secret_post"
        client = self.clients.get(id)
        known = client is not None and client.get("client_secret") == secret
        return id if known and way == client.get("token_endpoint_auth_method", "none") else None

    def issue(self, form, headers):
        with self.lock:
            self.requests.append((form, headers))
        client = self.client_of(form, headers)
        if client is None:
            return 401, {"error": "invalid_client"}
        self.demand(form, resource=self.url)
        grants = {"authorization_code": self.grant_code, "refresh_token": self.grant_refresh,
                  DEVICE_GRANT: self.grant_device}
        grant = grants.get(form.get("grant_type"))
        return grant(form, client) if grant else self.fault(f"grant_type {form.get('grant_type')}")

    def grant_code(self, form, client):
        with self.lock:
            request = self.codes.pop(form.get("code"), None)
        if request is None:
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if challenge != request["code_challenge"] or request["client_id"] != client:
            self.fault("code_verifier or client")
            return 400, {"error": "invalid_grant"}
        self.demand(form, redirect_uri=request["redirect_uri"])
        return 200, self.tokens_for(client, request.get("scope", ""), secrets.token_hex(4))

    def tokens_for(self, client, scope, family):
        token, refresh = "at-" + secrets.token_urlsafe(20), "rt-" + secrets.token_urlsafe(20)
        with self.lock:
            self.tokens[token] = (set(scope.split()), time.monotonic() + self.expires_in)
            self.refresh_tokens[refresh] = {"family": family, "used": False, "scope": scope, "client": client, "token": token}
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in, "scope": scope,
                "refresh_token": refresh}

    def grant_refresh(self, form, client):
        token = form.get("refresh_token")
        time.sleep(self.refresh_delay)
        with self.lock:
            self.refreshes.append((time.monotonic(), token))
        if self.refresh_status:
            return self.refresh_status, {"error": "server_error" if self.refresh_status >= 500 else self.refresh_error}
        known = self.refresh_tokens.get(token)
        if known is None or known["client"] != client or known["family"] in self.revoked_families:
            return 400, {"error": "invalid_grant"}
        if known["used"] and self.rotates:
            with self.lock:
                self.reused.append(token)
            self.revoked_families.add(known["family"])
            return 400, {"error": "invalid_grant"}
        known["used"] = True
        answer = self.tokens_for(client, known["scope"], known["family"])
        if not self.rotates:
            self.refresh_tokens.pop(answer.pop("refresh_token"))
        return 200, answer

    def grant_device(self, form, client):
        known = self.device_codes.get(form.get("device_code"))
        if known is None or known["client"] != client:
            return 400, {"error": "invalid_grant"}
        known["polls"].append(time.monotonic())
        if self.device_answers:
            return 400, {"error": self.device_answers.pop(0)}
        return 200, self.tokens_for(client, known["scope"], secrets.token_hex(4))

    def device(self, form, headers):
        client = self.client_of(form, headers)
        if client is None:
            return 401, {"error": "invalid_client"}
        self.demand(form, resource=self.url)
        code = secrets.token_urlsafe(20)
        self.device_codes[code] = {"client": client, "scope": form.get("scope", ""), "polls": [time.monotonic()]}
        return 200, {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": self.issuer + "/code",
                     "expires_in": 600, "interval": 1}

    def register(self, body):
        metadata = json.loads(body)
        with self.lock:
            self.registrations.append(metadata)
        if self.refusal_of_registration:
            return self.refusal_of_registration
        self.demand(metadata, application_type="native", response_types=["code"], token_endpoint_auth_method=self.auth_method)
        if not {"authorization_code", "refresh_token"} <= set(metadata.get("grant_types", [])):
            self.fault("grant_types")
        client = dict(metadata, client_id="client-" + secrets.token_hex(4))
        if self.auth_method != "none":
            client["client_secret"] = "cs-" + secrets.token_urlsafe(16)
        self.clients[client["client_id"]] = client
        return 201, {**client, "registration_access_token": "rat-0123456789"}

    def revoke(self, form, headers):
        with self.lock:
            self.revocations.append(form)
        if self.client_of(form, headers) is None:
            return 401, {"error": "invalid_client"}
        known = self.refresh_tokens.get(form.get("token"))
        if known and self.revocation_status == 200:
            self.revoked_families.add(known["family"])
            self.tokens.pop(known["token"], None)
        return self.revocation_status, {}

    def secrets(self):
        """All that may be in no log, error or status."""
        verifiers = [form["code_verifier"] for form, _ in self.requests if "code_verifier" in form]
        codes = [form["code"] for form, _ in self.requests if "code" in form]
        return [*self.tokens, *self.refresh_tokens, *verifiers, *codes, *self.device_codes, "rat-0123456789",
                *(client["client_secret"] for client in self.clients.values() if "client_secret" in client)]


class _LoginHandler(_Handler):
    def folder(self):
        """Of the endpoints: `/as`, or nothing at the origin."""
        return urllib.parse.urlsplit(self.owner.issuer).path

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path != self.folder() + "/authorize":
            return super().do_GET()
        redirect = self.owner.authorize(query)
        self._send(302 if redirect else 400, None, [f"Location: {redirect}"] if redirect else [])

    def do_POST(self):
        folder = self.folder()
        handler = {folder + "/token": self.owner.issue, folder + "/device": self.owner.device,
                   folder + "/revoke": self.owner.revoke, folder + "/register": None}
        if self.path not in handler:
            return super().do_POST()
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        registers = self.path == folder + "/register"
        form_type = "application/json" if registers else "application/x-www-form-urlencoded"
        if self.headers["Content-Type"] != form_type:
            self.owner.fault(f"Content-Type {self.headers['Content-Type']}")
        if registers:
            answer = self.owner.register(body)
        else:
            answer = handler[self.path](dict(urllib.parse.parse_qsl(body, strict_parsing=True)), self.headers)
        return self._send(*answer)


def get(url):
    """(status, headers, text); redirects are not followed."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    try:
        connection.request("GET", parts.path + ("?" + parts.query if parts.query else ""))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def signed_in(url):
    """What a browser does in which a person signs in: the address that it is sent back to."""
    status, headers, _ = get(url)
    assert status == 302, status
    return headers["Location"]
