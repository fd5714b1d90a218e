"""A login as people have it: `mcp-nc login` in one container, the daemon in another, Debian's Chromium, and
oidc-provider; then the tool is called from the first container by `exec`.

On demand: skipped without Chromium and its driver, `npm ci` in tests/end_to_end/oidc and an engine for containers.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from authorization import provider, webdriver
from harness import Case, eventually, main
from harness.binaries import binary

ENGINE = shutil.which("podman")
CONTAINERS = """[containers]
default_ulimits = ["nofile=20000:20000", "nproc=30000:30000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
STORAGE = """[storage]
driver = "overlay"
graphroot = "{0}/graph"
runroot = "{0}/run"
"""


@unittest.skipUnless(webdriver.is_installed(), "Chromium and its driver are not installed")
@unittest.skipUnless(provider.is_installed(), "oidc-provider is not installed")
class RealBrowser(provider.ProviderCase, Case):
    def setUp(self):
        super().setUp()
        self.start_provider()
        self.browser = webdriver.Chromium(self.path(""))
        self.addCleanup(self.browser.close)

    def sign_in(self, url):
        """As a person: the pages of the provider, one after the other; returns the text of the last page."""
        self.browser.open(url)
        self.browser.type("input[name=login]", "ada")
        self.browser.type("input[name=password]", "secret")
        self.browser.click("button[type=submit]")
        eventually(lambda: not self.browser.elements("input[name=login]"), "the person has signed in")
        if self.browser.elements("button[type=submit]"):
            self.browser.click("button[type=submit]")
        eventually(lambda: "/callback" in self.browser.url(), "the browser is sent back")
        return self.browser.text()

    def url_of(self, verb):
        eventually(lambda: b"\n" in verb.stdout(), "the address is shown")
        return verb.stdout().decode().splitlines()[0]

    def test_the_browser_signs_in(self):
        self.start_daemon(self.server)
        verb = self.nc("login")
        page = self.sign_in(self.url_of(verb))
        self.assertEqual(verb.wait(), 0, verb.stderr())
        self.assertEqual(page.strip(), "You are logged in. You can close this page.")
        self.assertEqual(self.run_nc("call", "echo", "message=hello")[0].strip(), "hello")
        # The address of the last page has no use any more, and is shown to nobody else.
        answer = self.client().request("bridge/login", {"callback": self.browser.url()}, id=1)
        self.assertIn("no login is pending", answer["error"]["message"])

    def test_the_person_says_no(self):
        self.start_daemon(self.server)
        verb = self.nc("login")
        self.browser.open(self.url_of(verb))
        self.browser.click("a[href$=abort]")
        eventually(lambda: "/callback" in self.browser.url(), "the browser is sent back")
        self.assertIn("You are not logged in", self.browser.text())
        self.assertEqual(verb.wait(), 1)
        self.assertIn("access_denied", verb.stderr())

    @unittest.skipUnless(ENGINE and os.geteuid() == 0, "there is no engine for containers, or the user is not root")
    def test_the_tool_is_called_from_a_second_container(self):
        # Both see this machine's files; what they write is gone with them, but for the folder they share.
        self.prepare_engine()
        try:
            self.call_from_a_container()
        finally:
            subprocess.run([ENGINE, "rm", "--all", "--force", "--time", "2"], env=self.engine_env, check=False,
                           stdout=subprocess.DEVNULL)
            with open("/proc/mounts", encoding="utf-8") as file:
                if self.engine_folder not in file.read():  # else this machine's files are below it
                    shutil.rmtree(self.engine_folder)

    def call_from_a_container(self):
        nc, daemon, socket = binary("MCP_NC"), binary("MCP_BRIDGED"), self.path("s")
        name = f"mcp-{os.getpid()}"
        self.run_container(f"{name}-daemon", "host", daemon, "--url", self.server.url, "--socket", socket,
                           "--token-store", self.path("tokens.json"))
        self.run_container(f"{name}-agent", "none", "sleep", "600")
        inside = [ENGINE, "exec", f"{name}-agent", nc, "-s", socket]
        eventually(lambda: os.path.exists(socket), "the daemon serves")
        refused = subprocess.run([*inside, "call", "echo", "message=x"], capture_output=True, text=True, env=self.engine_env)
        self.assertEqual((refused.returncode, "mcp-nc login" in refused.stderr), (4, True), refused.stderr)
        verb = self.run_process("login", [*inside, "login"], environment=self.engine_env)
        page = self.sign_in(self.url_of(verb))
        self.assertEqual(verb.wait(), 0, verb.stderr())
        self.assertIn("You are logged in", page)
        called = subprocess.run([*inside, "call", "echo", "message=hello"], capture_output=True, text=True, env=self.engine_env)
        self.assertEqual((called.returncode, called.stdout.strip()), (0, "hello"), called.stderr)

    def prepare_engine(self):
        self.engine_folder = tempfile.mkdtemp(prefix="mcp-engine-")
        places = {"CONTAINERS_CONF": CONTAINERS, "CONTAINERS_STORAGE_CONF": STORAGE.format(self.engine_folder)}
        self.engine_env = dict(os.environ)
        for name, text in places.items():
            self.engine_env[name] = os.path.join(self.engine_folder, name.lower())
            with open(self.engine_env[name], "w", encoding="utf-8") as file:
                file.write(text)

    def run_container(self, name, network, *command):
        folder = self.path("").rstrip("/")
        subprocess.run([ENGINE, "run", "--detach", "--name", name, "--network", network, "--volume", f"{folder}:{folder}",
                        "--rootfs", "/:O", *command], check=True, env=self.engine_env, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
