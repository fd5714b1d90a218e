"""install.sh of a release, on a folder of stand-ins: whose files it touches, and what is left when it fails."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness import Case, main  # noqa: E402
from harness.binaries import ROOT  # noqa: E402

PLACE = "/opt/mcp-session-bridge"
PADDED = PLACE + "/" * (200 - len(PLACE))
PROGRAM = "#!/bin/sh\n: {path}\necho {version}\n"
LOADER = '#!/bin/sh\nshift 2\nexec "$@"\n'
# What has the file of the first argument in its memory, and the name of the second, until its stdin ends.
MAPS = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
with open("/proc/self/comm", "w") as file:
    file.write(sys.argv[2])
print("mapped", flush=True)
sys.stdin.read()
"""
LINKED = ("bin/mcp-bridged", "bin/mcp-nc", "share/bash-completion/completions/mcp-bridged", "share/bash-completion/completions/mcp-nc",
          "share/zsh/site-functions/_mcp-bridged", "share/zsh/site-functions/_mcp-nc", "share/fish/vendor_completions.d/mcp-bridged.fish",
          "share/fish/vendor_completions.d/mcp-nc.fish", "share/man/man8/mcp-bridged.8", "share/man/man1/mcp-nc.1")


class Install(Case):
    def setUp(self):
        super().setUp()
        self.place, self.prefix = self.path("folder"), self.path("prefix")

    def path(self, name):
        return pathlib.Path(self.folder, name)

    def release(self, name, version="1", more=(), starts=True):
        """An unpacked release, as far as install.sh looks into it."""
        top = self.path(name)
        program = PROGRAM.format(path=PADDED, version=version) if starts else "#!/bin/sh\nexit 127\n# " + PADDED
        contents = {**{file: "" for file in LINKED}, "bin/mcp-bridged": program, "lib/ld.so": LOADER,
                    "lib/places": f"{program.index(PADDED)} {len(PADDED)}\n", **{file: "" for file in more}}
        for file, text in contents.items():
            (top / file).parent.mkdir(parents=True, exist_ok=True)
            (top / file).write_text(text, encoding="utf-8")
            (top / file).chmod(0o755 if file.startswith(("bin/", "lib/ld")) else 0o644)
        shutil.copy(ROOT / "docker/install.sh", top / "install.sh")
        names = [*contents, "install.sh", "lib/files", "lib/installed"]
        (top / "lib/files").write_text("".join(f"./{file}\n" for file in sorted(names)), encoding="utf-8")
        return top

    def run_it(self, top, *words, code=0, umask=0o022, before="", left=0):
        """`before` is a folder whose programs are found first."""
        done = subprocess.run(["sh", top / "install.sh", *words], capture_output=True, text=True, check=False, umask=umask,
                              env={"PATH": f"{before}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.folder})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(sum(name.startswith("folder.") for name in os.listdir(self.folder)), left, "what is left beside the folder")
        return done.stdout + done.stderr

    def program(self, name, text):
        """The folder of a program that is found before the machine's."""
        folder = self.path("programs")
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
        return folder

    def install(self, top, code=0, **how):
        return self.run_it(top, "--folder", self.place, "--prefix", self.prefix, code=code, **how)

    def version(self):
        return subprocess.run([self.prefix / "bin/mcp-bridged"], capture_output=True, text=True, check=True).stdout.strip()

    def files(self, top):
        return {str(path.relative_to(top)) for path in top.rglob("*") if not path.is_dir() or path.is_symlink()}

    def test_installed_and_removed_it_leaves_nothing(self):
        self.install(self.release("one"))
        self.assertEqual(self.files(self.prefix), set(LINKED))
        self.assertEqual((self.version(), str(self.place) in (self.place / "bin/mcp-bridged").read_text(encoding="utf-8")), ("1", True))
        self.assertIn("removed:", self.run_it(self.place, "--remove"))
        self.assertEqual((self.place.exists(), self.files(self.prefix)), (False, set()))

    def test_an_upgrade_removes_what_the_new_version_does_not_have(self):
        self.install(self.release("one", more=["share/of-one"]))
        self.install(self.release("two", "2", more=["share/of-two"]))
        self.assertEqual((self.version(), (self.place / "share/of-one").exists(), (self.place / "share/of-two").exists()), ("2", False, True))

    def test_one_that_does_not_start_changes_nothing(self):
        self.install(self.release("one"))
        self.assertIn("does not start", self.install(self.release("two", "2", starts=False), code=1))
        self.assertEqual((self.version(), self.files(self.prefix)), ("1", set(LINKED)))
        self.assertIn("does not start", self.run_it(self.path("two"), "--folder", self.path("new"), "--prefix", self.prefix, code=1))
        self.assertFalse(self.path("new").exists())

    def test_when_the_older_version_cannot_be_removed_the_new_one_is_there(self):
        self.install(self.release("one"))
        # As on a file system where a running program's file cannot be removed.
        failing = self.program("rm", 'case "$*" in -rf*folder.*) exit 1 ;; esac; exec /bin/rm "$@"')
        said = self.install(self.release("two", "2"), before=failing, left=1)
        self.assertIn("it can be removed", said)
        self.assertEqual((self.version(), self.files(self.prefix)), ("2", set(LINKED)))

    def test_one_link_that_cannot_be_made_keeps_no_other_from_it(self):
        (self.prefix / "share").mkdir(parents=True)
        (self.prefix / "share/zsh").write_text("mine", encoding="utf-8")
        for version in "12":
            said = self.install(self.release(version, version), code=1)
            self.assertIn("these could not be made", said)
            self.assertEqual((self.version(), self.files(self.prefix) - set(LINKED)), (version, {"share/zsh"}))
            self.assertEqual({name for name in set(LINKED) - self.files(self.prefix)}, {name for name in LINKED if "/zsh/" in name})

    def test_daemons_of_the_older_version_are_named_but_not_who_watches_for_them(self):
        self.install(self.release("one"))
        # What it goes by: a library of the folder in its memory, and its name.
        for name, said in (("mcp-bridged", True), ("mcp-watcher", False)):
            with self.subTest(name):
                library = self.place / "lib/library"
                shutil.copy("/bin/true", library)
                with (self.place / "lib/files").open("a", encoding="utf-8") as files:
                    files.write("./lib/library\n")
                with subprocess.Popen([sys.executable, "-c", MAPS, library, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                    process.stdout.readline()
                    self.assertEqual(f"kill -USR2 {process.pid}\n" in self.install(self.release(name, "2")), said)
                    process.communicate()

    def test_others_can_read_and_execute_it_whatever_the_umask_is(self):
        top = self.release("one")
        for path in (top, *top.rglob("*")):
            path.chmod(path.stat().st_mode & 0o700)
        for umask in (0o077, 0o022):
            self.install(top, umask=umask)
            modes = {oct(path.stat().st_mode & 0o777) for folder in (self.place, self.prefix) for path in (folder, *folder.rglob("*"))}
            self.assertEqual(modes, {"0o755", "0o644"})

    def test_what_others_have_put_there_is_left_alone(self):
        for where, why in (("folder/mine.json", "not of this program"), ("folder/share/mine.json", "not of this program")):
            with self.subTest(where):
                self.install(self.release("one"))
                self.path(where).write_text("mine", encoding="utf-8")
                self.assertIn(why, self.install(self.release("two", "2"), code=1))
                self.assertEqual((self.version(), self.path(where).read_text(encoding="utf-8")), ("1", "mine"))
                self.assertIn("mine.json", self.run_it(self.place, "--remove"))
                self.assertEqual(self.files(self.place), {where.split("/", 1)[1]})
                shutil.rmtree(self.place)
        self.place.mkdir()
        (self.place / "mine.json").write_text("mine", encoding="utf-8")
        self.assertIn("something else in it", self.install(self.release("one"), code=1))
        (self.prefix / "bin/mcp-nc").write_text("mine", encoding="utf-8")
        (self.place / "mine.json").unlink()
        self.assertIn("left alone, not from here", self.install(self.release("one")))
        self.run_it(self.place, "--remove")
        self.assertEqual(self.files(self.prefix), {"bin/mcp-nc"})

    def test_neighbours_whose_names_begin_like_its_are_left_alone(self):
        for name in ("folder-old", "folder_new"):
            self.path(name).mkdir()
            (self.path(name) / "mine").write_text("mine", encoding="utf-8")
        self.install(self.release("one"))
        self.install(self.release("two", "2"))
        self.assertEqual([self.files(self.path(name)) for name in ("folder-old", "folder_new")], [{"mine"}, {"mine"}])

    def test_what_was_not_in_the_release_is_not_installed(self):
        top = self.release("one")
        (top / "mine.json").write_text("mine", encoding="utf-8")
        self.install(top)
        self.install(self.release("two", "2"))
        self.assertEqual((top / "mine.json").read_text(encoding="utf-8"), "mine")

    def test_a_copy_of_what_was_installed_removes_nothing_of_it(self):
        self.install(self.release("one"))
        shutil.copytree(self.place, self.path("copy"))
        self.run_it(self.path("copy"), "--remove")
        self.assertEqual((self.version(), self.path("copy").exists()), ("1", False))

    def test_two_folders_share_a_prefix_and_the_first_keeps_it(self):
        self.install(self.release("one"))
        two = self.path("other")
        said = self.run_it(self.release("two", "2"), "--folder", two, "--prefix", self.prefix)
        self.assertEqual((said.count("left alone"), self.version()), (len(LINKED), "1"))
        self.run_it(two, "--remove")
        self.assertEqual((self.version(), two.exists()), ("1", False))

    def test_where_it_was_unpacked_it_is_installed_in_place(self):
        top = self.release("folder")
        self.run_it(top, "--folder", top, "--prefix", self.prefix)
        self.assertEqual(self.version(), "1")
        self.run_it(top, "--folder", top, "--prefix", self.path("elsewhere"))
        self.assertEqual((self.files(self.prefix), self.files(self.path("elsewhere"))), (set(), set(LINKED)))

    def test_what_is_refused_leaves_no_folder(self):
        top = self.release("one")
        for folder, prefix in (("a b", "c"), ("x" * 200, "c")):
            said = self.run_it(top, "--folder", self.path(folder), "--prefix", self.path(prefix), code=1)
            self.assertIn("--folder names another", said)
            self.assertEqual((self.path(folder).exists(), self.path(prefix).exists()), (False, False))

    def test_wrong_words(self):
        top = self.release("one")
        self.install(top)
        there = ("--prefix", self.prefix, "--folder")
        for words, code, said in ((("--folder",), 1, "needs a path"), (("--what",), 64, "--prefix"), ((*there, top / "share"), 1, "inside"),
                                  ((*there, self.path("a b")), 1, "letters"), ((*there, self.path("x" * 200)), 1, "characters at most"),
                                  (("--remove", "--folder", self.place), 1, "takes no other option"), (("--remove",), 1, "was not installed")):
            with self.subTest(words):
                self.assertIn(said, self.run_it(top, *words, code=code))
        self.assertEqual(self.version(), "1")
        # Where the installed one is, is told by the program that is found first.
        self.assertIn(f"remove what was with: sh {self.place}/install.sh --remove", self.run_it(top, "--remove", before=self.prefix / "bin", code=1))


if __name__ == "__main__":
    main()
