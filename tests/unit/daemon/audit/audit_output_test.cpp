// The targets of audit lines: a file of this user alone, and the journal.
#include "audit/audit_output.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../../temporary_folder.hpp"
#include "base/start_error.hpp"

using namespace bridge;

namespace {

using Lines = std::vector<std::string>;

int code_of_start(const std::string& path) {
  try {
    const AuditFile file(path);
  } catch (const StartError& error) {
    CHECK(std::string(error.what()).starts_with("--audit: "));
    return error.code();
  }
  return 0;
}

/// The journal's end of its socket.
struct FakeJournal {
  explicit FakeJournal(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  ~FakeJournal() { close(descriptor); }
  FakeJournal(const FakeJournal&) = delete;
  FakeJournal& operator=(const FakeJournal&) = delete;

  std::string entry() const {
    std::array<char, 4096> text{};
    const ssize_t size = recv(descriptor, text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
  }
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
};

}  // namespace

TEST_CASE("an audit's file is made for this user alone, with its folder, and appended to") {
  const TemporaryFolder folder;
  const std::string path = folder.path("made/a.log");
  const mode_t before = umask(0);
  {
    AuditFile file(path);
    CHECK(file.write("one\n") == 4);
  }
  AuditFile again(path);
  CHECK(again.write("two\n") == 4);
  umask(before);
  CHECK(folder.read("made/a.log") == "one\ntwo\n");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  REQUIRE(stat(folder.path("made").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0700);
}

TEST_CASE("a folder or file that cannot be used ends the start with 73") {
  const TemporaryFolder folder;
  CHECK(code_of_start(folder.path("no/such/a.log")) == exit_code::cannot_bind);
  std::filesystem::create_directory(folder.path("open"));
  chmod(folder.path("open").c_str(), 0770);
  CHECK(code_of_start(folder.path("open/a.log")) == exit_code::cannot_bind);
  CHECK(code_of_start(folder.write("others", "", 0620)) == exit_code::cannot_bind);
  REQUIRE(symlink("a.log", folder.path("link").c_str()) == 0);
  CHECK(code_of_start(folder.path("link")) == exit_code::cannot_bind);
  REQUIRE(mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  CHECK(code_of_start(folder.path("fifo")) == exit_code::cannot_bind);
  CHECK(code_of_start(folder.path("a.log")) == 0);
}

TEST_CASE("what was cut off in the middle of a line stays, and the next line is one") {
  const TemporaryFolder folder;
  folder.write("a.log", "whole\ncut");
  AuditFile file(folder.path("a.log"));
  CHECK(file.write("next\n") == 5);
  CHECK(folder.read("a.log") == "whole\ncut\nnext\n");
}

TEST_CASE("opened again it is the same file, or the one that stands in its place") {
  const TemporaryFolder folder;
  AuditFile file(folder.path("a.log"));
  file.write("one\n");
  CHECK(file.reopen() == AuditOutput::Reopened::same);
  REQUIRE(rename(folder.path("a.log").c_str(), folder.path("a.log.1").c_str()) == 0);
  file.write("two\n");
  CHECK(file.reopen() == AuditOutput::Reopened::another);
  file.write("three\n");
  CHECK(folder.read("a.log.1") == "one\ntwo\n");
  CHECK(folder.read("a.log") == "three\n");
  // If the new file cannot be opened the old one stays in use.
  REQUIRE(unlink(folder.path("a.log").c_str()) == 0);
  std::filesystem::create_directory(folder.path("a.log"));
  CHECK(file.reopen() == AuditOutput::Reopened::failed);
  CHECK_FALSE(file.fault().empty());
  CHECK(file.write("four\n") == 5);
}

TEST_CASE("a file that may not grow takes a part, and says why") {
  const TemporaryFolder folder;
  AuditFile file(folder.path("a.log"));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{6, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(file.write("one\ntwo\n") == 6);
  CHECK_FALSE(file.fault().empty());
  CHECK(file.write("o\n") == 0);
  CHECK(file.fault().ends_with("File too large"));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(file.write("o\n") == 2);
  CHECK(file.fault().empty());
  CHECK(folder.read("a.log") == "one\ntwo\n");
}

TEST_CASE("lines with an id and no outcome are those that have not ended") {
  const TemporaryFolder folder;
  folder.write("a.log",
               "{\"id\":\"a-1\",\"method\":\"x\"}\n"
               "{\"id\":\"a-2\"}\n"
               "{\"id\":\"a-1\",\"outcome\":\"ok\"}\n"
               "no JSON\n"
               "{\"outcome\":\"ok\"}\n"
               "{\"id\":\"a-3\",\"method\":\"y\"}\n"
               "{\"id\":\"a-3\",\"method\":\"y\"}\n"
               "{\"id\":\"a-4\",\"meth");
  const AuditFile file(folder.path("a.log"));
  CHECK(file.unended() == Lines{"{\"id\":\"a-2\"}", "{\"id\":\"a-3\",\"method\":\"y\"}"});
}

TEST_CASE("no more is looked at than the last 64 MiB, from a line's beginning on") {
  const TemporaryFolder folder;
  {
    std::ofstream out(folder.path("a.log"));
    out << "{\"id\":\"too far back\"}\n";
    const std::string line =
        "{\"outcome\":\"ok\",\"x\":\"" + std::string((1u << 20) - 23, 'x') + "\"}\n";
    for (int i = 0; i < 64; ++i) out << line;
    out << "{\"id\":\"near\"}\n";
  }
  chmod(folder.path("a.log").c_str(), 0600);
  const AuditFile file(folder.path("a.log"));
  CHECK(file.unended() == Lines{"{\"id\":\"near\"}"});
}

TEST_CASE("a pipe takes whole lines until its reader is behind, and goes on when it has read") {
  int ends[2] = {-1, -1};
  REQUIRE(pipe(ends) == 0);
  AuditStream output(ends[1]);
  const std::string line = std::string(3000, 'x') + "\n";
  std::string lines;
  for (int count = 0; count < 100; ++count) lines += line;
  const std::size_t written = output.write(lines);
  CHECK(written > 0);
  CHECK(written < lines.size());
  CHECK(written % line.size() == 0);
  CHECK(output.is_busy());
  std::string got(written, '\0');
  CHECK(read(ends[0], got.data(), got.size()) == static_cast<ssize_t>(written));
  CHECK(got == lines.substr(0, written));
  CHECK(output.write(line) == line.size());
  CHECK_FALSE(output.is_busy());
  close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  CHECK(output.write(line) == 0);
  CHECK_FALSE(output.is_busy());
  CHECK_FALSE(output.fault().empty());
  close(ends[1]);
  CHECK_THROWS_AS(AuditStream{ends[1]}, StartError);
}

TEST_CASE("each line is an entry of the journal") {
  const TemporaryFolder folder;
  const FakeJournal journal(folder.path("socket"));
  AuditJournal output(AuditStart::must_open, folder.path("socket"));
  CHECK(output.write("{\"a\":1}\n{\"b\":2}\n") == 16);
  CHECK(journal.entry() == "PRIORITY=6\nSYSLOG_IDENTIFIER=mcp-bridged-audit\nMESSAGE={\"a\":1}\n");
  CHECK(journal.entry() == "PRIORITY=6\nSYSLOG_IDENTIFIER=mcp-bridged-audit\nMESSAGE={\"b\":2}\n");
  CHECK(journal.entry().empty());
  CHECK(output.reopen() == AuditOutput::Reopened::same);
}

TEST_CASE("a journal that is full takes the lines up to there, and one that has come back all") {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += "{\"a\":1}\n";
  {
    const FakeJournal journal(folder.path("socket"));
    AuditJournal output(AuditStart::must_open, folder.path("socket"));
    const std::size_t taken = output.write(lines);
    CHECK(taken > 0);
    CHECK(taken < lines.size());
    CHECK(taken % 8 == 0);
    CHECK_FALSE(output.fault().empty());
    CHECK_FALSE(journal.entry().empty());
  }
  unlink(folder.path("socket").c_str());
  CHECK_THROWS_AS(AuditJournal(AuditStart::must_open, folder.path("socket")), StartError);
  auto first = std::make_unique<FakeJournal>(folder.path("socket"));
  AuditJournal output(AuditStart::must_open, folder.path("socket"));
  first.reset();
  unlink(folder.path("socket").c_str());
  CHECK(output.write("{\"a\":1}\n") == 0);
  const FakeJournal next(folder.path("socket"));
  CHECK(output.write("{\"a\":1}\n") == 8);
  CHECK(next.entry().ends_with("MESSAGE={\"a\":1}\n"));
}
