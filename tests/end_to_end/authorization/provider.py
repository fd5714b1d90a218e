"""oidc-provider of npm, an authorization server that people use in earnest, and a protected server that asks it about
tokens. On demand: `npm ci` in tests/end_to_end/oidc.
"""

import base64
import json
import shutil
import urllib.parse
import urllib.request

from harness import eventually
from harness.binaries import ROOT

from .protected_server import ProtectedServer

FOLDER = ROOT / "tests" / "end_to_end" / "oidc"


def is_installed():
    return (FOLDER / "node_modules").exists() and shutil.which("node") is not None


class ProviderCase:
    """Mixed into a Case: `self.server` is protected by a provider that runs."""

    def start_provider(self):
        self.server = Resource()
        self.addCleanup(self.server.stop)
        provider = self.run_process("provider", ["node", FOLDER / "server.mjs", self.server.url])
        self.server.use(eventually(lambda: [line for line in provider.stdout().decode().splitlines()
                                            if line.startswith("http")], "the provider listens")[0])


class Resource(ProtectedServer):
    """Asks the provider about tokens."""

    def use(self, issuer):
        self.issuer = issuer
        self.documents["/.well-known/oauth-protected-resource/mcp"] = {
            "resource": self.url, "authorization_servers": [issuer], "scopes_supported": ["mcp"]}
        self.challenge = f'Bearer resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp", scope="mcp"'
        body = json.dumps({"redirect_uris": ["https://resource.example/none"]}).encode()
        request = urllib.request.Request(issuer + "/reg", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            client = json.load(answer)
        pair = f"{client['client_id']}:{client['client_secret']}".encode()
        self.basic = "Basic " + base64.b64encode(pair).decode()

    def scopes_of(self, token):
        if not token:
            return None
        form = urllib.parse.urlencode({"token": token}).encode()
        request = urllib.request.Request(self.issuer + "/token/introspection", form, {"Authorization": self.basic})
        with urllib.request.urlopen(request, timeout=30) as answer:
            known = json.load(answer)
        return set(known.get("scope", "").split()) if known.get("active") else None
