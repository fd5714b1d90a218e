"""daemon/BEHAVIOUR.md: its example is what the demo gives, and what code and tests cite of it is there, and each
heading is cited by a test (BEHAVIOUR, "An example session"). With --list it prints each heading and the tests that cite it.
"""

import os
import re
import sys

from harness import Case, main
from harness.binaries import ROOT, binary
from harness.document import shown_as
from harness.pages import block_of, links, text_of_page

PAGE = "daemon/BEHAVIOUR.md"
CITING = ("daemon", "client", "tests", "systemd", "docker")
PUBLIC_DOCUMENT = r"(RFC \d{4}|JSON-RPC 2\.0|HTML|Standard|W3C Trace Context|Discovery 1\.0|Markup)"
NOT_OURS = {"node_modules", "__pycache__"}
UNITS = {"": 1, "ms": 1, "s": 1000, "m": 60000, "h": 3600000, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20}


class ExampleSession(Case):
    def happens(self, what):
        """What the example says between its messages, as far as it is more than a remark."""
        if "the server forgets its sessions" in what:
            self.server.control("POST", "sessions/drop", "{}")
            self.default_daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
        elif "the server is gone" in what:
            self.server.stop()

    def test_it_is_what_the_demo_gives(self):
        self.server, _ = self.bridge("--connect-wait", "2s")
        self.run_nc("call", "ticker", "seconds:=1")
        self.newest(2)
        clients, seen = {}, 0
        for line in block_of(PAGE, "An example session").text.splitlines():
            message = re.fullmatch(r"([A-Z])([<>]) (.*)", line)
            if not message:
                self.happens(line)
                continue
            name, direction, text = message.groups()
            if name not in clients:
                clients[name] = self.client()
            if direction == ">":
                clients[name].send(text)
            else:
                self.assertRegex(clients[name].raw_line().decode(), "^" + shown_as(text))
                seen += 1
        self.assertGreater(seen, 15)
        clients["B"].half_close().expect_closed()


def in_smallest_unit(text):
    """A size in bytes, a duration in milliseconds, or a number."""
    number, unit = re.fullmatch(r"([\d,]+) ?(\w*)", text).groups()
    return int(number.replace(",", "")) * UNITS[unit]


class Options(Case):
    def test_the_options_that_it_names_exist(self):
        known = set(re.findall(r"--[a-z][a-z0-9-]+", self.run_tool([binary("MCP_BRIDGED"), "--help"])[0]))
        named = set(re.findall(r"`(--[a-z][a-z0-9-]+)", text_of_page(PAGE)))
        self.assertGreater(len(named), 50)
        self.assertEqual(named - known, set())

    def test_the_figures_beside_them_are_their_defaults(self):
        defaults = dict(re.findall(r"(?m)^\| `(--[a-z0-9-]+)[^`]*` \| (\d[^| ]*) \|", text_of_page("daemon/OPTIONS.md")))
        beside = re.findall(r"`(--[a-z0-9-]+)`(?: \(|, | )(\d[\d,]*(?: (?:ms|s|m|h|KiB|MiB))?)(?=[,;.) ])", text_of_page(PAGE))
        beside = [(option, figure) for option, figure in beside if option in defaults]
        self.assertGreater(len(beside), 30)
        for option, figure in beside:
            with self.subTest(option):
                self.assertEqual(in_smallest_unit(figure), in_smallest_unit(defaults[option]))


class Links(Case):
    def test_each_leads_to_a_file(self):
        self.assertEqual([file for file, _ in links(PAGE) if not (ROOT / file).exists()], [])


def headings():
    """What can be cited: each section, and each of its parts as "Section: part"."""
    found, section = [], None
    for level, title in re.findall(r"(?m)^(##|###) (.*)$", text_of_page(PAGE)):
        if level == "##":
            section = title
            found.append(section)
        else:
            found.append(f"{section}: {title[0].lower()}{title[1:]}")
    return found


def texts():
    """(path, text) of all that may cite the page, each text as one line without the marks of comments."""
    for folder in CITING:
        for path, folders, names in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if name not in NOT_OURS]
            for name in names:
                with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
                    lines = re.sub(r"(?m)^\s*(///?|#|\*)?\s*", "", file.read())
                yield os.path.relpath(os.path.join(path, name), ROOT), lines.replace("\n", " ")


def citations(text, known):
    """(what is cited, the heading that it names or None) of each citation in a text."""
    for listed in re.findall(r'BEHAVIOUR(?:\.md)?, "?([^"]{1,80}(?:"(?:,| and) "[^"]{1,80})*)', text):
        for cited in re.split(r'"(?:,| and) "', listed):
            named = [one for one in known if cited.lower().startswith(one.lower())]
            longest = max(named, key=len, default="")
            yield cited, None if not named or re.match(r"\w|: ", cited[len(longest):]) else longest


def tests_of_headings():
    """Each heading with the files of tests that cite it; what cites a part cites its section, too."""
    found = {heading: set() for heading in headings()}
    for path, text in texts():
        for _, heading in citations(text, found) if path.startswith("tests/") else ():
            if heading:
                found[heading].add(path)
                found[heading.split(": ")[0]].add(path)
    return found


def cites_what_is_not_here(text):
    """The sections in a text whose document is not named with them."""
    for cited in re.finditer(r"(?i)\bsections? \d", text):
        if not re.search(PUBLIC_DOCUMENT + r", (?:and )?$", text[:cited.start()]):
            yield text[max(0, cited.start() - 30):cited.end()]


class Citations(Case):
    def test_no_two_headings_are_cited_alike(self):
        self.assertEqual(len({one.lower() for one in headings()}), len(headings()))

    def test_what_is_cited_is_a_heading(self):
        known = headings()
        wrong = [(path, cited) for path, text in texts() for cited, named in citations(text, known) if not named]
        self.assertEqual(wrong, [])

    def test_each_heading_is_cited_by_a_test(self):
        self.assertEqual([heading for heading, tests in tests_of_headings().items() if not tests], [])

    def test_only_what_everybody_can_read_is_cited_by_section(self):
        wrong = [(path, cited) for path, text in texts() for cited in cites_what_is_not_here(text)]
        self.assertEqual(wrong, [])

    def test_the_page_names_its_own_headings(self):
        prose = re.sub(r"(?ms)^```.*?^```$", "", text_of_page(PAGE))
        named = re.findall(r'"([A-Z][\w+ ]+: [^"]+)"', prose)
        self.assertGreater(len(named), 8)
        self.assertEqual([one for one in named if one not in headings()], [])


if __name__ == "__main__":
    if "--list" in sys.argv:
        for heading, tests in tests_of_headings().items():
            print(f"{heading}: {', '.join(sorted(tests))}")
    else:
        main()
