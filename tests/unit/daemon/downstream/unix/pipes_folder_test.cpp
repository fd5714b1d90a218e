#include "downstream/unix/pipes_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "../../event/loop_fixture.hpp"
#include "../../event/simulated_clock.hpp"

namespace bridge {
namespace {

using namespace std::chrono_literals;

struct TakenClients final : PipeClients {
  bool has_room() const override { return true; }
  void pipes_opened(ClientEnds ends, uid_t, gid_t) override {
    taken.push_back({Descriptor(ends.in), Descriptor(ends.out)});
  }

  struct Ends {
    Descriptor in, out;
  };
  std::vector<Ends> taken;
};

/// A folder of pipes whose loop has the time of the machine until it is advanced.
struct FolderFixture : TemporaryFolder {
  FolderFixture() {
    clock.set(SteadyTime{} + std::chrono::system_clock::now().time_since_epoch());
    pipes.start();
  }

  std::string entry(const std::string& name) const { return path("pipes/" + name); }
  bool exists(const std::string& name) const { return ::access(entry(name).c_str(), F_OK) == 0; }
  void make(const std::string& name) const { REQUIRE(::mkfifo(entry(name).c_str(), 0600) == 0); }
  void look() {
    for (int turn = 0; turn < 10; ++turn) loop.run_once(10ms);
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  TakenClients clients;
  PipesFolder pipes{loop, log, clients, {true, path("pipes"), 0700, std::nullopt}, std::nullopt};
};

const std::string name = "0123456789abcdef";

}  // namespace

TEST_CASE_FIXTURE(FolderFixture, "what a client has begun and not finished is removed after 10 s") {
  make("." + name + ".in");
  make(name + ".out");
  look();
  let_pass(clock, loop, 9s);
  look();
  CHECK(exists("." + name + ".in"));
  CHECK(exists(name + ".out"));
  let_pass(clock, loop, 12s);
  look();
  CHECK_FALSE(exists("." + name + ".in"));
  CHECK_FALSE(exists(name + ".out"));
  CHECK(exists(".lock"));
  CHECK(clients.taken.empty());
}

TEST_CASE_FIXTURE(FolderFixture, "of two clients with one name the second is served") {
  std::vector<Descriptor> ends;
  for (int client = 0; client < 2; ++client) {
    for (const std::string end : {".out", ".in"}) {
      make("." + name + end);
      ends.emplace_back(::open(entry("." + name + end).c_str(),
                               (end == ".in" ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC));
      REQUIRE(::rename(entry("." + name + end).c_str(), entry(name + end).c_str()) == 0);
    }
  }
  look();
  REQUIRE(clients.taken.size() == 1);
  CHECK(::write(clients.taken[0].out.get(), "x", 1) == 1);
  char byte = 0;
  CHECK(::read(ends[2].get(), &byte, 1) == 1);
  CHECK_FALSE(exists(name + ".in"));
}

}  // namespace bridge
