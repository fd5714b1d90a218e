#!/usr/bin/env python3
"""The client of the suite's `auth/*` scenarios: a daemon before the scenario's server, `mcp-nc` as its caller, and a
browser that signs in at once. Usage: login_client.py BRIDGED NC URL; the suite appends the URL.

It lists the tools and calls the one that there is, and logs in when it is told to, twice at most.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

TIMES = 2  # a person would not log in more often for one call


def options_of(context, folder):
    """What an operator is given beforehand: a client with its secret or key."""
    options = []
    if "client_id" in context:
        options += ["--oauth-client-id", context["client_id"]]
    for member, name, option in (("client_secret", "secret", "--oauth-client-secret-file"),
                                 ("private_key_pem", "key.pem", "--oauth-private-key"),
                                 ("valid_jwt", "assertion", "--oauth-assertion-file")):
        if member in context:
            path = folder / name
            path.write_text(context[member])
            options += [option, str(path)]
    if "client_secret" in context and "client-credentials" not in context.get("name", ""):
        options += ["--oauth-grant", "authorization_code"]
    if "valid_jwt" in context:
        options += ["--oauth-grant", "jwt-bearer"]
    return options


def log_in(nc):
    """True if somebody is logged in."""
    with subprocess.Popen([*nc, "login", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as login:
        line = login.stdout.readline()
        url = json.loads(line).get("url") if line.strip() else None
        if url:
            try:
                urllib.request.urlopen(url, timeout=20).read()  # follows the redirect, as a browser does
            except OSError as error:
                print("the browser:", error, file=sys.stderr)
                subprocess.run([*nc, "login", "--cancel"], check=False)
        return login.wait(30) == 0


def wants_login(said):
    """A server without metadata is not said to offer a login, but may be one of revision 2025-03-26."""
    return " login" in said or "HTTP 401" in said


def do(nc, *arguments):
    """Its output, with a login where one is needed; None if it fails."""
    for attempt in range(TIMES + 1):
        done = subprocess.run([*nc, *arguments], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 0:
            return done.stdout
        print(done.stderr, file=sys.stderr)
        if done.returncode != 4 or not wants_login(done.stderr) or attempt == TIMES or not log_in(nc):
            return None
    return None


def main():
    bridged, program, url = sys.argv[1:4]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        nc = [program, "-s", str(folder / "s"), "--wait", "10s", "-w", "40s"]
        options = ["--oauth-client-metadata-url", "https://conformance-test.local/client-metadata.json",
                   *options_of(context, folder)]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MCP_")}
        with subprocess.Popen([bridged, "--url", url, "--socket", str(folder / "s"), *options], env=environment) as daemon:
            try:
                names = do(nc, "tools", "--names")
                results = [do(nc, "call", name) for name in (names or "").split()]
            finally:
                daemon.terminate()
                daemon.wait(15)
    return 0 if names is not None and None not in results else 1


if __name__ == "__main__":
    sys.exit(main())
