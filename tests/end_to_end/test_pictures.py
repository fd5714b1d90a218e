"""The pictures of the pages show what the programs print today: they are made again, and compared but for numbers."""

import pathlib
import re
import sys
import xml.etree.ElementTree

from harness import Case, main
from harness.binaries import ROOT, binary

SVG = "{http://www.w3.org/2000/svg}"


def lines_of(path):
    """The text of a picture, line by line, without what differs from run to run."""
    lines = []
    for line in xml.etree.ElementTree.parse(path).getroot().iter(SVG + "text"):
        text = " ".join("".join(piece.itertext()) for piece in line)
        text = re.sub(r"[▏▎▍▌▋▊▉█░]+", "BAR", text)
        text = re.sub(r"\d[\d.]*( (us|ms|s|m)\b)*", "N", text)
        lines.append(" ".join(text.split()))
    return lines


class Pictures(Case):
    def test_they_are_what_a_run_gives_today(self):
        build = pathlib.Path(binary("MCP_BRIDGED")).resolve().parents[1]
        made = pathlib.Path(self.path("pictures"))
        self.run_tool([sys.executable, ROOT / "tests/pictures/record.py", made, build, binary("DEMO_UPSTREAM")])
        for name in ("daemon/demo.svg", "client/status-watch.svg"):
            with self.subTest(name):
                self.assertGreater(len(lines_of(ROOT / name)), 10)
                self.assertEqual(lines_of(ROOT / name), lines_of(made / name))

    def test_who_wants_no_motion_has_none(self):
        text = (ROOT / "daemon/demo.svg").read_text(encoding="utf-8")
        rule = re.search(r"@media \(prefers-reduced-motion: no-preference\) \{.*\}", text)[0]
        self.assertEqual(re.findall(r"animation: ", text), re.findall(r"animation: ", rule))


if __name__ == "__main__":
    main()
