"""What the pages say of building is what there is. (The commands themselves are run on bare machines: tests/bare,
tests/packages. What the pages show of using it: test_pages.)"""

import os
import re
import xml.etree.ElementTree

from harness import Case, main
from harness.binaries import ROOT, binary
from harness.pages import block_of


class Pages(Case):
    def test_the_shell_lines_of_use_find_their_programs(self):
        first = block_of("README.md", "Five minutes of use").text.splitlines()[0]
        path = re.fullmatch(r"\$ export PATH=(.*):\$PATH", first)[1]
        self.assertEqual(path.split(":"), ["$PWD/build/release/daemon", "$PWD/build/release/client"])

    def test_whoever_installs_packages_to_build_with_installs_those_of_the_page(self):
        line = block_of("systemd/README.md", "The package").text.splitlines()[0]
        packages = line.split("--no-install-recommends ", 1)[1].split()
        self.assertIn("g++", packages)
        for file, without in (("daemon/try.sh", {"file", "dpkg-dev"}), ("tests/packages/needed.sh", {"file", "dpkg-dev"}),
                              ("docker/Dockerfile", {"file", "dpkg-dev"}), ("tests/packages/roots.sh", set())):
            words = set(re.split(r"[\s()\"=]+", (ROOT / file).read_text(encoding="utf-8")))
            self.assertEqual(set(packages) - without - words, set(), file)

    def test_the_demo_shows_what_its_picture_shows(self):
        programs = [os.path.dirname(binary(name)) for name in ("MCP_BRIDGED", "MCP_NC")]
        out, _ = self.run_tool(["bash", ROOT / "daemon/demo.sh", binary("DEMO_UPSTREAM")],
                               environment={"PATH": ":".join([*programs, os.environ["PATH"]])})
        picture = xml.etree.ElementTree.parse(ROOT / "daemon/demo.svg").getroot()
        shown = "\n".join("".join(line.itertext()) for line in picture.iter("{http://www.w3.org/2000/svg}text"))
        steps = [line for line in out.splitlines() if line.startswith(("$ ", "# "))]
        self.assertEqual(len(steps), 11)
        for line in [*steps, "hello from process one", "ticking for 3 s", '"data":"tick 1"', '"text":"42"']:
            self.assertIn(line, out)
            self.assertIn(line, shown)


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
        self.assertIn("demo-upstream.dir/", commands)
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
