"""`mcp-nc listen --exec`: a command for each notification, at least once, in order, one at a time (client/README.md,
"Handlers"; BEHAVIOUR, "Control methods: bridge/take")."""

import json
import os
import resource
import signal
import socket
import time

from harness import main, notification
from harness.binaries import binary
from harness.gathering import Gathering, log_message
from harness.processes import described
from harness.waiting import eventually

RECORD = 'cat >>lines; echo "$MCP_SEQ" >>seqs'
UPDATED = "notifications/resources/updated"


class Handlers(Gathering):
    def handler(self, command, *options, **how):
        return self.nc("listen", "--exec", command, *options, **how)

    def lines(self, name, count=0):
        """Of a file in the test's folder, once there are so many."""
        def there():
            if not os.path.exists(self.path(name)):
                return None if count else []
            with open(self.path(name), encoding="utf-8") as file:
                lines = file.read().splitlines()
            return lines if len(lines) >= count else None
        return eventually(lambda: [there()] if there() is not None else None, f"{count} lines of {name}")[0]

    def data(self, name="lines", count=0):
        return [json.loads(line)["params"]["data"] for line in self.lines(name, count)]

    def ends(self, handler, code=0, number=signal.SIGTERM):
        handler.signal(number)
        self.assertEqual(handler.wait(), code, handler.stderr())


class Promises(Handlers):
    def test_each_is_handled_in_order_with_what_it_is_about(self):
        server, daemon = self.opened()
        self.gather(server, "one", "two")
        handler = self.handler('cat >>lines; echo "$MCP_SEQ|$MCP_METHOD|$MCP_URI|$MCP_SOCKET_PATH" >>about')
        self.assertEqual(self.data(count=2), ["one", "two"])
        server.emit(notification(UPDATED, {"uri": "demo://a b"}))
        self.assertEqual(self.lines("about", 3), [f"1|notifications/message||{daemon.socket_path}",
                                                  f"2|notifications/message||{daemon.socket_path}",
                                                  f"3|{UPDATED}|demo://a b|{daemon.socket_path}"])
        self.untaken(0)
        self.ends(handler)
        self.assertEqual((handler.stdout(), handler.stderr()), (b"", ""))

    def test_a_failed_one_is_repeated_before_the_next_one(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        handler = self.handler('echo "$MCP_SEQ" >>runs; [ -e failed ] || { touch failed; exit 3; }')
        self.assertEqual(self.lines("runs", 3), ["1", "1", "2"])
        self.untaken(0)
        self.ends(handler)
        self.assertEqual(handler.stderr(), "mcp-nc: notification 1: exit code 3; again in 1 s\n")

    def test_what_another_client_takes_meanwhile_is_not_repeated(self):
        server, _ = self.opened()
        self.gather(server, "one")
        handler = self.handler('echo "$MCP_SEQ" >>runs; exit 1')
        self.lines("runs", 1)
        handler.logged("again in")
        self.run_nc("listen", "--for", "0")
        server.emit(log_message("two"))
        eventually(lambda: "2" in self.lines("runs"), "the next one")
        self.assertLessEqual(self.lines("runs").count("1"), 2)
        self.ends(handler)

    def test_after_the_retries_it_is_given_up(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        handler = self.handler('echo "$MCP_SEQ" >>runs; kill -9 $$', "--retries", "0", "--dead", "dead", "--count", "2")
        self.assertEqual(handler.wait(), 0)
        self.assertEqual((self.lines("runs"), self.data("dead")), (["1", "2"], ["one", "two"]))
        self.assertEqual(os.stat(self.path("dead")).st_mode & 0o777, 0o600)
        self.assertEqual(handler.stderr(), "mcp-nc: notification 1: signal 9; given up\n"
                                           "mcp-nc: notification 2: signal 9; given up\n")
        self.assertEqual(self.ring()["untaken"], 0)

    def test_the_command_leaves_what_is_not_handled_yet(self):
        server, _ = self.opened()
        self.gather(server, "one", "two", "three")
        handler = self.handler(RECORD + f"; {binary('MCP_NC')} call echo message=hello >>said")
        self.assertEqual(self.data(count=3), ["one", "two", "three"])
        self.assertEqual(self.lines("said", 3), ["hello"] * 3)
        self.untaken(0)
        self.ends(handler)

    def test_what_is_left_out_stays_for_others(self):
        server, _ = self.opened()
        handler = self.handler(RECORD, "--method", "notifications/resources/*")
        self.gather(server, "one")
        server.emit(notification(UPDATED, {"uri": "demo://a"}))
        self.assertEqual(self.lines("seqs", 1), ["2"])
        self.untaken(1)
        self.ends(handler)
        self.assertIn('"one"', self.run_nc("listen", "--for", "0")[0])

    def test_two_handlers_of_different_methods_and_a_listener(self):
        server, _ = self.opened()
        updates = self.handler("echo $MCP_SEQ >>updates", "--method", UPDATED)
        others = self.handler("echo $MCP_SEQ >>others", "--method", "!" + UPDATED)  # all but these
        self.others(2)
        for number in range(10):
            server.emit(log_message(number) if number % 2 else notification(UPDATED, {"uri": "demo://a"}))
        self.assertEqual(self.lines("updates", 5), ["1", "3", "5", "7", "9"])
        self.assertEqual(self.lines("others", 5), ["2", "4", "6", "8", "10"])
        self.untaken(0)
        listener = self.nc("listen", "--count", "20")
        self.others(3)
        for number in range(20):
            server.emit(log_message(number))
        self.assertEqual(listener.wait(), 0)  # it gets all; the handlers what it has not taken before
        self.untaken(0)
        handled = [int(number) for number in self.lines("others")]
        self.assertEqual(handled, sorted(set(handled)))
        for handler in (updates, others):
            self.ends(handler)

    def test_two_handlers_of_the_same(self):
        server, _ = self.opened()
        self.gather_many(server, 20)
        both = [self.handler(f"echo $MCP_SEQ >>of{number}") for number in range(2)]
        self.untaken(0)
        for handler in both:
            self.ends(handler)
        runs = [[int(number) for number in self.lines(f"of{number}")] for number in range(2)]
        self.assertEqual(sorted({*runs[0], *runs[1]}), list(range(1, 21)))
        for one in runs:
            self.assertEqual(one, sorted(set(one)))

    def test_it_opens_the_session_and_subscribes_also_after_a_restart(self):
        server, daemon = self.bridge()
        handler = self.handler(RECORD, "demo://ticker")
        server.log("resources/subscribe", wait=1)
        server.emit(notification(UPDATED, {"uri": "demo://ticker"}))
        self.untaken(0)
        self.lines("lines", 1)
        inode = os.stat(daemon.socket_path).st_ino
        daemon.crash()
        handler.logged("waiting until it runs again")
        self.start_daemon(server, old_inode=inode)
        server.log("resources/subscribe", wait=2)
        server.emit(notification(UPDATED, {"uri": "demo://ticker"}))
        self.lines("lines", 2)
        self.assertEqual(handler.stderr(), "mcp-nc: the daemon closed the connection; waiting until it runs again\n"
                                           "mcp-nc: the daemon answers again\n")
        self.ends(handler)

    def test_a_daemon_that_is_away_is_told_of_once(self):
        server, daemon = self.opened()
        self.gather(server, "zero")
        handler = self.handler(RECORD)
        self.data(count=1)  # one that has not worked yet would end
        self.untaken(0)
        daemon.stop()
        if os.path.exists(daemon.socket_path):
            os.unlink(daemon.socket_path)
        # One that accepts and closes at once.
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(daemon.socket_path)
            other.listen()
            other.settimeout(60)
            for _ in range(4):
                try:
                    other.accept()[0].close()
                except TimeoutError:
                    self.fail(f"it does not connect: {described(handler.pid)}, {handler.stderr()}")
        inode = os.stat(daemon.socket_path).st_ino
        server, _ = server, self.start_daemon(server, "--handshake", "eager", old_inode=inode)
        server.emit(log_message("one"))
        self.assertEqual(self.data(count=2), ["zero", "one"])
        self.assertEqual(handler.stderr(), "mcp-nc: the daemon closed the connection; waiting until it runs again\n"
                                           "mcp-nc: the daemon answers again\n")
        self.ends(handler)

    def test_only_what_is_waiting(self):
        server, _ = self.opened()
        self.run_nc("listen", "--exec", RECORD, "--for", "0")
        self.gather(server, "one", "two")
        self.run_nc("listen", "--exec", RECORD, "--for", "0")
        self.assertEqual(self.data(), ["one", "two"])
        self.gather(server, "three")
        self.assertIn("not handled", self.run_nc("listen", "--exec", "exit 1", "--for", "0", code=1)[1])
        self.untaken(1)
        handler = self.handler(RECORD, "--for", "300ms", "--json")
        self.assertEqual(handler.wait(), 0)
        self.assertEqual(self.data(), ["one", "two", "three"])

    def test_wrong_options(self):
        self.opened()
        for words, told in ((["--method", "x"], "go with --exec"), (["--retries", "1"], "go with --exec"),
                            (["--exec", "true", "--dead", "x"], "goes with --retries"),
                            (["--exec", "true", "--since", "1"], "--since or --seq"), (["--exec", ""], "is empty")):
            self.assertIn(told, self.run_nc("listen", *words, code=2)[1])
        self.assertIn("methods a list", self.run_nc("listen", "--exec", "true", "--method", "x" * 200, code=1)[1])
        for path, told in (("/nonexistent/x", "No such file"), (self.folder, "directory"), ("/dev/null", "not a regular file")):
            self.assertIn(told, self.run_nc("listen", "--exec", "true", "--retries", "0", "--dead", path, code=1)[1])

    def test_a_job_for_each_and_a_repeated_run_acts_once(self):
        server, _ = self.opened()
        self.gather(server, "one")
        handler = self.handler('mcp-nc call --detach --key "$MCP_SEQ" echo message="$MCP_SEQ" >>jobs; [ -e failed ] || { touch failed; exit 1; }',
                               environment={"PATH": os.path.dirname(binary("MCP_NC")) + ":" + os.environ["PATH"]})
        jobs = self.lines("jobs", 2)
        self.assertEqual(len(set(jobs)), 1)
        self.untaken(0)
        self.ends(handler)
        self.assertEqual(self.run_nc("wait", jobs[0])[0], "1\n")
        self.assertEqual(len(server.bodies("tools/call")), 1)


class Hostile(Handlers):
    def test_a_policy_that_hides_part_and_then_shows_it(self):
        path = self.path("policy.json")
        rules = '{"rules":[{"uid":%d,"resources":["%s"]}]}'
        self.write("policy.json", rules % (os.getuid(), "demo://*"))
        server, daemon = self.opened("--policy", path)
        handler = self.handler('echo "$MCP_URI" >>uris')
        for uri in ("hidden://a", "demo://b"):
            server.emit(notification(UPDATED, {"uri": uri}))
        self.assertEqual(self.lines("uris", 1), ["demo://b"])
        self.untaken(1)
        self.write("policy.json", rules % (os.getuid(), "*"))
        daemon.signal(signal.SIGHUP)
        self.assertIn("hidden://a", self.lines("uris", 2))
        self.ends(handler)

    def test_a_command_that_stays_in_the_background_closes_its_input_or_prints_much(self):
        server, _ = self.opened()
        self.gather(server, "one", "two", "three", "four")
        handler = self.handler('echo "$MCP_SEQ" >>seqs; case $MCP_SEQ in 1) (sleep 4; echo late >>late) & ;; 2) exec <&- ;; '
                               '3) head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2 ;; esac')
        self.assertEqual(self.lines("seqs", 4), ["1", "2", "3", "4"])
        self.assertFalse(os.path.exists(self.path("late")))
        self.untaken(0)
        self.ends(handler)
        self.assertEqual(len(handler.stdout()), 5000000)
        self.lines("late", 1)  # it was not ended

    def test_a_command_that_hangs_is_ended_with_its_group(self):
        server, _ = self.opened()
        self.gather(server, "one")
        for command, told in (("sleep 1000; true", "ran for 200 ms"), ("sleep 1000 & sleep 1001; true", "ran for 200 ms"),
                              ("trap '' TERM; sleep 1000; true", "ran for 200 ms"), ("(trap '' TERM; sleep 1000)& wait", "ran for 200 ms")):
            with self.subTest(command):
                self.assertIn(told, self.run_nc("-w", "200ms", "listen", "--exec", command, "--for", "0", code=1)[1])
        self.untaken(1)

    def test_the_running_command_is_awaited_and_a_second_signal_ends_it(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        handler = self.handler('echo "$MCP_SEQ" >>seqs; while [ ! -e go ]; do sleep 0.05; done')
        self.lines("seqs", 1)
        handler.signal(signal.SIGTERM)
        handler.logged("waiting for the command")
        self.assertTrue(handler.running())
        self.write("go", "")
        self.assertEqual(handler.wait(), 0)
        self.untaken(1)
        os.unlink(self.path("go"))
        handler = self.handler('echo "$MCP_SEQ" >>seqs; sleep 1000')
        self.assertEqual(self.lines("seqs", 2), ["1", "2"])
        handler.signal(signal.SIGINT)
        handler.logged("waiting for the command")
        self.ends(handler, number=signal.SIGINT)
        handler.logged("notification 2: ended by a signal; not handled")
        self.untaken(1)

    def test_a_command_that_is_ended_by_a_signal_of_ours_is_not_given_up(self):
        server, _ = self.opened()
        self.gather(server, "one")
        handler = self.handler('touch begun; sleep 1000', "--retries", "0", "--dead", "dead")
        eventually(lambda: os.path.exists(self.path("begun")), "the command runs")
        for number in (signal.SIGHUP, signal.SIGTERM):
            handler.signal(number)
            handler.logged("waiting for the command" if number == signal.SIGHUP else "not handled")
        self.assertEqual(handler.wait(), 0)
        self.untaken(1)
        self.assertEqual(self.lines("dead"), [])

    def test_success_that_the_daemon_cannot_be_told_ends_in_time(self):
        server, daemon = self.opened()
        self.gather(server, "one")
        handler = self.handler('touch begun; while [ ! -e go ]; do sleep 0.05; done')
        eventually(lambda: os.path.exists(self.path("begun")), "the command runs")
        handler.signal(signal.SIGTERM)
        handler.logged("waiting for the command")
        daemon.stop()
        self.write("go", "")
        self.assertEqual(handler.wait(), 1)
        handler.logged("handled, but the daemon could not be told; it comes again")

    def test_a_closed_output_ends_it_without_a_loss(self):
        server, _ = self.opened()
        self.gather(server, "one", "two", "three")
        handler = f"{binary('MCP_NC')} -s {self.default_daemon.socket_path} listen --retries 0"
        shell = self.run_process("shell", ["sh", "-c", f"{handler} --exec 'echo \"$MCP_SEQ\"; sleep 0.2' | head -n 1"])
        self.assertEqual((shell.wait(), shell.stdout()), (0, b"1\n"))
        self.untaken(2)

    def test_it_is_stopped_and_continued(self):
        server, _ = self.opened()
        handler = self.handler(RECORD + "; sleep 0.1")
        self.others(1)
        handler.signal(signal.SIGSTOP)
        self.gather(server, "one", "two")
        handler.signal(signal.SIGCONT)
        self.lines("seqs", 1)
        handler.signal(signal.SIGSTOP)
        time.sleep(0.2)
        handler.signal(signal.SIGCONT)
        self.assertEqual(self.data(count=2), ["one", "two"])
        self.untaken(0)
        self.ends(handler)

    def test_signals_that_its_parent_ignores(self):
        server, _ = self.opened()
        self.gather(server, "one")
        handler = self.handler(RECORD, before_exec=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.untaken(0)
        self.ends(handler)

    def test_what_does_not_fit_into_a_variable_is_in_the_notification(self):
        server, _ = self.opened()
        for method, uri in ((UPDATED, "demo://" + "x" * 70000), ("notifications/other", "demo://a\0b")):
            server.emit(notification(method, {"uri": uri}))
        handler = self.handler('cat >>lines; echo "[$MCP_URI]" >>uris')
        self.assertEqual(self.lines("uris", 2), ["[]", "[]"])
        self.assertEqual([len(json.loads(line)["params"]["uri"]) for line in self.lines("lines")], [70007, 10])
        self.untaken(0)
        self.ends(handler)

    def test_one_that_is_nested_deeply_is_passed_on_as_it_came(self):
        server, _ = self.opened()
        deep = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%s}}' % ("[" * 1021 + "]" * 1021)
        server.emit_raw(f"data: {deep}\n\n")
        handler = self.handler(RECORD)
        self.assertEqual(self.lines("lines", 1), [deep])
        self.untaken(0)
        self.ends(handler)
        out, _ = self.run_nc("listen", "--since", "0", "--count", "1")
        self.assertEqual(out, deep + "\n")

    def test_a_full_disk_leaves_no_part_of_a_line_and_loses_nothing(self):
        server, _ = self.opened()
        self.gather(server, "x" * 900, "y" * 1400)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))

        handler = self.handler('echo "$MCP_SEQ" >&2; exit 1', "--retries", "0", "--dead", "dead", before_exec=limit)
        handler.logged("cannot write dead: File too large")
        self.assertEqual(self.data("dead"), ["x" * 900])
        self.untaken(1)
        resource.prlimit(handler.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertEqual(self.data("dead", 2), ["x" * 900, "y" * 1400])
        self.untaken(0)
        self.assertEqual(handler.stderr().split("\n").count("2"), 1)  # it did not run again
        self.ends(handler)

    def test_a_line_that_was_cut_off_stays_apart_and_a_file_has_one_writer(self):
        server, _ = self.opened()
        self.write("dead", '{"jsonrpc":"2.0","met')
        options = ("--retries", "0", "--dead", "dead")
        handler = self.handler("exit 1", *options)
        self.gather(server, "one")
        self.assertEqual(json.loads(self.lines("dead", 2)[1])["params"]["data"], "one")
        self.assertIn("another handler writes it", self.run_nc("listen", "--exec", "true", *options, code=1)[1])
        self.ends(handler)


    def test_a_rotated_file_is_begun_again(self):
        server, _ = self.opened()
        handler = self.handler("exit 1", "--retries", "0", "--dead", "dead")
        self.gather(server, "one")
        self.lines("dead", 1)
        os.rename(self.path("dead"), self.path("dead.1"))
        server.emit(log_message("two"))
        self.assertEqual(self.data("dead", 1), ["two"])
        self.assertEqual(self.data("dead.1"), ["one"])
        self.ends(handler)


class Idle(Handlers):
    def test_a_waiting_handler_wakes_neither_itself_nor_the_daemon(self):
        _, daemon = self.opened("--keepalive", "0", upstream=("--keep-alive-timeout", "600"))
        handler = self.handler(RECORD)
        self.others(1)

        def rests(seconds):
            switches = lambda: [one.status_field("voluntary_ctxt_switches") for one in (daemon, handler)]
            before = switches()
            time.sleep(seconds)
            return before == switches()

        eventually(lambda: rests(1), "rest")
        self.assertTrue(rests(4))
        self.ends(handler)


if __name__ == "__main__":
    main()
