"""README.md and the pages that it links to: every command is run, every link leads somewhere, every name exists.

Each block of code is looked at by a test. What its language says of it:

    console     typed here, line by line, and its output compared
    sh          run by the script that RUN_BY names: it wants root, the network or a container engine
    dockerfile  likewise
    json, toml, …               read by the daemon, on every page: an entry of a config file, or what CONFIGURATION says
    python, wire, log           by a test of its own, here
    in text     commands, variables, options, lines of an options file and rules with a value: read by the daemon (IN_TEXT)
    nginx       the nginx of the tests runs with it: harness/nginx.py, test_face_verify
    text        a drawing: DRAWINGS says why nothing runs it
"""

import json
import pathlib
import re
import shlex
import sys
import unittest

from harness import Case, eventually, main
from harness.binaries import ROOT, binary
from harness.document import shown_as
from harness.pages import blocks, commands, documents, inline_code, links, matches, pages, text_of_page
from harness.page_shell import PageShell

# (page, heading): the script that runs the blocks, and the words by which it names them.
RUN_BY = {
    ("README.md", "Get it"): ("tests/packages/release.sh",),
    ("README.md", "Two commands"): ("tests/bare/try.sh", "tests/bare/tests.sh"),
    ("systemd/README.md", "The package"): ("tests/packages/run.sh",),
    ("systemd/README.md", "Without the package"): ("tests/systemd/run.sh",),
    ("systemd/README.md", "The service"): ("tests/systemd/run.sh", "tests/systemd/booted.py"),
    ("docker/README.md", ""): ("tests/containers/recipes.sh",),
    ("docker/README.md", "A container you already have"): ("tests/containers/recipes.sh",),
    ("docker/README.md", "In the agent's own container"): ("tests/containers/recipes.sh", "tests/containers/any_image.sh"),
    ("docker/README.md", "As a sidecar"): ("tests/containers/recipes.sh",),
}
DRAWINGS = {
    ("README.md", "The problem"): "a drawing",
    ("docker/README.md", ""): "a drawing; test_manifests compares it with the Dockerfile's",
}
# Blocks that are copied into a file, and how the daemon reads them; an entry of a config file needs no row.
LANGUAGES_OF_FILES = {"json", "toml", "yaml", "ini", "conf", "env"}
CONFIGURATION = {
    ("daemon/BEHAVIOUR.md", "Policy", 1): "policy",
    ("daemon/BEHAVIOUR.md", "Audit", 1): "printed",
}
# How the daemon is told to read each kind. What it prints itself is compared: test_the_audit_has_the_line_that_is_shown.
READ_BY = {"entry": ("--input", "ado_org=contoso", "--config"), "policy": ("--policy",), "options": ("--options-file",)}
UPSTREAM = {"MCP_SERVER_URL": "https://example.com/mcp"}
# Users and groups of the examples, which no machine has.
PEERS = {'"agent"': "1001", '"ci"': "1002"}
# Options that another one has to go with, as the text around them says.
TOGETHER_WITH = {
    "MCP_BRIDGE_HTTP=0.0.0.0:$PORT": ("--http-token-file", "secret", "--http-insecure"),
    "--oauth-grant jwt-bearer": ("--oauth-assertion-file", "secret", "--oauth-client-id", "x"),
}
# What the daemon reads of the text: by form the pattern, how many there are at least, and what marks one that the
# reader has to complete.
_NAMES = r"(?<![\w$./-])[A-Z][A-Z_]*\b(?!=)|[…|\[]"
IN_TEXT = {
    "command": (r"mcp-bridged ", 5, _NAMES),
    "variable": (r"MCP_(?:BRIDGE|SERVER|SOCKET)_\w+=[^ ]*$", 5, "…"),
    "option": (r"--[a-z0-9-]+[ =]", 15, _NAMES),
    "line of an options file": (r"[a-z][a-z0-9-]+ = ", 1, _NAMES),
    "rule": (r'\{?"(?:uid|gid|http|grant|rate|inflight|tools|prompts|resources|methods)": ', 3, "[A-Z…]"),
}
# How an option or a line looks.
NO_EXAMPLES = {"--name value", "name = value", "mcp-bridged --http"}
LANGUAGES_TRIED_HERE = {"console", "python", "wire", "nginx", "log"} | LANGUAGES_OF_FILES
# Pages whose commands are typed before a daemon that runs already.
WITH_DAEMON = {"client/README.md", "daemon/OBSERVABILITY.md"}
LONGEST_README = 200
# Options of other programs, where they stand in text or tables.
OPTIONS_OF_OTHERS = {"--stateful", "--group-add", "--build", "--preset", "--name", "--now", "--host-uds", "--remove"}
# Where a script is that a page names as it is in a release.
IN_A_RELEASE = {"install.sh": "docker/install.sh", "/opt/mcp-session-bridge/install.sh": "docker/install.sh"}


def anchor_of(heading):
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Blocks(unittest.TestCase):
    def test_each_is_looked_at_by_a_test(self):
        for page in pages():
            for block in blocks(page):
                with self.subTest(block.place):
                    if block.language in ("sh", "dockerfile"):
                        self.assertIn(block.place[:2], RUN_BY)
                    elif block.language == "text":
                        self.assertIn(block.place[:2], DRAWINGS)
                    else:
                        self.assertIn(block.language, LANGUAGES_TRIED_HERE)

    def test_who_is_said_to_run_one_reads_it_from_the_page(self):
        for (page, heading), scripts in RUN_BY.items():
            for script in scripts:
                with self.subTest(page=page, heading=heading, script=script):
                    text = (ROOT / script).read_text(encoding="utf-8")
                    self.assertIn(page, text)
                    self.assertIn(f'"{heading}"', text)

    def test_nothing_is_excepted_that_is_not_there(self):
        places = {block.place[:2] for page in pages() for block in blocks(page)}
        self.assertEqual((set(RUN_BY) | set(DRAWINGS)) - places, set())

    def test_every_link_leads_to_a_file_and_its_heading(self):
        for page in pages():
            for file, anchor in links(page):
                with self.subTest(page, link=f"{file}#{anchor}"):
                    self.assertTrue((ROOT / file).exists())
                    if anchor:
                        headings = re.findall(r"(?m)^#+ (.*)$", text_of_page(file))
                        self.assertIn(anchor, [anchor_of(heading) for heading in headings])

    def test_every_script_that_a_page_names_is_there(self):
        for page in pages():
            for script in re.findall(r"\b(?:bash|sh|python3) ([\w./-]+\.(?:sh|py))", text_of_page(page)):
                with self.subTest(page, script=script):
                    self.assertTrue((ROOT / IN_A_RELEASE.get(script, script)).is_file())

    def test_the_readme_is_short_and_leads_to_every_page(self):
        self.assertLessEqual(len(text_of_page("README.md").splitlines()), LONGEST_README)
        for page in ("client/README.md", "systemd/README.md", "docker/README.md"):
            self.assertIn(page, pages())
        linked = [file for file, _ in links("README.md")]
        for file in (ROOT / "daemon").glob("*.md"):
            self.assertIn(f"daemon/{file.name}", linked)


class Names(Case):
    def test_every_option_and_verb_that_a_page_names_exists(self):
        of_daemon = set(re.findall(r"--[a-z][a-z0-9-]+", self.run_tool([binary("MCP_BRIDGED"), "--help"])[0]))
        of_client = set(re.findall(r"--[a-z][a-z0-9-]+", self.run_tool([binary("MCP_NC"), "help", "options"])[0]))
        verbs = {verb["verb"] for verb in json.loads(self.run_tool([binary("MCP_NC"), "help", "--json"])[0])["verbs"]}
        for page in pages():
            for code in inline_code(page):
                with self.subTest(page, code=code):
                    options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", code))
                    known = of_client if code.startswith("mcp-nc") else of_daemon | of_client | OPTIONS_OF_OTHERS
                    self.assertEqual(options - known, set())
                    verb = re.match(r"mcp-nc ((?:-{1,2}\w+ \S+ )*)([a-z]+)(?: |$)", code)
                    if verb:
                        self.assertIn(verb[2], verbs)

    def test_every_variable_that_a_page_names_exists(self):
        known = set(re.findall(r"MCP_\w+", self.run_tool([binary("MCP_BRIDGED"), "--help"])[0]))
        for about in ("options", "listen"):
            known |= set(re.findall(r"MCP_\w+", self.run_tool([binary("MCP_NC"), "help", about])[0]))
        known |= {"MCP_NC_GRANT", "MCP_BRIDGE_", "MCP_SERVER_", "MCP_SOCKET_", "MCP_INPUT_ID", "MCP_INPUT_ADO_ORG", "MCP_INPUT_", "MCP_BRIDGE_NAME", "MCP_BRIDGE_STATIC_CLIENT", "MCP_BRIDGE_FOLDER"}
        for page in pages():
            with self.subTest(page):
                self.assertEqual(set(re.findall(r"MCP_\w+", text_of_page(page))) - known, set())

    def test_the_table_of_metrics_has_them_all_and_no_other(self):
        policy = self.write("policy.json", '{"rules": [{}]}')
        self.bridge("--state-dir", self.path("state"), "--policy", policy, "--audit", self.path("audit.log"))
        self.run_nc("call", "echo", "message=x")
        exposed = {name for name in re.findall(r"(?m)^# TYPE (\w+) ", self.run_nc("status", "--metrics")[0])}
        named = set()
        for row in re.findall(r"(?m)^\| (`mcp_bridge_.*?) \|", text_of_page("daemon/OBSERVABILITY.md")):
            for name in re.findall(r"`(\w+)(?:\{[\w,]*\})?`", row):
                if name.startswith("_"):
                    # The rest of a name: it begins as the last whole one does.
                    stems = [whole.rsplit("_", cut)[0] for whole in sorted(named, key=len) for cut in range(1, whole.count("_"))]
                    name = next(stem + name for stem in stems + ["mcp_bridge"] if stem + name in exposed)
                named.add(name)
        self.assertEqual(named, exposed)


class Commands(Case):
    """Each page in a shell of its own, before the demo upstream."""

    def type_page(self, page):
        server = self.upstream()
        replaced = {"https://example.com/mcp": server.url, "/tmp/mcp.sock": self.path("s"),
                    ":8080": f":{self.unused_port()}", ":9000": f":{self.unused_port()}"}
        replaced["--port 9000"] = "--port " + replaced[":9000"][1:]
        if page in WITH_DAEMON:
            self.start_daemon(server)
        for block in blocks(page):
            if block.language == "json" and "`mcp.json`" in text_of_page(page):
                self.write("mcp.json", block.text)
        with PageShell(self.folder, self.marker, replaced) as shell:
            for block in blocks(page):
                if block.language == "console":
                    for command, expected in commands(block):
                        output = shell.type(command)
                        self.assertTrue(matches(expected, output),
                                        f"{block.place}\n$ {command}\nexpected:\n" + "\n".join(expected) + f"\nprinted:\n{output}")

    def test_those_of_every_page_print_what_is_shown(self):
        tried = [page for page in pages() if any(block.language == "console" for block in blocks(page))]
        self.assertGreater(len(tried), 5)
        covered = {name.removeprefix("test_page_") for name in dir(self) if name.startswith("test_page_")}
        self.assertEqual(covered, {page_name(page) for page in tried})

    def test_the_calls_of_mcp_nc_within_the_text_are_no_wrong_usage(self):
        self.bridge()
        tried = 0
        for page in pages():
            for code in inline_code(page):
                # One with a name in capitals or in brackets is no call, but how calls look.
                if code.startswith("mcp-nc ") and not re.search(r"\b[A-Z]{2,}\b|\bkey\b|[…\[]", code):
                    with self.subTest(page, code=code):
                        words = ["timeout", "3", binary("MCP_NC"), "-s", self.path("s"), *shlex.split(code)[1:]]
                        _, err = self.run_tool(words, code=None)
                        self.assertNotRegex(err, r"--help|usage")
                        tried += 1
        self.assertGreater(tried, 15)

    def test_six_lines_of_python(self):
        _, daemon = self.bridge()
        script = next(block.text for block in blocks("client/README.md") if block.language == "python")
        self.assertEqual(len(script.splitlines()), 6)
        self.assertIn('"/tmp/mcp.sock"', script)
        out, _ = self.run_tool([sys.executable, "-c", script.replace("/tmp/mcp.sock", daemon.socket_path)])
        self.assertIn("'text': 'hi'", out)

    def test_the_session_on_the_wire_is_what_the_demo_gives(self):
        self.bridge()
        client = self.client()
        block = next(block for block in blocks("README.md") if block.language == "wire")
        shown = [line.split(" ", 1) for line in block.text.splitlines()]
        self.assertGreater(len(shown), 5)
        for direction, text in shown:
            if direction == ">":
                client.send(text)
            else:
                self.assertRegex(client.raw_line().decode().rstrip("\n"), "^" + shown_as(text))

    def test_the_log_has_the_lines_that_are_shown(self):
        server = self.upstream()
        shown = next(block.text for block in blocks("daemon/OBSERVABILITY.md") if block.language == "log").splitlines()
        self.assertEqual(len(shown), 2)
        for line, form in zip(shown, ("text", "json")):
            daemon = self.start_daemon(server, "--log-level", "debug", "--log-format", form, socket=form)
            client = self.client()
            client.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
                "name": "echo", "arguments": {"message": "x"},
                "_meta": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}})
            client.answer("a")
            pattern = re.sub(r"\d+", r"\\d+", shown_as(line))
            daemon.logged("a request has ended")
            self.assertTrue(any(re.search("^" + pattern, one) for one in daemon.stderr().splitlines()), f"{line}\n{daemon.stderr()}")

    def test_the_audit_has_the_line_that_is_shown(self):
        shown, = (block.text.rstrip("\n") for block in blocks("daemon/BEHAVIOUR.md") if block.place[:2] == ("daemon/BEHAVIOUR.md", "Audit"))
        self.bridge("--audit", self.path("audit.log"))
        client = self.client()
        client.call("add", {"a": 1, "b": 2}, 1)
        pattern = re.sub(r"\d+", r"\\d+", shown_as(shown)).replace("python3", r"python[\d.]*")
        eventually(lambda: re.search("^" + pattern, pathlib.Path(self.path("audit.log")).read_text(encoding="utf-8"), re.M),
                   lambda: f"{shown}\n" + pathlib.Path(self.path("audit.log")).read_text(encoding="utf-8"))


class Configuration(Case):
    """What is copied into a file, a variable or a command is read by the daemon with --check, which starts nothing."""

    def check(self, *arguments, **variables):
        for name in ("docker", "mcp-nc", "npx"):
            self.write(name, "", 0o755)
        _, err = self.run_tool([binary("MCP_BRIDGED"), "--check", *arguments], environment={"PATH": self.folder, "DOCS_TOKEN": "t", **variables})
        self.assertNotIn("names no option", err)

    def read(self, kind, language, text):
        for name, number in PEERS.items() if kind == "policy" else ():
            text = text.replace(name, number)
        if language == "json" and kind == "entry":
            json.loads(text)
        self.check(*READ_BY[kind], self.write("file." + language, text), **({} if kind == "entry" else UPSTREAM))

    def test_the_daemon_reads_each_block_as_what_it_is(self):
        tried = []
        for page in documents():
            for block in blocks(page):
                kind = CONFIGURATION.get(block.place, "entry")
                if block.language in LANGUAGES_OF_FILES and kind != "printed":
                    tried.append(block.place)
                    with self.subTest(block.place):
                        self.read(kind, block.language, block.text)
        self.assertGreaterEqual(len(tried), 9)
        self.assertEqual([place for place, kind in CONFIGURATION.items() if place not in tried and kind != "printed"], [])

    def test_the_daemon_reads_the_entries_of_the_man_pages(self):
        tried = 0
        for page in ("client/manual/mcp-nc.1.in", "daemon/manual/mcp-bridged.8.in"):
            for line in text_of_page(page).splitlines():
                if line.startswith("{"):
                    tried += 1
                    self.read("entry", "json", line.replace("\\-", "-"))
        self.assertEqual(tried, 1)

    def test_the_daemon_reads_what_the_text_shows(self):
        known = set(re.findall(r"--[a-z][a-z0-9-]+", self.run_tool([binary("MCP_BRIDGED"), "--help"])[0]))
        for form, (pattern, least, incomplete) in IN_TEXT.items():
            shown = {code for page in documents() for code in inline_code(page)
                     if re.match(pattern, code) and not re.search(incomplete, code)} - NO_EXAMPLES
            if form == "option":
                shown = {code for code in shown if re.match(r"--[a-z0-9-]+", code)[0] in known}
            self.assertGreaterEqual(len(shown), least, form)
            for code in sorted(shown):
                with self.subTest(form, code=code):
                    self.read_from_text(form, code.replace("$PORT", "8080").replace("/srv/", self.path("")), TOGETHER_WITH.get(code, ()))

    def read_from_text(self, form, code, more):
        self.write("secret", "secret\n")
        if form == "rule":
            self.read("policy", "json", '{"rules": [%s]}' % (code if code.startswith("{") else "{" + code + "}"))
        elif form == "line of an options file":
            self.read("options", "conf", code)
        elif form == "variable":
            name, _, value = code.partition("=")
            self.check(*more, **{**UPSTREAM, name: value})
        else:
            words = shlex.split(code)
            self.check(*(words[1:] if form == "command" else words), *more, **UPSTREAM)


def page_name(page):
    return re.sub(r"\W", "_", page.removesuffix(".md")).lower()


def _add(page):
    setattr(Commands, "test_page_" + page_name(page), lambda self: self.type_page(page))


for _page in pages():
    if any(block.language == "console" for block in blocks(_page)):
        _add(_page)


if __name__ == "__main__":
    main()
