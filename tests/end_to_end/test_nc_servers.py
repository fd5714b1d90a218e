"""mcp-nc @NAME: servers by the names that files give them, whose daemons are started on demand."""

import concurrent.futures
import json
import os
import signal
import socket
import stat
import sys

from harness import eventually, main
from harness.binaries import binary
from harness.by_name import ByName
from harness.local_server import runs
from harness.processes import open_files
from harness.waiting import patient

# Of a daemon whose server says nothing: what ends the request is the -w of the client.
PATIENT = {"MCP_BRIDGE_CONNECT_WAIT": "60s"}


class Started(ByName):
    def test_of_several_who_want_it_at_once_one_starts_it_and_it_serves_the_next(self):
        self.own({"local": self.child()})
        self.assertEqual(self.running(), {})
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            pids = list(pool.map(lambda _: self.named("@local", "call", "pid")[0], range(6)))
        self.assertEqual(len(set(pids)), 1, pids)
        daemon = self.running()
        self.assertEqual(self.named("@local", "call", "pid")[0], pids[0])
        self.assertEqual(self.running(), daemon)

    def test_it_runs_in_the_folder_of_its_file_with_a_small_environment(self):
        self.own({"local": self.child(env={"FROM_FILE": "1", "ALSO": "${env:WANTED}"})})
        self.echoes("@local", WANTED="w", UNWANTED="u", MCP_BRIDGE_RING_SIZE="x")
        pid = self.running()["local"]
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), os.path.realpath(self.path("home/.config/mcp")))
        with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
            names = {line.split("=")[0] for line in file.read().split("\0") if line}
        self.assertEqual(names - {"HOME", "PATH", "LANG", "WANTED"} -
                         {name for name in names if name.startswith("XDG_")}, set())
        self.assertIn("WANTED", names)
        self.assertEqual(os.getsid(pid), pid)

    def test_nothing_of_the_definition_is_on_its_command_line_and_nothing_leaks_to_the_server(self):
        self.own({"local": self.child(env={"SECRET": "geheimnis"})})
        self.echoes("@local")
        pid = self.running()["local"]
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            self.assertNotIn("geheimnis", file.read())
        child = int(self.named("@local", "call", "pid")[0])
        links = open_files(child)
        self.assertFalse([link for link in links if "memfd" in link], links)

    def test_it_waits_three_seconds_for_its_server_unless_told_otherwise(self):
        self.own({"local": self.child(), "other": self.child()})
        self.echoes("@local")
        self.echoes("@other", MCP_BRIDGE_CONNECT_WAIT="5s")
        for name, wait in (("local", b"3s"), ("other", b"5s")):
            with open(f"/proc/{self.running()[name]}/cmdline", "rb") as file:
                self.assertIn(b"\0--connect-wait\0" + wait + b"\0", file.read())

    def test_an_edited_definition_and_another_value_are_another_daemon_and_stop_ends_them_all(self):
        self.own({"local": self.child(env={"A": "${env:VALUE:-0}"})})
        self.echoes("@local")
        self.echoes("@local", VALUE="1")
        self.own({"local": self.child(env={"A": "${env:VALUE:-0}", "B": "2"})})
        self.echoes("@local")
        pids = [server["pid"] for server in self.servers() if server["running"]]
        self.assertEqual(len(set(pids)), 3)
        self.assertEqual(sorted(server["former"] for server in self.servers()), [False, True, True])
        self.assertIn("before its definition was edited", self.named("servers")[1])
        stopped = json.loads(self.named("stop", "@local", "--json")[0])["stopped"]
        self.assertEqual(sorted(stopped), sorted(pids))
        self.assertFalse([pid for pid in pids if runs(pid)])
        self.assertIn("no daemon runs for @local", self.named("stop", "local")[1])

    def test_one_that_takes_no_signal_is_not_waited_for_for_ever(self):
        self.own({"local": self.child()})
        self.echoes("@local")
        pid = self.running()["local"]
        os.kill(pid, signal.SIGSTOP)
        out, told = self.named("stop", "@local", "--json", code=124)
        self.assertIn(f"it is stopped: kill -CONT {pid}", told)
        self.assertEqual(json.loads(out)["error"]["kind"], "timeout")
        self.assertEqual(self.running(), {"local": pid})
        os.kill(pid, signal.SIGCONT)
        self.assert_gone(pid)

    def test_an_address_and_a_command_need_no_file(self):
        server = self.upstream()
        self.echoes("--url", server.url)
        self.echoes("--url", server.url)
        command = " ".join("'" + word + "'" for word in self.wayward())
        self.echoes("--run", command)
        running = [(server["file"], server["name"]) for server in self.servers() if server["running"]]
        self.assertEqual(sorted(file or name.split("-")[0] for file, name in running),
                         sorted([server.url.split("/")[2], os.path.basename(sys.executable).split("-")[0]]))

    def test_a_server_named_at_a_terminal_is_shown_with_the_next_step(self):
        self.own({"local": self.child()})
        terminal = self.terminal("@local")
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(terminal.shown.decode(), r"(?s)server  .*tools  +\d+.*next  +mcp-nc @local ")

    def test_servers_are_checked_in_parallel_and_each_says_why_not(self):
        self.own({"local": self.child(), "away": {"url": "http://127.0.0.1:1/mcp"}, "bad": {"command": "/no/such/program"}})
        out, _ = self.named("servers", "--check", "--json", "-w", "20s", code=1)
        states = {server["name"]: (server["state"], server["detail"]) for server in json.loads(out)["servers"]}
        self.assertEqual(states["local"][0], "ok")
        self.assertEqual((states["away"][0], states["bad"][0]), ("fails", "fails"))
        self.assertIn("cannot reach http://127.0.0.1:1/mcp", states["away"][1])

    def test_a_check_starts_no_disabled_server_and_does_not_count_it(self):
        self.own({"local": self.child(), "off": self.child(disabled=True)})
        out, _ = self.named("servers", "--check", "--json", "-w", "20s")
        states = {server["name"]: (server["state"], server["detail"]) for server in json.loads(out)["servers"]}
        self.assertEqual((states["local"][0], states["off"][0]), ("ok", "disabled"))
        self.assertIn("it runs only when you name it", states["off"][1])
        self.assertIn("no daemon runs for @off: it is disabled, and --names starts none; start it with: mcp-nc @off server",
                      self.named("@off", "tools", "--names", code=3)[1])
        self.assertEqual(list(self.running()), ["local"])

    def test_approving_without_a_terminal_says_what_to_type(self):
        self.project({"local": self.child()})
        _, told = self.run_in("project", "approve", "@local", code=2)
        self.assertRegex(told, "(?s)it runs in .*no terminal to ask at; if it may run, type: mcp-nc approve --yes @local")

    def test_what_was_typed_is_ended_as_it_was_typed_or_by_the_name_that_is_shown(self):
        first, second = (" ".join("'" + word + "'" for word in self.wayward(*more)) for more in ((), ("--quiet",)))
        self.echoes("--run", first)
        name = "@" + self.servers()[0]["name"]
        self.assertIn("named by --run or --url", self.named(name, "tools", code=2)[1])
        self.echoes("--run", second)
        self.assertEqual(len({server["name"] for server in self.servers()}), 2)
        for words in (("--run", second, "stop"), ("stop", name)):
            self.assertRegex(self.named(*words, "--json")[0], r'^{"stopped":\[\d+\]}$')
        self.assertEqual(self.servers(), [])

    def test_it_goes_on_as_another_program_with_the_definition_that_it_was_given(self):
        self.own({"local": self.child(env={"A": "${input:word}"})}, inputs=[{"id": "word", "type": "promptString"}])
        self.echoes("@local", MCP_INPUT_WORD="x")
        pid, child = self.running()["local"], self.named("@local", "call", "pid", MCP_INPUT_WORD="x")[0]
        os.remove(self.path("home/.config/mcp/mcp.json"))
        log = self.path("home/.local/state/mcp-bridged")
        log = os.path.join(log, [name for name in os.listdir(log) if name.endswith(".log")][0])
        def has_gone_on(times):
            with open(log, encoding="utf-8") as file:
                text = file.read()
            self.assertNotIn("upgrade failed", text)
            return text.count("continues serving") == times
        for times in (1, 2):
            os.kill(pid, signal.SIGUSR2)
            eventually(lambda: has_gone_on(times), "the upgrade")
        name = [name for name in os.listdir(self.path("run/mcp-bridged")) if name.endswith(".sock")][0]
        self.assertEqual(self.named("-s", self.path("run/mcp-bridged/" + name), "call", "pid")[0], child)

    def test_all_are_searched_at_once_and_who_cannot_be_is_told(self):
        server = {"url": self.upstream().url}
        self.own({"one": server, "two": server, "three": self.child(env={"A": "${env:NOT_THERE}"})})
        self.echoes("@one")
        out, told = self.named("grep", "--all", "--no-start", "--json", "echo")
        of = {server["name"]: server for server in json.loads(out)["servers"]}
        self.assertEqual([tool["name"] for tool in of["one"]["tools"]], ["echo"])
        self.assertEqual(sorted(of["two"]), ["error", "name"])
        self.assertIn("@two was not searched: no daemon runs for @two", told)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.own({"silent": {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/"}, "one": server, "two": server,
                      "three": self.child(env={"A": "${env:NOT_THERE}"})})
            self.named("@silent", "status", **PATIENT)
            out, told = self.named("-w", patient(3000), "grep", "--all", "echo", **PATIENT)
        self.assertRegex(out, r"@one tool echo\b.*\n@two tool echo\b")
        self.assertIn("NOT_THERE", told)
        self.assertRegex(told, "@silent was not searched: .*timed out")
        self.assertEqual(self.named("grep", "--all", "no such word", code=1)[0], "")

    def test_why_its_server_ends_at_its_start_is_told_without_its_secrets_and_where_to_read_more(self):
        command = self.wayward("--crash")
        self.own({"local": {"command": command[0], "args": command[1:], "env": {"SECRET": "geheimnis"}}})
        told = self.named("@local", "call", "echo", "message=x", code=4)[1]
        self.assertIn("ended with exit code 7 before it answered anything; its stderr ends with: starting | "
                      "no account for ***; the request was not sent; see its log with: mcp-nc logs @local\n", told)
        error = json.loads(self.named("@local", "call", "echo", "message=x", "--json", code=4)[0])["error"]
        self.assertEqual(error["hint"], "see its log with: mcp-nc logs @local")
        self.assertIn("exit code 7", self.named("logs", "@local")[0])

    def test_its_socket_and_log_are_for_the_user_alone(self):
        self.own({"a b/../c": self.child()})
        self.echoes("@a b/../c")
        runtime = self.path("run/mcp-bridged")
        state = self.path("home/.local/state/mcp-bridged")
        self.assertEqual([stat.S_IMODE(os.stat(folder).st_mode) for folder in (runtime, state)], [0o700, 0o700])
        sockets = [name for name in os.listdir(runtime) if name.endswith(".sock")]
        self.assertRegex(sockets[0], r"^a_b_.._c-[0-9a-f]{24}\.sock$")
        for name in os.listdir(state):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(state, name)).st_mode), 0o600)
        self.assertIn("serves", self.named("logs", "@a b/../c")[0])


class OfAFolder(ByName):
    def test_it_runs_only_after_it_was_approved_and_so_once_it_was_edited(self):
        self.project({"theirs": self.child()})
        told = self.run_in("project", "@theirs", "tools", code=2)[1]
        self.assertIn("is not approved", told)
        self.assertEqual(self.running(), {})
        self.run_in("project", "approve", "@theirs", code=2)  # nobody can be asked
        self.assertIn(self.wayward()[-1], self.run_in("project", "approve", "--yes", "@theirs")[1])
        self.echoes("@theirs", folder="project")
        self.project({"theirs": self.child(env={"MORE": "1"})})
        self.run_in("project", "@theirs", "tools", code=2)

    def test_what_is_wrong_with_it_harms_no_name_of_the_users_own(self):
        self.own({"mine": self.child()})
        with open(self.path("project/.mcp.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.echoes("@mine", folder="project")
        self.assertIn("cannot use .mcp.json", self.run_in("project", "@other", "tools", code=2)[1])

    def test_it_takes_no_name_of_the_users_own(self):
        self.own({"mine": self.child()})
        self.project({"mine": {"command": "false"}})
        self.echoes("@mine", folder="project")

    def test_a_folder_that_others_may_enter(self):
        self.own({"local": self.child()})
        os.mkdir(self.path("run/mcp-bridged"), 0o755)
        os.chmod(self.path("run/mcp-bridged"), 0o755)
        self.assertIn("others may use the folder", self.named("@local", "tools", code=3)[1])
        os.rmdir(self.path("run/mcp-bridged"))
        os.symlink(self.path("home"), self.path("run/mcp-bridged"))
        self.assertIn("is not a folder", self.named("@local", "tools", code=3)[1])
        os.remove(self.path("run/mcp-bridged"))

    def test_what_is_shown_for_approval_cannot_trick_the_terminal(self):
        self.project({"x\u001b[2J": {"command": "a\u202eb\u001b]0;t\u0007", "args": ["${env:READ_BY_IT}"]}})
        shown = self.run_in("project", "approve", "--yes", "@x\u001b[2J")[1]
        self.assertFalse([sign for sign in "\u001b\u202e\u0007" if sign in shown], repr(shown))
        self.assertIn("it reads the variables READ_BY_IT", shown)

    def test_at_a_terminal_it_is_asked_for(self):
        self.project({"theirs": self.child()})
        for typed, code in (("n", 2), ("y", 0)):
            terminal = self.terminal("@theirs", "call", "echo", "message=seen", folder="project")
            terminal.expect(r"names the server 'theirs'.*may it run.*\[y/N\] ").type(typed + "\n")
            self.assertEqual(terminal.wait(), code, terminal.shown)
        self.assertIn(b"\r\nseen\r\n", terminal.shown)


class OfOtherPrograms(ByName):
    def test_they_are_found_behind_ones_own_and_those_of_a_folder_only_once_approved(self):
        for folder in ("home", "project"):
            os.mkdir(self.path(f"{folder}/.cursor"))
        wrong = {"command": "/no/such/program"}
        self.own({"a": self.child()})
        self.write("home/.claude.json", {}, projects={os.path.realpath(self.path("project")): {"mcpServers": {"b": self.child()}}})
        self.write("home/.cursor/mcp.json", {"a": wrong, "c": self.child()})
        self.write("project/.cursor/mcp.json", {"a": wrong, "c": wrong, "d": self.child()})
        self.assertEqual(self.run_in("project", "servers", "--names")[0].split(), ["a", "b", "c", "d"])
        self.assertEqual(self.run_in("home", "servers", "--names")[0].split(), ["a", "c"])
        self.echoes("@b", folder="project")
        self.echoes("@c", folder="project")
        self.assertIn("not approved", self.run_in("project", "@d", "tools", code=2)[1])
        self.run_in("project", "approve", "--yes", "@d")
        self.echoes("@d", folder="project")
        os.chmod(self.path("home/.cursor/mcp.json"), 0o666)
        self.assertIn("not approved", self.run_in("project", "@c", "tools", code=2)[1])

    def test_codex_names_one_in_toml_with_the_variables_it_gets(self):
        os.mkdir(self.path("home/.codex"))
        command = self.wayward()
        with open(self.path("home/.codex/config.toml"), "w", encoding="utf-8") as file:
            file.write(f"[mcp_servers.c]\ncommand = {json.dumps(command)[1:-1].split(', ')[0]}\n"
                       f"args = {json.dumps(command[1:])}\nenv_vars = ['WAYWARD_A']\nenv = {{ WAYWARD_B = 'b' }}\n")
        asked = ("call", "environment", 'names:=["WAYWARD_"]')
        answer = self.run_in("project", "@c", *asked, WAYWARD_A="a", WAYWARD_C="not its own")[0]
        self.assertEqual(json.loads(answer), {"WAYWARD_A": "a", "WAYWARD_B": "b"})
        with open(self.path("home/.codex/config.toml"), "w", encoding="utf-8") as file:
            file.write("a = 1\nb = s3cret")
        self.assertIn(".codex/config.toml: it is not TOML: line 2, column 5", self.run_in("project", "servers")[1])

    def test_an_environment_file_of_a_folder_is_approved_with_the_server(self):
        def write(value):
            with open(self.path("project/.env"), "w", encoding="utf-8") as file:
                file.write(f"export WAYWARD_A='{value}' # said here\n")
            os.chmod(self.path("project/.env"), 0o600)

        def asked(code=0):
            return self.run_in("project", "@d", "call", "environment", 'names:=["WAYWARD_"]', code=code)
        self.project({"d": self.child(envFile="${workspaceFolder}/.env")})
        write("s3cret")
        self.assertNotIn("s3cret", "".join(self.run_in("project", "approve", "--yes", "@d")))
        self.assertEqual(json.loads(asked()[0]), {"WAYWARD_A": "s3cret"})
        write("other")
        self.assertIn("not approved", asked(code=2)[1])
        os.remove(self.path("project/.env"))
        self.assertIn("cannot use its envFile", asked(code=2)[1])

    def test_a_file_that_others_can_write_or_replace_needs_approval_wherever_it_is(self):
        self.own({"own": self.child()})
        file = self.path("home/.config/mcp/mcp.json")
        for path, open_mode, mode in ((file, 0o666, 0o600), (file, 0o620, 0o600), (os.path.dirname(file), 0o777, 0o700)):
            with self.subTest(path, mode=oct(open_mode)):
                os.chmod(path, open_mode)
                self.assertIn("not approved", self.run_in("project", "@own", "tools", code=2)[1])
                os.chmod(path, mode)
        # A link that leads to it from a folder that others can write.
        os.mkdir(self.path("open"))
        os.symlink(file, self.path("open/mcp.json"))
        os.chmod(self.path("open"), 0o777)
        self.assertIn("not approved", self.run_in("project", "--config", self.path("open/mcp.json"), "@own", "tools", code=2)[1])
        self.echoes("@own")


class Refused(ByName):
    def test_a_name_that_nobody_has(self):
        self.own({"github": {"url": "http://127.0.0.1:1/"}})
        told = self.named("@gihub", "tools", code=2)[1]
        self.assertIn("no server 'gihub' in ", told)
        self.assertIn("did you mean '@github'?", told)
        out, _ = self.named("@gihub", "tools", "--json", code=2)
        self.assertIn("mcp-nc servers", json.loads(out)["error"]["hint"])

    def test_a_program_that_is_not_there_is_named_and_nothing_was_delivered(self):
        out, told = self.named("--run", "/no/such/program", "tools", "--json", code=3)
        self.assertIn("cannot run /no/such/program: there is no such program", told)
        error = json.loads(out)["error"]
        self.assertEqual((error["kind"], error["delivered"]), ("daemon", "no"))
        self.assertIn("there is no such program", error["message"])

    def test_the_first_call_says_once_why_there_is_no_session(self):
        server = self.upstream()
        server.fault({"status": 403}, method="initialize", times=100)
        self.own({"away": {"url": server.url}})
        out, told = self.named("@away", "call", "echo", "message=x", "--json", code=4)
        self.assertEqual(json.loads(out)["error"]["kind"], "auth")
        self.assertNotIn("has ended", told)
        self.assertEqual(len(server.log("initialize")), 1)
        self.named("@away", "stop")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.own({"silent": {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/"}})
            told = self.named("-w", patient(3000), "@silent", "tools", code=124, **PATIENT)[1]
        self.assertIn("timed out", told)
        self.assertNotIn("has ended", told)

    def test_values_that_are_missing_are_named_all_at_once(self):
        self.own({"wants": self.child(args=["${input:one}", "${env:TWO}", "${THREE:-3}", "${input:four}"])},
                 inputs=[{"id": "one"}, {"id": "four", "default": "4"}])
        told = self.named("@wants", "tools", code=2)[1]
        self.assertEqual(told, "mcp-nc: cannot start @wants: no value for ${input:one} (MCP_INPUT_ONE), TWO\n")

    def test_a_value_that_is_asked_for_is_not_shown_and_goes_to_the_server(self):
        self.own({"wants": self.child(env={"TOKEN": "${input:token}"})},
                 inputs=[{"id": "token", "description": "The token", "password": True}])
        terminal = self.terminal("@wants", "call", "environment", "names=TOKEN", stdout_apart=True)
        terminal.expect("The token: ").type("geheimnis\n")
        self.assertEqual(terminal.wait(), 0, terminal.shown)
        self.assertNotIn(b"geheimnis", terminal.shown)
        self.assertIn(b"geheimnis", terminal.popen.stdout.read())

    def test_a_start_that_fails_says_why_in_one_line(self):
        self.own({"broken": {"command": "x", "url": "http://127.0.0.1:1/"}})
        out, told = self.named("@broken", "tools", "--json", code=3)
        self.assertEqual(told.count("\n"), 1, told)
        self.assertIn("cannot start the daemon of @broken: ", told)
        self.assertIn("has a command and a url, and no type", told)
        self.assertIn("home/.config/mcp/mcp.json", told)
        self.assertEqual(json.loads(out)["error"]["kind"], "daemon")


class Lists(ByName):
    def test_servers_are_listed_with_what_runs(self):
        self.own({"local": self.child(), "away": {"url": "http://127.0.0.1:1/mcp?key=k"}})
        self.echoes("@local")
        self.assertEqual(self.named("servers", "--names")[0], "local\naway\n")
        listed = {server["name"]: server for server in self.servers()}
        self.assertEqual((listed["local"]["running"], listed["local"]["era"]), (True, "legacy"))
        self.assertEqual((listed["away"]["running"], listed["away"]["server"]), (False, "http://127.0.0.1:1/mcp"))
        lines = self.named("servers")[0].splitlines()
        self.assertRegex(lines[1], r"^@local +open +legacy +")
        terminal = self.terminal("servers")
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(terminal.shown.decode(), r"@local +open +legacy +.* mcp/mcp\.json +\S")

    def test_a_log_is_followed(self):
        self.own({"local": self.child()})
        self.echoes("@local")
        process = self.run_process("logs", ["env", "-C", self.path("home"), *(f"{name}={value}" for name, value in self.environment.items()),
                                            binary("MCP_NC"), "logs", "-f", "@local"])
        eventually(lambda: b"serves" in process.stdout(), "what is there")
        self.named("stop", "@local")
        eventually(lambda: b"ended\n" in process.stdout(), lambda: str(process.stdout()))
        process.popen.send_signal(signal.SIGINT)
        self.assertEqual(process.popen.wait(10), 0)


if __name__ == "__main__":
    main()
