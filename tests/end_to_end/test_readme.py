"""What the README shows is what there is. (Its two commands and the package are tried on bare machines: tests/bare.)"""

import re
import sys

from harness import Case, main
from harness.binaries import ROOT


def blocks_under(heading):
    """The blocks of code under this heading of the README."""
    with open(ROOT / "README.md", encoding="utf-8") as file:
        section = re.search(rf"(?ms)^## {heading}\n(.*?)(?=^## |\Z)", file.read())[1]
    return re.findall(r"(?ms)^```\w*\n(.*?)^```$", section)


def shown_as(line):
    """What matches a line of which some is left out."""
    return "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", line)) + "$"


class Readme(Case):
    def test_the_example_on_the_wire_is_what_the_demo_gives(self):
        self.bridge()
        self.run_nc("call", "ticker", "seconds:=1")
        self.newest(2)
        client = self.client()
        shown = [line.split(" ", 1) for line in blocks_under("On the wire")[0].splitlines() if line[0] in "<>"]
        self.assertGreater(len(shown), 5)
        for direction, text in shown:
            if direction == ">":
                client.send(text)
            else:
                self.assertRegex(client.raw_line().decode().rstrip("\n"), "^" + shown_as(text))

    def test_six_lines_of_python(self):
        _, daemon = self.bridge()
        script = blocks_under("Use")[1]
        self.assertIn('"/tmp/mcp.sock"', script)
        out, _ = self.run_tool([sys.executable, "-c", script.replace("/tmp/mcp.sock", daemon.socket_path)])
        self.assertIn("'text': 'hi'", out)

    def test_the_shell_lines_of_use_find_their_programs(self):
        path = re.fullmatch(r"export PATH=(.*):\$PATH", blocks_under("Use")[0].splitlines()[0])[1]
        self.assertEqual(path.split(":"), ["$PWD/build/release/daemon", "$PWD/build/release/client"])

    def test_whoever_installs_packages_to_build_with_installs_those_of_the_readme(self):
        line = blocks_under("Two commands")[1].splitlines()[0]
        packages = line.split("--no-install-recommends ", 1)[1].split()
        self.assertIn("g++", packages)
        for file, without in (("daemon/try.sh", {"file", "dpkg-dev"}), ("tests/run.sh", {"file", "dpkg-dev"}),
                              ("docker/Dockerfile", {"file", "dpkg-dev"}), ("tests/packages/roots.sh", set())):
            words = set(re.split(r"[\s()\"=]+", (ROOT / file).read_text(encoding="utf-8")))
            self.assertEqual(set(packages) - without - words, set(), file)


class BuildSettings(Case):
    """Nothing is built here: only what the settings ask for."""

    def configure(self, preset, *definitions, code=0):
        folder = self.path(preset)
        out, err = self.run_tool(["cmake", "-S", ROOT, "--preset", preset, "-B", folder, *definitions], code)
        return folder, out + err

    def commands_of(self, folder, target):
        return self.run_tool(["ninja", "-C", folder, "-t", "commands", target])[0]

    def test_the_demo_wants_none_of_what_the_tests_want(self):
        folder, _ = self.configure("demo", "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_doctest=ON")
        commands = self.commands_of(folder, "demo-upstream")
        self.assertIn("demo_upstream/main.cpp", commands)
        self.assertNotIn("/daemon/", commands)

    def test_the_release_preset_is_the_two_programs_alone_whatever_was_built_there_before(self):
        folder, _ = self.configure("release", "-DMCP_BRIDGE_TESTS=ON", "-DMCP_BRIDGE_DEMO=ON")
        self.configure("release")
        commands = self.commands_of(folder, "all")
        self.assertIn("client/main.cpp", commands)
        self.assertNotIn("/tests/", commands)

    def test_without_its_tools_the_package_is_refused_by_name_before_anything_is_built(self):
        out, err = self.run_tool(["cmake", "-DCMAKE_IGNORE_PATH=/usr/bin;/bin", "-P", ROOT / "systemd/debian/requirements.cmake"], code=1)
        self.assertRegex(out + err, r"apt-get install file dpkg-dev")

    def test_the_package_of_each_debian_has_a_name_of_its_own(self):
        script = self.write("show.cmake", f'include({ROOT}/systemd/debian/release.cmake)\nmessage("${{debian_release}}")\n')
        names = []
        for text in ('ID=debian\nVERSION_ID="12"\n', 'PRETTY_NAME="Debian"\nID=debian\nVERSION_ID="13"\n',
                     'ID=ubuntu\nVERSION_ID="24.04"\n', "ID=debian\nVERSION_CODENAME=forky\n", ""):
            out, err = self.run_tool(["cmake", f"-Dos_release_file={self.write('os-release', text)}", "-P", script])
            names.append((out + err).strip())
        self.assertEqual(names, ["1~deb12", "1~deb13", "1~ubuntu24.04", "1", "1"])


if __name__ == "__main__":
    main()
