"""The units, as far as they can be judged without a running systemd. run.sh beside this boots one."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, main  # noqa: E402
from harness.binaries import ROOT, binary  # noqa: E402
from harness.pages import text_of_page  # noqa: E402

# By `systemd-analyze security`, in tenths, as the page says.
EXPOSURE = {"mcp-bridged.service": 12, "mcp-bridged@one.service": 12, "mcp-bridged-child@one.service": 13,
            "mcp-bridged-handler@one.service": 13}

PAGE = "systemd/README.md"
# The drop-ins that the page tells to write: the unit, the words before and after the settings, and what a reader fills in.
DROP_INS = (
    ("mcp-bridged.service", "Files that the daemon writes need ", " in a drop-in", {"ReadWritePaths=": "/srv/metrics"}),
    ("mcp-bridged@one.service", "in a drop-in; ", " shows other users' commands", {}),
    ("mcp-bridged-child@one.service", "`mcp-bridged-child@NAME` needs a drop-in with ", ". ", {}),
    ("mcp-bridged-handler@one.service", "an agent that needs your files gets a drop-in with ", ". ",
     {"User=": "alice", "Environment=HOME=": "/home/alice", "WorkingDirectory=": "/home/alice"}),
)
# Settings of the units that the page explains.
EXPLAINED = {"LoadCredential=", "TimeoutStopSec="}


def settings_in(text):
    """Each `Name=…` of a text that is a setting of systemd, no variable."""
    return re.findall(r"`([A-Z][a-z]\w*=[^`]*)`", text)


def drop_in(before, after, filled_in):
    """Its settings, as the page has them between these words."""
    text = text_of_page(PAGE).split(before)
    assert len(text) == 2, f"{PAGE} does not say once: {before}"
    return [setting + filled_in.get(setting, "") for setting in settings_in(text[1].split(after)[0])]


@unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
class Units(Case):
    def setUp(self):
        super().setUp()
        # As CMake makes them, but with the program where it is.
        for source in sorted((ROOT / "systemd").glob("*.service.in")) + sorted((ROOT / "systemd").glob("*.socket")):
            text = source.read_text(encoding="utf-8")
            for program in ("mcp-bridged", "mcp-nc"):
                text = text.replace(f"@CMAKE_INSTALL_FULL_BINDIR@/{program} ", binary(program.upper().replace("-", "_")) + " ")
            text = text.replace("@CMAKE_INSTALL_FULL_BINDIR@/mcp-bridged\n", binary("MCP_BRIDGED") + "\n")
            self.assertNotIn("@CMAKE", text)
            name = source.name.removesuffix(".in").replace("@.", "@one.")
            self.write(name, text, mode=0o644)
        self.units = sorted(path.name for path in pathlib.Path(self.folder).iterdir())
        self.assertEqual(len(self.units), 7)

    def analyze(self, *arguments):
        done = subprocess.run(["systemd-analyze", *arguments], capture_output=True, timeout=60, check=False, text=True,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"})
        return done.returncode, done.stdout + done.stderr

    def test_systemd_finds_nothing_to_complain_of(self):
        code, text = self.analyze("verify", "--man=no", *map(self.path, self.units))
        about_ours = [line for line in text.splitlines() if "mcp-bridged" in line]
        self.assertEqual((code, about_ours), (0, []), text)

    def test_systemd_takes_each_drop_in_of_the_page(self):
        for unit, *words in DROP_INS:
            with self.subTest(unit):
                settings = drop_in(*words)
                self.assertTrue(settings)
                pathlib.Path(self.path(unit + ".d")).mkdir()
                self.write(f"{unit}.d/override.conf", "\n".join(["[Service]", *settings, ""]), mode=0o644)
                code, text = self.analyze("verify", "--man=no", self.path(unit))
                about_ours = [line for line in text.splitlines() if "mcp-bridged" in line]
                self.assertEqual((code, about_ours), (0, []), text)

    def test_a_wrong_drop_in_would_be_found(self):
        pathlib.Path(self.path("mcp-bridged.service.d")).mkdir()
        self.write("mcp-bridged.service.d/override.conf", "[Service]\nProtectProc=nothing\n", mode=0o644)
        _, text = self.analyze("verify", "--man=no", self.path("mcp-bridged.service"))
        self.assertIn("nothing", text)

    def test_every_setting_that_the_page_names_is_of_a_drop_in(self):
        shown = {setting for _, *words in DROP_INS for setting in drop_in(*words[:2], {})}
        self.assertEqual(set(settings_in(text_of_page(PAGE))) - shown - EXPLAINED, set())

    def test_the_daemon_takes_the_policy_that_a_drop_in_gives_it(self):
        unit, *words = DROP_INS[2]
        settings = dict(re.fullmatch(r"(\w+)=(.*)", setting).groups() for setting in drop_in(*words))
        credential, _, source = settings["LoadCredential"].partition(":")
        # Where the page lets the policy be installed.
        self.assertIn(f"install [policy.json](policy.json) as `{source}`", text_of_page(PAGE))
        policy = (ROOT / "systemd/policy.json").read_text(encoding="utf-8").replace('"mcp-bridged"', "0")
        self.write(credential, policy)
        name, _, value = settings["Environment"].partition("=")
        config = self.write("config", '{"mcpServers": {"one": {"url": "https://example.com/mcp"}}}')
        _, err = self.run_tool([binary("MCP_BRIDGED"), "--check", "--config", config],
                               environment={name: value.replace("%d", self.folder)})
        self.assertEqual(err, "")

    def test_what_systemd_does_not_know_would_be_found(self):
        self.write("mcp-bridged.service", "[Service]\nExecStart=/nonexistent/mcp-bridged\nNoSuchSetting=1\n", mode=0o644)
        _, text = self.analyze("verify", "--man=no", self.path("mcp-bridged.service"))
        self.assertIn("NoSuchSetting", text)

    def test_the_exposure_is_low(self):
        for unit, threshold in EXPOSURE.items():
            with self.subTest(unit):
                code, text = self.analyze("security", "--offline=yes", f"--threshold={threshold}", self.path(unit))
                self.assertEqual(code, 0, text[-300:])

    def test_no_unit_hides_who_its_clients_are(self):
        for unit in EXPOSURE:
            settings = pathlib.Path(self.path(unit)).read_text(encoding="utf-8").splitlines()
            self.assertFalse([line for line in settings if line.startswith("PrivateUsers=")], unit)


if __name__ == "__main__":
    main()
