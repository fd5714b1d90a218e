#include "auth/local_token.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "../event/loop_fixture.hpp"
#include "../support/running_group.hpp"
#include "process/command_run.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct CommandFixture : LoopFixture {
  /// Checks that no child is left behind, running or zombie.
  ~CommandFixture() {
    CHECK(comes_true([] {
      siginfo_t ended{};
      errno = 0;
      return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
    }));
  }

  TokenCommand source(const std::string& command, std::optional<std::chrono::milliseconds> ttl = {},
                      CommandLimits limits = {}) {
    return TokenCommand(loop, command, ttl, log, limits);
  }

  std::string failure_of(const std::string& command, CommandLimits limits = {}) {
    TokenCommand asked = source(command, {}, limits);
    const TokenAnswer answer = fetch(asked);
    CHECK(answer.token.empty());
    CHECK(!asked.current());
    REQUIRE(answer.failure);
    CHECK(answer.failure->kind == ErrorKind::auth);
    return answer.failure->message;
  }

  /// The number of descriptors that this process has open.
  static std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* const folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
  }
};

}  // namespace

TEST_CASE_FIXTURE(LoopFixture, "a token file's line end is not part of the token") {
  TokenFile source(loop, write("t", "secret-1\r\n"));
  CHECK(source.current() == "secret-1");
  CHECK(fetch(source).token == "secret-1");
}

TEST_CASE_FIXTURE(LoopFixture, "a replaced token file is noticed when its token is refused") {
  TokenFile source(loop, write("t", "old-token\n"));
  CHECK(!source.refused("old-token", {}));
  replace("t", "new-token\n");
  CHECK(source.refused("old-token", {}));
  CHECK(source.current() == "new-token");
  CHECK(!source.refused("new-token", {}));
  CHECK(source.secrets() == std::vector<std::string>{"old-token", "new-token"});
}

TEST_CASE_FIXTURE(LoopFixture,
                  "a file rewritten in place, with the same size, is noticed within two seconds") {
  TokenFile source(loop, write("t", "token-1"));
  write("t", "token-2");
  run_until([&] { return source.current() == "token-2"; });
}

TEST_CASE_FIXTURE(LoopFixture, "a reload reads the token file at once") {
  TokenFile source(loop, write("t", "token-1"));
  replace("t", "token-2");
  source.reload();
  CHECK(source.current() == "token-2");
}

TEST_CASE_FIXTURE(LoopFixture, "a token file that cannot be read is a failure that names it") {
  const auto failure_of = [&](const std::string& file) {
    TokenFile source(loop, path(file));
    CHECK(!source.current());
    const TokenAnswer answer = fetch(source);
    REQUIRE(answer.failure);
    CHECK(answer.failure->kind == ErrorKind::auth);
    CHECK(answer.failure->delivered == Delivered::no);
    CHECK(answer.failure->message.find(path(file)) != std::string::npos);
    CHECK(answer.failure->message.find("hush") == std::string::npos);
    return answer.failure->message;
  };
  CHECK(failure_of("nowhere").find("No such file") != std::string::npos);
  write("empty", "\n");
  CHECK(failure_of("empty").find("empty") != std::string::npos);
  write("long", "hush" + std::string(70000, 'x'));
  CHECK(failure_of("long").find("64 KiB") != std::string::npos);
  write("space", "hush hush");
  CHECK(failure_of("space").find("ASCII") != std::string::npos);
  write("lines", "hush\nhush\n");
  CHECK(failure_of("lines").find("ASCII") != std::string::npos);
  REQUIRE(mkfifo(path("pipe").c_str(), 0600) == 0);
  CHECK(failure_of("pipe").find("regular") != std::string::npos);
}

TEST_CASE_FIXTURE(LoopFixture, "a token file that comes to be is read") {
  TokenFile source(loop, path("t"));
  CHECK(fetch(source).failure);
  write("t", "late");
  CHECK(fetch(source).token == "late");
  CHECK(source.current() == "late");
}

TEST_CASE_FIXTURE(CommandFixture, "a command's token is kept until it is refused") {
  TokenCommand asked =
      source("echo x >> " + path("runs") + "; echo token-$(wc -l < " + path("runs") + ")");
  CHECK(!asked.current());
  CHECK(fetch(asked).token == "token-1");
  CHECK(asked.current() == "token-1");
  CHECK(asked.refused("token-1", {}));
  CHECK(!asked.current());
  CHECK(fetch(asked).token == "token-2");
  CHECK(asked.refused("token-1", {}));
  CHECK(asked.current() == "token-2");
  CHECK(read("runs") == "x\nx\n");
}

TEST_CASE_FIXTURE(CommandFixture, "a command's token lives as long as the ttl") {
  TokenCommand asked = source("echo token", 300ms);
  CHECK(fetch(asked).token == "token");
  CHECK(asked.current() == "token");
  run_until([&] { return !asked.current(); });
}

TEST_CASE_FIXTURE(CommandFixture, "what is wrong with a command is said, and nothing it printed") {
  CHECK(failure_of("echo hush-hush; exit 3") == "--token-command ended with exit code 3");
  CHECK(failure_of("kill -9 $$") == "--token-command was ended by signal 9");
  CHECK(failure_of("true") == "--token-command printed nothing");
  CHECK(contains(failure_of("echo two words"), "one line"));
  CHECK(contains(failure_of("printf 'a\\nb\\n'"), "one line"));
  CHECK(contains(failure_of("yes"), "more than 65536 bytes"));
  CHECK(contains(failure_of("no-such-program-here 2>/dev/null"), "exit code 127"));
}

TEST_CASE_FIXTURE(CommandFixture, "a command that does not end is killed with its whole group") {
  const std::string command = "echo $$ > " + path("group") + "; sleep 600 & sleep 600";
  CHECK(contains(failure_of(command, {.time = 300ms}), "did not end within 300 ms"));
  const pid_t group = std::stoi(read("group"));
  run_until([&] { return !group_runs(group); });
}

TEST_CASE_FIXTURE(CommandFixture, "a source that goes takes its command with it") {
  // The loop opens its own descriptors at the first use.
  CHECK(failure_of("false") == "--token-command ended with exit code 1");
  const std::size_t before = open_descriptors();
  std::optional<TokenCommand> asked(
      std::in_place, loop, "echo $$ > " + path("group") + "; exec sleep 600", std::nullopt, log);
  asked->fetch([](const TokenAnswer&) { FAIL("nobody is there to be answered"); });
  run_until([&] { return contains(read("group"), "\n"); });
  asked.reset();
  run_until([&] { return !group_runs(std::stoi(read("group"))); });
  run_until([&] { return open_descriptors() == before; });
}

TEST_CASE_FIXTURE(CommandFixture, "after a reload a failing command is run again at once") {
  TokenCommand asked = source("echo x >> " + path("runs") + "; exit 1");
  CHECK(fetch(asked).failure);
  asked.reload();
  CHECK(fetch(asked).failure);
  CHECK(read("runs") == "x\nx\n");
}

TEST_CASE_FIXTURE(CommandFixture, "a child of the command that stays does not hold up its token") {
  TokenCommand asked = source("sleep 600 & echo $! > " + path("stays") + "; echo token");
  CHECK(fetch(asked).token == "token");
  CHECK(kill(std::stoi(read("stays")), SIGKILL) == 0);
}

TEST_CASE_FIXTURE(CommandFixture, "a command gets no descriptor, signal mask or secret of ours") {
  setenv("MCP_SERVER_TOKEN", "hush", 1);
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);  // not close-on-exec
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto old = signal(SIGPIPE, SIG_IGN);
  TokenCommand asked =
      source("readlink /proc/self/fd/0 > " + path("out") + "; ls /proc/$$/fd | tr '\\n' ' ' >> " +
             path("out") + "; grep -E 'Sig(Blk|Ign)' /proc/self/status >> " + path("out") +
             "; env >> " + path("out") + "; echo token");
  CHECK(fetch(asked).token == "token");
  signal(SIGPIPE, old);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  unsetenv("MCP_SERVER_TOKEN");
  const std::string out = read("out");
  CHECK(contains(out, "/dev/null\n0 1 2 "));
  CHECK(!contains(out, std::to_string(pipe_ends[0]) + " " + std::to_string(pipe_ends[1])));
  CHECK(contains(out, "SigBlk:\t0000000000000000"));
  // 32 and 33 are the C library's own.
  CHECK((std::stoull(out.substr(out.find("SigIgn:") + 7), nullptr, 16) & 0x7fffffff) == 0);
  CHECK(!contains(out, "hush"));
  CHECK(contains(out, "PATH="));
}

TEST_CASE("what is withheld from a command's environment") {
  const char* const environment[] = {"MCP_SERVER_TOKEN=a",
                                     "MCP_SERVER_TOKENS=kept",
                                     "MCP_INPUT_KEY=b",
                                     "LISTEN_FDS=1",
                                     "LISTEN_PID=2",
                                     "NOTIFY_SOCKET=c",
                                     "WATCHDOG_USEC=3",
                                     "CREDENTIALS_DIRECTORY=d",
                                     "MCP_BRIDGE_HEADER=e",
                                     "HOME=/",
                                     "MCP_SERVER_URL=u",
                                     "MCP_NC_GRANT=g",
                                     nullptr};
  CHECK(child_environment(environment) ==
        std::vector<std::string>{"MCP_SERVER_TOKENS=kept", "HOME=/", "MCP_SERVER_URL=u"});
}

TEST_CASE("a secret is redacted, also where it begins like another") {
  CHECK(redacted("+ echo token-123 token", {"token", "token-123", "e"}) == "+ echo *** ***");
}

TEST_CASE_FIXTURE(CommandFixture, "another image of the program goes on with the token in hand") {
  const std::string command = "echo x >> " + path("runs") + "; echo token";
  TokenCommand earlier = source(command, 60s);
  CHECK_FALSE(earlier.save());
  CHECK(fetch(earlier).token == "token");
  const auto saved = earlier.save();
  REQUIRE(saved);
  TokenCommand later = source("false", 60s);
  later.restore(*saved);
  CHECK(later.current() == "token");
  CHECK(later.secrets() == std::vector<std::string>{"token"});
  TokenCommand too_late = source("false", 60s);
  too_late.restore({"token", {SteadyTime{}, SteadyTime{}}});
  CHECK_FALSE(too_late.current());
}
