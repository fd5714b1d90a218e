"""The shells' completions, as they are installed. A shell that is not here is skipped."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import Case, main
from harness.binaries import binary
from harness.processes import marked
from harness.terminal import Terminal
from harness.waiting import eventually


def document(name):
    """A generated file: beside the program it belongs to."""
    program = binary("MCP_NC" if "nc" in name else "MCP_BRIDGED")
    path = pathlib.Path(program).parent / "manual" / name
    if not path.exists():
        raise unittest.SkipTest(f"{name} was not built")
    return str(path)


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"there is no {program}")


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()
        self.run_nc("request", "ping")
        # The completion runs `mcp-nc`; it has to be this one, and a busy machine gets the time that it needs.
        self.asked = self.path("asked")
        self.write("mcp-nc", f'#!/bin/bash\nprintf "%s\\n" "$*" >>"{self.asked}"\n'
                             f'exec "{binary("MCP_NC")}" "${{@/#150ms/20s}}"\n', 0o700)

    def environment(self):
        variables = {key: value for key, value in os.environ.items() if not key.startswith("MCP_")}
        return {**variables, **marked(self.marker), "MCP_SOCKET_PATH": self.daemon.socket_path, "TERM": "dumb",
                "PATH": self.folder + ":" + variables["PATH"], "HOME": self.folder}

    def run_script(self, *command):
        done = subprocess.run(command, env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.stderr.decode(), "")
        return done.stdout.decode().split("\n")[:-1]

    def bash(self, *words, file="mcp-nc.bash", function="_mcp_nc"):
        """What bash offers for the last word."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
                 f'{function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return self.run_script("bash", "-c", script, "bash", document(file), *words)

    def fish(self, line, file="mcp-nc.fish"):
        script = 'set fish_complete_path; source $argv[1]; complete -C $argv[2]'
        return [offer.split("\t")[0] for offer in self.run_script("fish", "-N", "-c", script, document(file), line)]

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(self.bash("mcp-nc", "req"), ["request"])
        self.assertEqual(self.bash("mcp-nc", "status", "--wa"), ["--wait", "--watch"])

    REFUSED = (("tools --ra", "tools --roo", "--root"), ("logs --jso", "call --ra", "--raw"), ("jobs --yes", "approve --ye", "--yes"),
               ("status --det", "call --detach-", "--detach-after"))

    def test_bash_offers_no_option_that_the_command_refuses(self):
        for refused, taken, option in (*self.REFUSED, ("call --watch", "--watc", "--watch")):
            with self.subTest(refused):
                offered = self.bash("mcp-nc", *refused.split())
                self.assertEqual(offered, ["--json"] if "jso" in refused else [""])
                self.assertEqual(self.bash("mcp-nc", *taken.split()), [option])

    def test_bash_completes_names_from_the_session(self):
        self.assertEqual(self.bash("mcp-nc", "call", "ec"), ["echo"])
        self.assertEqual(self.bash("mcp-nc", "-w", "5", "prompt", "--json", ""), ["greet"])
        self.assertEqual(self.bash("mcp-nc", "-s", self.path("nowhere"), "call", ""), [""])

    def test_bash_completes_arguments_and_their_values(self):
        tool = '{"name":"find","inputSchema":{"properties":{"mode":{"enum":["fast","slow"]},"max":{"type":"integer"},' \
               '"quiet":{"type":"boolean"}}}}'
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"tools":[%s]}}}' % tool, method="tools/list")
        self.assertEqual(self.bash("mcp-nc", "call", "find", ""), ["mode=", "max=", "quiet="])
        self.assertEqual(self.bash("mcp-nc", "call", "find", "m"), ["mode=", "max="])
        self.assertEqual(self.bash("mcp-nc", "call", "find", "mode=f"), ["mode=fast"])
        self.assertEqual(self.bash("mcp-nc", "--json", "call", "find", "max=1", "quiet=t"), ["quiet=true"])
        # The list that the daemon keeps is enough: a server that hangs is not asked.
        self.server.fault({"hang": True}, method="tools/list", times=9)
        self.assertEqual(self.bash("mcp-nc", "call", "fi"), ["find"])

    def asked_in_all(self):
        with open(self.asked, encoding="ascii") as asked:
            return asked.read().splitlines()

    def test_bash_escapes_the_names(self):
        result = '"result":{"tools":[{"name":"two words"},{"name":"two$s"},{"name":"one"}]}'
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,%s}}' % result, method="tools/list")
        self.assertEqual(self.bash("mcp-nc", "call", "two"), ["two\\ words", "two\\$s"])

    def test_the_daemon_is_asked_once_and_for_a_short_time(self):
        self.bash("mcp-nc", "call", "")
        self.bash("mcp-nc", "-s", self.daemon.socket_path, "read", "")
        self.assertEqual(self.asked_in_all(), ["-w 150ms tools --names",
                                               f"-s {self.daemon.socket_path} -w 150ms resources --names"])

    def test_jobs_are_completed_by_their_ids_also_the_second_one(self):
        self.write("mcp-nc", f'#!/bin/bash\nprintf "%s\\n" "$*" >>"{self.asked}"\nprintf "%s\\n" first second\n', 0o700)
        for words in (("wait",), ("answer",), ("cancel",), ("forget",), ("wait", "--any", "first")):
            with self.subTest(words):
                self.assertEqual(self.bash("mcp-nc", *words, "s"), ["second"])
        self.assertEqual(self.bash("mcp-nc", "cancel", "first", "s"), [""])
        self.assertEqual(set(self.asked_in_all()), {"-w 150ms jobs --names"})

    def named(self):
        """A mcp-nc that knows two servers by name, and names one thing of whatever it is asked for."""
        self.write("mcp-nc", f'#!/bin/bash\nprintf "%s\\n" "$*" >>"{self.asked}"\n'
                             '[[ $1 == servers ]] && printf "%s\\n" github gitlab || echo thing\n', 0o700)

    def test_servers_are_completed_by_their_names_and_none_is_started(self):
        self.named()
        self.assertEqual(self.bash("mcp-nc", "@"), ["@github", "@gitlab"])
        self.assertEqual(self.bash("mcp-nc", "@gith"), ["@github"])
        self.assertEqual(self.bash("mcp-nc", "stop", "gith"), ["github"])
        self.assertEqual(self.bash("mcp-nc", "@github", "res"), ["resources"])
        self.assertEqual(self.bash("mcp-nc", "@github", "call", "th"), ["thing"])
        self.assertEqual(self.asked_in_all()[-1], "@github --no-start -w 150ms tools --names")

    @needs("fish")
    def test_fish_completes_servers_too(self):
        self.named()
        self.assertEqual(self.fish("mcp-nc @gith"), ["@github"])
        self.assertEqual(self.fish("mcp-nc stop gith"), ["github"])
        self.assertEqual(self.fish("mcp-nc @github call th"), ["thing"])
        self.assertEqual(self.asked_in_all()[-1], "@github --no-start -w 150ms tools --names")

    def test_completing_takes_no_notification(self):
        self.bash("mcp-nc", "call", "")
        self.server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        self.untaken(1)
        self.assertEqual(self.bash("mcp-nc", "call", "ec"), ["echo"])
        self.untaken(1)

    def test_bash_completes_the_daemons_options_and_choices(self):
        how = {"file": "mcp-bridged.bash", "function": "_mcp_bridged"}
        self.assertEqual(self.bash("mcp-bridged", "--handshake", "", **how), ["lazy", "client", "eager"])
        self.assertEqual(self.bash("mcp-bridged", "--no-con", **how), ["--no-control"])

    @needs("fish")
    def test_fish_completes_all_of_it(self):
        self.assertEqual(sorted(self.fish("mcp-nc req")), ["request"])
        self.assertEqual(self.fish("mcp-nc call ec"), ["echo"])
        self.assertEqual(self.fish("mcp-nc -w 5 prompt --json gre"), ["greet"])
        self.assertEqual(self.asked_in_all(), ["-w 150ms tools --names", "-w 150ms prompts --names"])
        self.assertEqual(sorted(self.fish("mcp-nc call add ")), ["a=", "b="])
        self.assertIn("--watch", self.fish("mcp-nc status --wat"))
        self.assertEqual(sorted(self.fish("mcp-bridged --handshake ", "mcp-bridged.fish")), ["client", "eager", "lazy"])

    def zsh_completes(self, *lines):
        for name in ("_mcp-nc", "_mcp-bridged"):
            shutil.copy(document(name), self.path(name))
        start = f"fpath=({self.folder} $fpath); autoload -Uz compinit; compinit -u -D; PS1='ready%# '"
        environment = self.environment()
        shell = Terminal(["env", "-i", *[f"{key}={environment[key]}" for key in
                                         ("PATH", "HOME", "TERM", "MCP_SOCKET_PATH", *marked(self.marker))], "zsh", "-f"], self.marker)
        try:
            shell.expect("% |# ")
            shell.type(start + "\n").expect("ready[%#] ")
            for typed, completed in lines:
                with self.subTest(typed):
                    shell.shown = b""
                    shell.type(typed + "\t").expect(re.escape(completed))
                    # Not ^C: while zsh still completes, that would be a signal and no key.
                    shell.shown = b""
                    shell.type("\x15true\n").expect("ready[%#] ")
        finally:
            shell.close()

    @needs("zsh")
    def test_zsh_completes_all_of_it(self):
        self.zsh_completes(("mcp-nc sta", "mcp-nc status"), ("mcp-nc call ec", "mcp-nc call echo"),
                           ("mcp-nc prompt gr", "mcp-nc prompt greet"), ("mcp-nc call echo me", "mcp-nc call echo message="),
                           ("mcp-nc status --wat", "mcp-nc status --watch"),
                           # Other commands have --follow, --full and --field.
                           ("mcp-nc record --f", "mcp-nc record --for"), ("mcp-nc -w 5s record --f", "mcp-nc -w 5s record --for"),
                           ("mcp-bridged --ring-coa", "mcp-bridged --ring-coalesce"),
                           ("mcp-bridged --handshake=ea", "mcp-bridged --handshake=eager"))
        self.assertEqual(self.asked_in_all(), ["-w 150ms tools --names", "-w 150ms prompts --names",
                                               "-w 150ms tools echo --names"])

    @needs("zsh")
    def test_zsh_completes_servers_too(self):
        self.named()
        self.zsh_completes(("mcp-nc @gith", "mcp-nc @github"), ("mcp-nc stop gitl", "mcp-nc stop gitlab"),
                           ("mcp-nc @github sta", "mcp-nc @github status"),
                           ("mcp-nc @github call th", "mcp-nc @github call thing"))
        self.assertEqual(self.asked_in_all()[-1], "@github --no-start -w 150ms tools --names")

    # What is typed before Tab, and the words that mcp-nc is then run with.
    TYPED = (("@b", "@big"), ("@dem", "@demo"), ("stop @d", "stop @demo"), ("approve @b", "approve @big"), ("stop de", "stop demo"),
             ("@demo sto", "@demo stop"), ("read demo://r", "read demo://readme"), ("@demo read demo://r", "@demo read demo://readme"),
             ("subscribe file:///x demo://r", "subscribe file:///x demo://readme"), ("call ns:t", "call ns:tool"),
             ("call tw", r"call two\ words"), ("call find mode=f", "call find mode=fast"), ("call find at=12:3", "call find at=12:30"),
             ("@demo call find ma", "@demo call find max="), ("prompt gr", "prompt greet"), ("prompt greet na", "prompt greet name="))

    def types(self, *shell, start):
        """Types each line at a shell with completion, and looks with what it runs `mcp-nc` after Tab and Enter."""
        ran = self.path("ran")
        self.write("mcp-nc", f'''#!/bin/bash
case "$*" in
servers*) printf '%s\\n' big demo ;;
*"resources --names") printf '%s\\n' demo://readme file:///x ;;
*"tools find --names") printf '%s\\n' mode=fast mode=slow max= at=12:30 ;;
*"prompts greet --names") printf '%s\\n' name= mood= ;;
*"tools --names") printf '%s\\n' find 'two words' ns:tool ;;
*"prompts --names") echo greet ;;
*) printf '%q ' "$@" >>{ran}; echo >>{ran} ;;
esac
''', 0o700)
        environment = self.environment()
        terminal = Terminal(["env", "-i", *[f"{key}={environment[key]}" for key in ("PATH", "HOME", "TERM", *marked(self.marker))],
                             *shell], self.marker)
        try:
            terminal.type(f"{start}; mcp-nc ready\n")
            for at, (typed, wanted) in enumerate((("", "ready"), *self.TYPED)):
                if typed:
                    terminal.type(f"mcp-nc {typed}\t\n")

                def lines():
                    terminal.read()
                    return pathlib.Path(ran).read_text(encoding="utf-8").splitlines()[at:] if os.path.exists(ran) else None
                with self.subTest(typed):
                    self.assertEqual(eventually(lines, lambda: repr(terminal.shown))[0].rstrip(), wanted)
        finally:
            terminal.close()

    def test_bash_completes_what_a_person_types(self):
        self.types("bash", "--norc", "-i", start=f"PS1='$ '; source {document('mcp-nc.bash')}")

    @needs("zsh")
    def test_zsh_completes_what_a_person_types(self):
        shutil.copy(document("_mcp-nc"), self.path("_mcp-nc"))
        self.types("zsh", "-f", start=f"fpath=({self.folder} $fpath); autoload -Uz compinit; compinit -u -D")

    @needs("fish")
    def test_fish_completes_what_a_person_types(self):
        self.types("fish", "-N", start=f"source {document('mcp-nc.fish')}")


if __name__ == "__main__":
    main()
