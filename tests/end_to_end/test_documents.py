"""The help of both programs, their man pages and the table of daemon/OPTIONS.md: what they say of an option is the
same, and can be read and copied."""

import os
import pathlib
import re
import subprocess

from harness import Case, main
from harness.binaries import ROOT, binary
from harness.pages import text_of_page
from test_completions import document, needs

# Columns of the terminals that a page is read on.
WIDTHS = (60, 66, 72, 78, 80, 90, 100, 132)
NEVER_BROKEN = 1000


def options_of_help(text):
    """{group: [(form, variable, text, default)]} of mcp-bridged's help, in its order."""
    groups, group = {}, None
    for line in text.splitlines():
        heading = re.fullmatch(r"([A-Z][\w ]*):", line)
        if heading:
            group = groups.setdefault(heading[1], [])
        elif group is not None and re.match(r"  \S", line):
            group.append([line.strip(), ""])
        elif group is not None and line.startswith("        "):
            group[-1][1] = (group[-1][1] + " " + line.strip()).strip()
        elif line.strip():
            group = None
    taken = {}
    for name, entries in groups.items():
        for form, meaning in entries:
            form, variable = re.fullmatch(r"(.*?)(?: \((MCP_\w+)\))?", form).groups()
            meaning, default = re.fullmatch(r"(.*?)(?: \[([^\]]*)\])?", meaning).groups()
            taken.setdefault(name, []).append((form, variable, meaning, default or ""))
    return taken


def usual_variable(form):
    name = re.search(r"--([a-z][a-z0-9-]*)", form)
    return "MCP_BRIDGE_" + name[1].upper().replace("-", "_") if name else None


def row_of(form, variable, meaning, default):
    """The row that the page has for an option, without its backticks."""
    switch = re.search(r" \(on; (--no-[a-z-]+) turns it off\)$", meaning)
    if switch:
        meaning, default = meaning[:switch.start()], "on"
    if variable and variable != usual_variable(form):
        meaning += "; " + variable
    return form, default, meaning


def table_of_page():
    """{group: [(form, default, meaning)]}."""
    section = text_of_page("daemon/OPTIONS.md").split("\n## Table\n", 1)[1].split("\n## ", 1)[0]
    table = {}
    for line in section.splitlines():
        heading = re.fullmatch(r"\*\*(.*)\*\*", line)
        if heading:
            rows = table.setdefault(heading[1], [])
        elif line.startswith("| `"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            rows.append(tuple(cell.replace("\\|", "|").replace("`", "").replace("…", "...") for cell in cells))
    return table


class Options(Case):
    def help(self):
        return self.run_tool([binary("MCP_BRIDGED"), "--help"])[0]

    def test_the_page_has_the_options_of_the_help_and_says_the_same_of_each(self):
        of_help = {group: [row_of(*one) for one in options] for group, options in options_of_help(self.help()).items()}
        self.assertGreater(sum(map(len, of_help.values())), 60)
        of_page = table_of_page()
        self.assertEqual(list(of_page), list(of_help))
        for group, rows in of_help.items():
            with self.subTest(group):
                self.assertEqual(of_page[group], rows)

    @needs("man")
    def test_the_man_page_has_the_options_of_the_help_and_no_other(self):
        page = rendered(document("mcp-bridged.8"), NEVER_BROKEN)
        body = page.split("\nOPTIONS\n", 1)[1].split("\nENVIRONMENT\n", 1)[0]
        of_page = {line.strip() for line in body.splitlines() if re.match(r"\s+-", line)}
        of_page = {re.sub(r"(?<=\S)\s{2,}.*", "", line) for line in of_page}
        of_help = {form for options in options_of_help(self.help()).values() for form, _, _, _ in options}
        self.assertEqual(of_page, of_help)
        for variable in re.findall(r"\((MCP_\w+)\)", self.help()):
            self.assertRegex(body, rf"\b{variable}\b")

    def test_the_help_of_both_programs_fits_a_terminal(self):
        for program in ("MCP_BRIDGED", "MCP_NC"):
            text = self.run_tool([binary(program), "--help"])[0]
            self.assertEqual([line for line in text.splitlines() if len(line) > 80], [], program)
            self.assertEqual([line for line in text.splitlines() if line != line.rstrip()], [], program)


def rendered(page, width):
    shown = subprocess.run(["man", "--warnings=w", "-l", page], capture_output=True, timeout=60, check=True,
                           env={**os.environ, "MANWIDTH": str(width), "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
    assert not shown.stderr, shown.stderr
    return re.sub(".\x08", "", shown.stdout.decode())


@needs("man")
class ManPages(Case):
    PAGES = ("mcp-nc.1", "mcp-bridged.8")

    def test_that_of_the_client_names_every_option_of_its_help(self):
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", self.run_tool([binary("MCP_NC"), "help", "options"])[0]))
        self.assertGreater(len(options), 10)
        text = rendered(document("mcp-nc.1"), NEVER_BROKEN).replace("\u2010", "-")
        self.assertEqual({option for option in options if option not in text}, set())

    def test_nothing_is_broken_at_the_end_of_a_line(self):
        for name in self.PAGES:
            # The first and the last line are shortened on a narrow terminal.
            whole = rendered(document(name), NEVER_BROKEN).strip().splitlines()[1:-1]
            words = " ".join(whole).split()
            for width in WIDTHS:
                with self.subTest(name, width=width):
                    lines = rendered(document(name), width).strip().splitlines()[1:-1]
                    self.assertEqual([line for line in lines if re.search("[-\u2010\u00ad]$", line)], [])
                    self.assertEqual(" ".join(lines).split(), words)

    def test_what_is_typed_is_ascii(self):
        for name in self.PAGES:
            with self.subTest(name):
                self.assertEqual(re.findall("\\S*[\u2010-\u2015\u2018\u2019\u201c\u201d\u2212]\\S*",
                                            rendered(document(name), 80)), [])
                # Elsewhere groff makes a typographic hyphen of one without a backslash.
                source = pathlib.Path(document(name)).read_text(encoding="utf-8")
                text = [line for line in source.splitlines() if not line.startswith('.\\"')]
                self.assertEqual([line for line in text if re.search(r"(?<!\\)-", line)], [])


class NamedInPages(Case):
    """What pages name of the programs is theirs: signals, kinds of errors, revisions. (Options: test_pages.)

    BEHAVIOUR, "Errors: kinds", "Control methods: bridge/status".
    """
    PAGES = [path for folder in ("", "daemon", "client", "docker", "systemd") for path in sorted((ROOT / folder).glob("*.md"))
             if path.name != "CHANGELOG.md"]

    def source(self, path):
        return (ROOT / "daemon" / path).read_text(encoding="utf-8")

    def test_the_signals_are_those_that_the_daemon_watches(self):
        watched = set(re.findall(r"SIG(?:HUP|USR\d|TERM|INT|QUIT)", self.source("daemon.cpp")))
        table = text_of_page("daemon/OPTIONS.md").split("\n## Signals\n", 1)[1].split("\n## ", 1)[0]
        manual = self.source("manual/mcp-bridged.8.in").split(".SH SIGNALS", 1)[1].split(".SH", 1)[0]
        for text in (table, manual):
            self.assertEqual(set(re.findall(r"SIG[A-Z]+\d?", text)), watched)

    def test_the_kinds_of_errors_are_those_that_the_daemon_has(self):
        kinds = set(re.findall(r'ErrorKind::(\w+): return "\1"', self.source("json/reply.cpp")))
        table = text_of_page("daemon/BEHAVIOUR.md").split("\n### Kinds\n", 1)[1].split("\n### ", 1)[0]
        # An unknown job or tool is an error of JSON-RPC with a kind of its own.
        self.assertEqual(set(re.findall(r"^\| `(\w+)` ", table, re.M)) - {"job", "tool"}, kinds)

    def test_the_states_of_the_upstream_are_those_that_the_daemon_has(self):
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "daemon" / "session").glob("*.cpp"))
        states = set(re.findall(r'State::(\w+): return "\1"', sources))
        self.assertIn("refused", states)
        row = re.search(r"^\| `upstream` \|.*", text_of_page("daemon/OBSERVABILITY.md"), re.M)[0]
        self.assertEqual(set(re.findall(r"`(\w+)`", row)) - {"upstream"}, states)

    def test_the_members_of_the_status_are_those_of_its_table(self):
        self.bridge()
        client = self.client()
        client.request("tools/list")
        status = client.request("bridge/status")["result"]
        status["clients"] = status["clients"][0]
        table = text_of_page("daemon/OBSERVABILITY.md").split("\n## Members of bridge/status\n", 1)[1].split("\n## ", 1)[0]
        rows = [(re.findall(r"`(\w+)`", parts), set(re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", members))))
                for parts, members in re.findall(r"(?m)^\|(.*?)\| (.*) \|$", table)]
        top_level, *of_parts = [row for row in rows if row[1]]
        self.assertEqual(set(status).difference(*(parts for parts, _ in of_parts)), top_level[1])
        compared = [row for row in of_parts if status.keys() >= set(row[0])]
        self.assertEqual(len(compared), 5)
        for parts, members in compared:
            with self.subTest(parts):
                self.assertEqual(set().union(*(status[part] for part in parts)), members)

    def test_the_size_of_the_image_is_the_bound_that_its_test_holds(self):
        bound = re.search(r"most_added_mb=(\d+)", (ROOT / "tests/containers/run.sh").read_text(encoding="utf-8"))[1]
        self.assertIn(f"less than {bound} MB more than Debian slim", text_of_page("docker/README.md"))

    def test_every_range_of_revisions_is_the_whole(self):
        first = re.search(r'legacy_versions = \{"([\d-]+)"', self.source("mcp/handshake.cpp"))[1]
        last = re.search(r'newest_version = "([\d-]+)"', self.source("mcp/handshake.hpp"))[1]
        for page in self.PAGES:
            for begin, end in re.findall(r"from (20\d\d-\d\d-\d\d) to (20\d\d-\d\d-\d\d)", page.read_text(encoding="utf-8")):
                self.assertEqual((begin, end), (first, last), page)


if __name__ == "__main__":
    main()
