"""Each file that is shipped to be copied is parsed by the program it is for, as far as that runs without root and network."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, main  # noqa: E402
from harness.binaries import ROOT, binary  # noqa: E402
from harness.metrics import promtool  # noqa: E402

try:
    from shipped_containers import USES, VARIABLES
except ImportError:
    USES = None

# What parses them elsewhere; a test there names them.
ELSEWHERE = {
    "docker/Dockerfile": "tests/containers/run.sh",
    "docker/broker.yaml": "tests/containers/test_manifests.py",
    "docker/grafana/mcp-session-bridge.json": "tests/end_to_end/test_metrics.py",
    "docker/kubernetes.yaml": "tests/containers/test_manifests.py",
    "docker/policy.json": "tests/containers/test_manifests.py",
    "docker/prometheus/podmonitor.yaml": "tests/containers/test_manifests.py",
    "docker/prometheus/prometheus.yaml": "tests/containers/test_manifests.py",
    "systemd/policy.json": "tests/containers/test_manifests.py",
}
HERE = {"docker/compose.yaml", "docker/compose.handler.yaml", "docker/compose.metrics.yaml", "docker/compose.pipes.yaml", "docker/compose.policy.yaml",
        "docker/install.sh", "docker/prometheus/rules.yaml", "systemd/handler.env", "systemd/mcp-bridged.env",
        "systemd/mcp-bridged.sysusers"}
# Made by programs, or what makes them; units are test_units'.
NOT_COPIED = {"docker/README.md", "docker/arm64.cmake", "docker/oci_archive.py", "docker/release.sh", "docker/sbom.py",
              "docker/self_contained.sh", "systemd/CMakeLists.txt", "systemd/README.md"}


class Shipped(Case):
    def run_program(self, *command, **variables):
        if not shutil.which(command[0]):
            raise unittest.SkipTest(f"{command[0]} is not installed")
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
                              env={"PATH": f"{self.folder}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.folder, "LC_ALL": "C.UTF-8", **variables})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_no_file_is_without_one(self):
        shipped = {str(path.relative_to(ROOT)) for folder in ("docker", "systemd") for path in (ROOT / folder).rglob("*")
                   if path.is_file() and not re.search(r"\.(service\.in|socket)$|/debian/|__pycache__", str(path))}
        self.assertEqual(shipped, set(ELSEWHERE) | HERE | NOT_COPIED)
        for file, test in ELSEWHERE.items():
            self.assertIn(file.rsplit("/", 1)[1], (ROOT / test).read_text(encoding="utf-8"), file)

    @unittest.skipUnless(USES, "there is no yaml for Python")
    def test_compose_reads_its_files_alone_and_together(self):
        # It wants to know the engine's version first, and then says only what it would run.
        self.write("podman", "#!/bin/sh\necho podman version 4.3.1\n", 0o755)
        # Debian 12's shows no configuration, Debian 13's does not say what it would run.
        compose = ("podman-compose", "--dry-run")
        asked = ("config",) if re.search(r"\bconfig\b", self.run_program(*compose, "--help")) else ("up", "--no-build", "-d")
        for names in (use for use in USES if "compose.yaml" in use):
            files = [word for name in names for word in ("-f", str(ROOT / "docker" / name))]
            shown = self.run_program(*compose, *files, *asked, **VARIABLES)
            self.assertEqual("handle-it" in shown, "compose.handler.yaml" in names)
            for words in (r"MCP_SERVER_URL[=:] ?https://example.com/mcp", r"\bmcp-session-bridge$", r"\bmcp-session-bridge-agent$"):
                self.assertRegex(shown, f"(?m){words}")

    def test_the_daemon_knows_all_that_the_environment_file_shows(self):
        text = (ROOT / "systemd/mcp-bridged.env").read_text(encoding="utf-8")
        variables = dict(re.findall(r"(?m)^#(MCP_\w+)=(.*)$", text))
        self.assertGreater(len(variables), 3)
        options = self.write("options", "")
        policy = self.write("policy.json", (ROOT / "systemd/policy.json").read_text(encoding="utf-8").replace('"mcp-bridged"', "0"))
        variables.update(MCP_BRIDGE_OPTIONS_FILE=options, MCP_BRIDGE_POLICY=policy, MCP_BRIDGE_AUDIT=self.path("audit"))
        known = self.run_tool([binary("MCP_BRIDGED"), "--help"])[0]
        for name in variables:
            self.assertIn(name, known)
        daemon = self.start_daemon(None, "--check", socket=None, ready=False, environment=variables)
        self.assertEqual(daemon.wait(), 0, daemon.stderr())

    def test_the_client_takes_the_handler_s_options_and_the_shell_its_command(self):
        text = (ROOT / "systemd/handler.env").read_text(encoding="utf-8")
        command = re.search(r"(?m)^HANDLER_COMMAND='(.*)'$", text)[1]
        self.run_program("sh", "-n", "-c", command)
        options = re.search(r"(?m)^HANDLER_OPTIONS=(.*)$", text)[1].split()
        # It finds no daemon; a wrong option would be 2.
        self.run_tool([binary("MCP_NC"), "-s", self.path("none"), "listen", "--exec", command, *options], code=3)

    def test_prometheus_takes_the_rules(self):
        verdict = promtool("check", "rules", str(ROOT / "docker/prometheus/rules.yaml"))
        if verdict is None:
            raise unittest.SkipTest("promtool is not installed")
        self.assertEqual(verdict, "")

    def test_systemd_makes_the_user(self):
        root = pathlib.Path(self.path("root"))
        (root / "etc").mkdir(parents=True)
        said = self.run_program("systemd-sysusers", "--dry-run", f"--root={root}", "--inline",
                                *(line for line in (ROOT / "systemd/mcp-bridged.sysusers").read_text(encoding="utf-8").splitlines()
                                  if not line.startswith("#")))
        self.assertIn("mcp-bridged", said)

    def test_the_shell_reads_what_installs(self):
        for shell in ("sh", "bash"):
            self.run_program(shell, "-n", "docker/install.sh")
        self.assertIn("--remove", self.run_program("sh", "docker/install.sh", "--help"))


if __name__ == "__main__":
    main()
