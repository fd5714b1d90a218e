#include "downstream/unix/unix_clients.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../../../temporary_folder.hpp"
#include "../../event/simulated_clock.hpp"
#include "../../support/fake_client_events.hpp"
#include "base/files.hpp"

namespace bridge {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t limit = 1u << 20;  ///< --max-buffered

/// The clients of a socket, and a budget that the test uses up.
struct ClientsFixture : TemporaryFolder {
  ClientsFixture() {
    budget.on_relief([this] { flush.schedule(); });
    budget.on_used_up([this] { flush.schedule(); });
    budget.on_release([this] { flush.schedule(); });
    clients.start();
  }
  ~ClientsFixture() {
    others.set(0);
    clients.close_all();
    pass();  // destroys them
  }

  /// A client that has connected.
  Descriptor connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path("socket").c_str());
    Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    pass();
    return client;
  }
  void write(const Descriptor& client, const std::string& bytes) {
    REQUIRE(::write(client.get(), bytes.data(), bytes.size()) ==
            static_cast<ssize_t>(bytes.size()));
    pass();
  }
  void pass() {
    for (int round = 0; round < 10; ++round) loop.run_once(1ms);
  }
  void hold(std::size_t bytes) {
    const EventLoop::Turn turn(loop);
    others.set(bytes);
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  ClientIdSource ids;
  NotificationFeed feed{RingLimits{}, clock};
  ByteBudget budget{limit};
  ByteBudget::Share others{budget};
  FakeClientEvents events;
  Deferred flush{loop, [this] { clients.flush(); }, Deferred::Until::end_of_round};
  UnixClients clients{ConnectionContext{loop, ids, feed, budget, log, {}, flush, {}, {}}, events,
                      ListeningSocket::open({path("socket"), 0600, {}, {}}), PeerPolicy{}, 10};
  Deferred at_end_of_turn{loop, [this] { others.set(0); }};
};

}  // namespace

TEST_CASE("a client that was not read because there was no room is read when there is room again") {
  struct Row {
    const char* what;
    std::function<void(ClientsFixture&)> hold_back;  ///< with the client's first line, or before it
    std::size_t lines_read;                          ///< meanwhile
    std::function<void(ClientsFixture&)> make_room;
  };
  const std::vector<Row> rows{
      {"all buffers are full for a part of the round in which its line came",
       [](ClientsFixture& all) {
         all.events.line_came = [&all] {
           all.others.set(2 * limit);
           all.at_end_of_turn.schedule();
         };
       },
       2, [](ClientsFixture&) {}},
      {"all buffers are full for some rounds",
       [](ClientsFixture& all) { all.events.line_came = [&all] { all.others.set(2 * limit); }; }, 1,
       [](ClientsFixture& all) { all.hold(0); }},
      {"all buffers are full, and its own messages, which waited, were sent",
       [](ClientsFixture& all) { all.hold(2 * limit); }, 0,
       [](ClientsFixture& all) {
         all.events.waiting = 0;
         all.hold(all.others.held() - 1);
       }},
      {"a part of them is full, and its own messages, which waited, were sent",
       [](ClientsFixture& all) {
         all.hold(1);
         const std::string unread(limit / 4 * 3, 'x');
         all.events.channels.front()->send({Delivery::Kind::message, unread});
         all.flush.schedule();
         all.pass();
       },
       0,
       [](ClientsFixture& all) {
         all.events.waiting = 0;
         all.hold(all.others.held() - 1);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    ClientsFixture all;
    const Descriptor reads_nothing = all.connect();
    const Descriptor client = all.connect();
    all.events.waiting = limit - 1;
    row.hold_back(all);
    all.write(client, "one\n");
    all.write(client, "two\n");
    CHECK(all.events.lines.size() == row.lines_read);
    row.make_room(all);
    all.pass();
    CHECK(all.events.lines == std::vector<std::string>{"one", "two"});
  }
}

}  // namespace bridge
