"""The package's postinst, at an upgrade, before daemons that run and a stand-in for systemctl. run.sh beside this
does the same in a booted machine."""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, main  # noqa: E402
from harness.binaries import ROOT, binary  # noqa: E402
from harness.service_manager import ServiceManager  # noqa: E402

# Answers from files: units/UNIT/PROPERTY. What it was told to do stands in `done`.
SYSTEMCTL = """#!/bin/sh
case $1 in
  list-units) ls {units} | sed 's/$/ loaded active running/' ;;
  show) cat "{units}/$4/$3" ;;
  *) echo "$*" >>{done} ;;
esac
"""


@unittest.skipUnless(os.geteuid() == 0, "only root may look at the program of a process that hides itself")
class Upgrade(Case):
    def setUp(self):
        super().setUp()
        self.program = self.path("program")
        self.put_program()
        self.units, self.done = self.path("units"), self.path("done")
        os.makedirs(self.path("bin"))
        os.makedirs(self.units)
        self.script("systemctl", SYSTEMCTL.format(units=self.units, done=self.done))
        for name in ("adduser", "chown", "chmod"):
            self.script(name, "#!/bin/sh\n")
        text = (ROOT / "systemd" / "debian" / "postinst").read_text(encoding="utf-8")
        for there, here in (("/usr/bin/mcp-bridged", self.program), ("/run/systemd/system", self.folder),
                            ("silence=50", "silence=10")):
            self.assertEqual(text.count(there), 1)
            text = text.replace(there, here)
        self.write("postinst", text, mode=0o755)

    def script(self, name, text):
        self.write("bin/" + name, text, mode=0o755)

    def put_program(self):
        """As dpkg does: another file at the same path."""
        shutil.copy(binary("MCP_BRIDGED"), self.program + ".new")
        os.replace(self.program + ".new", self.program)

    def set(self, unit, **properties):
        os.makedirs(f"{self.units}/{unit}", exist_ok=True)
        for name, value in properties.items():
            path = f"{self.units}/{unit}/{name}"
            with open(path + "~", "w", encoding="utf-8") as file:
                file.write(f"{value}\n")
            os.replace(path + "~", path)

    def unit(self, unit, pid, program=None):
        self.set(unit, MainPID=pid, StatusText="In session", ExecStart=f"{{ path={program or self.program} ; argv[]=x ; }}")

    def service(self, unit, *options):
        """A daemon of that unit, whose status systemd would know."""
        manager = ServiceManager(self.path(unit + ".notify"))
        self.addCleanup(manager.close)
        daemon = self.start_daemon(self.server, *options, program=self.program, socket=self.path(unit + ".sock"),
                                   environment=manager.environment())
        self.unit(unit, daemon.pid)

        def keep():
            try:
                while True:
                    self.set(unit, StatusText=manager.expect("STATUS=", deadline=60).partition("=")[2])
            except (AssertionError, OSError):
                pass

        threading.Thread(target=keep, daemon=True).start()
        return daemon

    def postinst(self, *arguments):
        done = subprocess.run(["sh", self.path("postinst"), *arguments], capture_output=True, text=True, timeout=120, check=False,
                              env={"PATH": self.path("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def told(self):
        """What systemctl had to do, beside looking."""
        with open(self.done, encoding="utf-8") as file:
            return [line for line in file.read().splitlines() if line != "--system daemon-reload"]


class Upgraded(Upgrade):
    def setUp(self):
        super().setUp()
        self.server = self.upstream()

    def test_daemons_and_instances_are_upgraded_in_place_and_keep_their_clients(self):
        daemons = {unit: self.service(unit) for unit in ("mcp-bridged.service", "mcp-bridged@one.service")}
        clients = {unit: self.client(daemon) for unit, daemon in daemons.items()}
        for client in clients.values():
            client.call("echo", {"message": "before"})
        self.put_program()
        out = self.postinst("configure", "0.1.0")
        self.assertEqual(set(out.splitlines()), {f"{unit}: upgraded in place" for unit in daemons})
        self.assertEqual(self.told(), [])
        for unit, client in clients.items():
            self.assertIn("result", client.call("echo", {"message": "after"}, id=2))
            self.assertEqual(daemons[unit].status()["pid"], daemons[unit].pid)
        # A second time too: the program is in memory by now.
        self.put_program()
        self.assertIn("upgraded in place", self.postinst("configure", "0.1.0"))
        self.assertEqual(self.told(), [])

    def test_one_that_refuses_is_restarted_at_once(self):
        daemon = self.service("mcp-bridged.service")
        self.put_program()
        os.chmod(self.program, stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)
        self.assertIn("restarted, it could not be upgraded in place: journalctl -u mcp-bridged.service",
                      self.postinst("configure", "0.1.0"))
        self.assertEqual(self.told(), ["try-restart mcp-bridged.service"])
        daemon.logged("another user can write it")

    def test_where_the_new_program_cannot_read_the_state_all_are_restarted_at_once(self):
        self.service("mcp-bridged@one.service")
        self.service("mcp-bridged@two.service")
        shutil.copy("/bin/true", self.program + ".new")
        os.replace(self.program + ".new", self.program)
        self.assertEqual(self.postinst("configure", "0.1.0").count("restarted, "), 2)
        self.assertEqual(self.told(), ["try-restart mcp-bridged@one.service mcp-bridged@two.service"])

    def test_the_grace_is_waited_for(self):
        daemon = self.service("mcp-bridged.service", "--grace", "60s")
        client = self.client(daemon)
        client.send('{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"slow","arguments":{"steps":1,"delayMs":4000}}}')
        self.server.log("tools/call", wait=1)
        self.put_program()
        self.assertIn("upgraded in place", self.postinst("configure", "0.1.0"))
        self.assertIn("result", client.answer("long"))
        self.assertEqual(self.told(), [])


class Untouched(Upgrade):
    def setUp(self):
        super().setUp()
        self.server = self.upstream()

    def test_one_that_sigusr2_would_end_is_restarted_and_not_signalled(self):
        # It stands for a daemon of a version that knows no upgrade.
        old = subprocess.Popen(["sleep", "600"])
        self.addCleanup(old.wait)
        self.addCleanup(old.kill)
        self.unit("mcp-bridged.service", old.pid)
        self.postinst("configure", "0.1.0")
        self.assertEqual(self.told(), ["try-restart mcp-bridged.service"])
        self.assertIsNone(old.poll())

    def test_one_whose_process_is_gone_is_left_to_systemd(self):
        self.unit("mcp-bridged.service", 0)
        self.postinst("configure", "0.1.0")
        self.assertEqual(self.told(), ["try-restart mcp-bridged.service"])

    def test_another_program_by_a_drop_in_and_one_that_is_new_already_are_left_alone(self):
        daemon = self.service("mcp-bridged.service")
        self.assertEqual(self.postinst("configure", "0.1.0"), "")
        self.put_program()
        self.unit("mcp-bridged.service", daemon.pid, program="/usr/local/bin/mcp-bridged")
        self.assertEqual(self.postinst("configure", "0.1.0"), "")
        self.assertEqual(self.told(), [])

    def test_a_first_installation_touches_no_daemon(self):
        self.service("mcp-bridged.service")
        self.put_program()
        self.assertEqual(self.postinst("configure", ""), "")
        self.assertEqual(self.told(), [])

    def test_nothing_that_fails_breaks_the_installation(self):
        self.script("systemctl", "#!/bin/sh\nexit 1\n")
        self.assertEqual(self.postinst("configure", "0.1.0"), "")
        daemon = self.service("mcp-bridged.service")
        self.put_program()
        self.script("systemctl", SYSTEMCTL.format(units=self.units, done="/nonexistent/done").replace("echo", "exit 1; echo"))
        os.chmod(self.program, 0o777)
        self.assertIn("restarted", self.postinst("configure", "0.1.0"))
        self.assertTrue(daemon.running())


if __name__ == "__main__":
    main()
