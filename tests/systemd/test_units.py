"""The units, as far as they can be judged without a running systemd. run.sh beside this boots one."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, main  # noqa: E402
from harness.binaries import ROOT, binary  # noqa: E402

# By `systemd-analyze security`, in tenths.
EXPOSURE = {"mcp-bridged.service": 12, "mcp-bridged@one.service": 12, "mcp-bridged-child@one.service": 15,
            "mcp-bridged-handler@one.service": 15}


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
