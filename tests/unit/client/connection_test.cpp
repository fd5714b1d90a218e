#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "connection/connect.hpp"
#include "connection/conversation.hpp"
#include "connection/trusted_peer.hpp"
#include "verbs/relay.hpp"

using namespace client;

namespace {

using Event = Conversation::Event;

struct Pair {
  FileDescriptor ours;
  FileDescriptor daemons;
};

Pair make_pair() {
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0);
  return {FileDescriptor(both[0]), FileDescriptor(both[1])};
}

struct Pipe {
  Pipe() {
    int both[2];
    REQUIRE(::pipe(both) == 0);
    read = FileDescriptor(both[0]);
    write = FileDescriptor(both[1]);
  }

  FileDescriptor read, write;
};

struct Talk {
  Pair pair = make_pair();
  Conversation conversation{std::move(pair.ours), -1};
};

void write_text(const FileDescriptor& to, std::string_view text) {
  REQUIRE(::write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string read_all(const FileDescriptor& from) {
  std::string text;
  char bytes[65536];
  for (ssize_t count = 0; (count = ::read(from.get(), bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<std::size_t>(count));
  }
  return text;
}

Deadline soon() { return Deadline::after(Milliseconds(2000)); }

struct Granted : Talk {
  Granted() { ::setenv("MCP_NC_GRANT", "mcpg_x", 1); }
  ~Granted() { ::unsetenv("MCP_NC_GRANT"); }

  static constexpr const char* accepted = R"({"jsonrpc":"2.0","id":"mcp-nc grant","result":{}})";
};

}  // namespace

TEST_CASE("the socket is the option, else the environment, else the defaults") {
  using Paths = std::vector<std::string>;
  CHECK(std::get<Paths>(choose_sockets("/a", "/b")) == Paths{"/a"});
  CHECK(std::get<Paths>(choose_sockets("", "/b")) == Paths{"/b"});
  CHECK(std::get<Paths>(choose_sockets("", "")).size() == 2);
  CHECK(std::get<Paths>(choose_sockets("", nullptr))[0] == "/tmp/mcp.sock");
  CHECK(std::holds_alternative<Paths>(choose_sockets(std::string(107, 'a'), nullptr)));
  CHECK(std::holds_alternative<UsageError>(choose_sockets(std::string(108, 'a'), nullptr)));
  CHECK(std::holds_alternative<UsageError>(choose_sockets("", std::string(108, 'a').c_str())));
  CHECK(std::holds_alternative<UsageError>(choose_sockets("@", nullptr)));
}

TEST_CASE("a socket that is not there is waited for only as long as asked") {
  const auto at_once = connect_to_daemon({"no-such.sock"}, {}, Milliseconds(0), Deadline::never());
  REQUIRE(std::holds_alternative<ConnectFailure>(at_once));
  CHECK(std::get<ConnectFailure>(at_once).message.find("no such file") != std::string::npos);
  const auto limited = connect_to_daemon({"no-such.sock"}, {}, Milliseconds(5000),
                                         Deadline::after(Milliseconds(20)));
  REQUIRE(std::holds_alternative<ConnectFailure>(limited));
  CHECK(std::get<ConnectFailure>(limited).timed_out);
}

TEST_CASE("where no socket is found, all that were looked at are named") {
  const auto none =
      connect_to_daemon({"no-such.sock", "nor-this.sock"}, {}, Milliseconds(0), Deadline::never());
  const std::string& message = std::get<ConnectFailure>(none).message;
  CHECK(message.find("no-such.sock or nor-this.sock") != std::string::npos);
}

TEST_CASE("a socket of the package's folder is known by its unit") {
  CHECK(unit_of("/run/mcp-bridged/mcp.sock") == "mcp-bridged");
  CHECK(unit_of("/run/mcp-bridged/search.sock") == "'mcp-bridged*@search'");
  CHECK(unit_of("/tmp/mcp.sock") == "");
  CHECK(unit_of("/run/mcp-bridged/a/b.sock") == "");
  CHECK(unit_of("/run/mcp-bridged/.sock") == "");
  CHECK(describe_hang_up("/run/mcp-bridged/mcp.sock").find("journalctl -u mcp-bridged") !=
        std::string::npos);
  CHECK(describe_hang_up("/tmp/mcp.sock").find("journalctl") == std::string::npos);
}

TEST_CASE("accounts are found by their number") {
  const std::string_view table = "root:x:0:\nbroken\n:x:5:\nmcp-bridged:x:998:alice,bob\nlast:x:7";
  CHECK(find_account(table, 998) == "mcp-bridged");
  CHECK(find_account(table, 0) == "root");
  CHECK(find_account(table, 7) == "last");
  CHECK_FALSE(find_account(table, 5));
  CHECK_FALSE(find_account(table, 99));
  CHECK_FALSE(find_account("", 0));
}

TEST_CASE("the trusted peer is the option, else the environment, and a uid or any") {
  CHECK(std::get<TrustedPeer>(choose_trusted_peer("1000", "5")).user == 1000);
  CHECK(std::get<TrustedPeer>(choose_trusted_peer("", "5")).user == 5);
  CHECK(std::get<TrustedPeer>(choose_trusted_peer("", "any")).anybody);
  CHECK_FALSE(std::get<TrustedPeer>(choose_trusted_peer("", "")).user);
  CHECK_FALSE(std::get<TrustedPeer>(choose_trusted_peer("", nullptr)).anybody);
  for (const char* wrong : {"alice", "-1", "1000 ", "4294967295", "4294967296", "0x1"}) {
    CAPTURE(wrong);
    CHECK(std::holds_alternative<UsageError>(choose_trusted_peer(wrong, nullptr)));
    CHECK(std::holds_alternative<UsageError>(choose_trusted_peer("", wrong)));
  }
}

TEST_CASE(
    "where others may write only root, the user, the folder's owner or a named one is trusted") {
  const auto served_by = [](uid_t peer) { return PeerFacts{peer, 1000, 7, std::nullopt}; };
  CHECK(is_trusted(served_by(0), {}));
  CHECK(is_trusted(served_by(1000), {}));
  CHECK(is_trusted(served_by(7), {}));
  CHECK_FALSE(is_trusted(served_by(1001), {}));
  CHECK(is_trusted(served_by(1001), {1001, false}));
  CHECK_FALSE(is_trusted(served_by(1002), {1001, false}));
  CHECK(is_trusted(served_by(1002), {std::nullopt, true}));
}

TEST_CASE("users without a number of their own are not taken for one another") {
  CHECK_FALSE(is_trusted({65534, 1000, 65534, 65534}, {}));  // both the folder's owner and the peer
  CHECK_FALSE(is_trusted({65534, 65534, 0, 65534}, {}));
  CHECK(is_trusted({65534, 65534, 0, std::nullopt}, {}));  // user nobody, where all have numbers
  CHECK(is_trusted({65534, 1000, 0, 65534}, {65534, false}));
  CHECK(is_trusted({65534, 1000, 0, 65534}, {std::nullopt, true}));
}

TEST_CASE_FIXTURE(Talk, "lines come whole, however they are cut") {
  write_text(pair.daemons, "one\r\n\n\ntw");
  REQUIRE(conversation.next(soon()) == Event::line);
  CHECK(conversation.line() == "one");
  CHECK(conversation.next(Deadline::after(Milliseconds(10))) == Event::timed_out);
  write_text(pair.daemons, "o\nthree\nfour");
  REQUIRE(conversation.next(soon()) == Event::line);
  CHECK(conversation.line() == "two");
  REQUIRE(conversation.next(soon()) == Event::line);
  CHECK(conversation.line() == "three");
  pair.daemons = FileDescriptor();
  CHECK(conversation.next(soon()) == Event::closed);
}

TEST_CASE_FIXTURE(Talk, "lines that were sent before the daemon closed are still handed out") {
  write_text(pair.daemons, "one\ntwo\n");
  pair.daemons = FileDescriptor();
  conversation.queue("lost");
  CHECK(conversation.next(soon()) == Event::line);
  CHECK(conversation.next(soon()) == Event::line);
  CHECK(conversation.next(soon()) == Event::closed);
}

TEST_CASE_FIXTURE(Talk, "a line without end is refused before memory is") {
  std::thread daemon([&] {
    const std::string piece(1 << 20, 'x');
    while (::send(pair.daemons.get(), piece.data(), piece.size(), MSG_NOSIGNAL) > 0) continue;
  });
  CHECK(conversation.next(Deadline::after(Milliseconds(60000))) == Event::too_long);
  { Conversation gone(std::move(conversation)); }
  daemon.join();
}

TEST_CASE_FIXTURE(Talk, "queued lines leave together, and finishing is a half-close") {
  conversation.queue("a");
  conversation.queue("b");
  conversation.finish_sending();
  CHECK(read_all(pair.daemons) == "a\nb\n");
  write_text(pair.daemons, "answer\n");
  CHECK(conversation.next(soon()) == Event::line);
}

TEST_CASE_FIXTURE(Talk, "without a grant nothing is sent or awaited") {
  CHECK(!use_grant(conversation, Deadline::never()));
  pair.daemons = FileDescriptor();
  CHECK(std::move(conversation).release().second.empty());
}

TEST_CASE_FIXTURE(Granted, "what precedes the response to a grant is handed out after it") {
  write_text(pair.daemons, std::string("{\"method\":\"a\"}\n{\"id\":7,\"method\":\"b\"}\n") +
                               accepted + "\nafter\npart");
  const auto use = use_grant(conversation, soon());
  REQUIRE(use);
  CHECK(use->is_accepted);
  CHECK(conversation.next(soon()) == Event::line);
  CHECK(conversation.line() == R"({"method":"a"})");
  auto [stream, rest] = std::move(conversation).release();
  CHECK(rest == "{\"id\":7,\"method\":\"b\"}\nafter\npart");
  stream = DaemonStream();
  CHECK(read_all(pair.daemons).find("bridge/use") != std::string::npos);
}

TEST_CASE_FIXTURE(Granted, "a grant that is refused, or not answered, is not accepted") {
  SUBCASE("refused") {
    write_text(pair.daemons, R"({"id":"mcp-nc grant","error":{"code":1,"message":"no"}})"
                             "\n");
    const auto use = use_grant(conversation, soon());
    CHECK(use->end == Event::line);
    CHECK(!use->is_accepted);
  }
  SUBCASE("a refused line") {
    write_text(pair.daemons, R"({"id":null,"error":{"code":1,"message":"no"}})"
                             "\n");
    CHECK(!use_grant(conversation, soon())->is_accepted);
  }
  SUBCASE("closed") {
    write_text(pair.daemons, "before\n");
    pair.daemons = FileDescriptor();
    const auto use = use_grant(conversation, soon());
    CHECK(use->end == Event::closed);
    CHECK(!use->is_accepted);
    CHECK(conversation.next(soon()) == Event::line);
    CHECK(conversation.line() == "before");
  }
  SUBCASE("no answer in time") {
    CHECK(use_grant(conversation, Deadline::after(Milliseconds(10)))->end == Event::timed_out);
  }
  SUBCASE("too much before the answer") {
    std::thread daemon([&] {
      const std::string line = std::string((std::size_t{1} << 20) - 1, 'x') + "\n";
      for (std::size_t sent = 0; sent <= Conversation::longest_line; sent += line.size())
        write_text(pair.daemons, line);
    });
    CHECK(use_grant(conversation, Deadline::never())->end == Event::too_long);
    daemon.join();
  }
}

TEST_CASE("two pipes are a connection, and its half-close ends one of them") {
  Pipe up, down;
  Conversation conversation(DaemonStream(std::move(down.read), std::move(up.write)), -1);
  conversation.queue("a");
  conversation.finish_sending();
  CHECK(read_all(up.read) == "a\n");
  write_text(down.write, "answer\n");
  CHECK(conversation.next(soon()) == Event::line);
  CHECK(conversation.next(Deadline::after(Milliseconds(10))) == Event::timed_out);
  down.write = FileDescriptor();
  CHECK(conversation.next(soon()) == Event::closed);
}

TEST_CASE("an interrupt and a closed output end the wait") {
  Pair pair = make_pair();
  const Pipe alarm;
  Conversation conversation(std::move(pair.ours), alarm.read.get());
  write_text(alarm.write, "x");
  CHECK(conversation.next(soon()) == Event::interrupted);

  Talk watching;
  Pipe output;
  watching.conversation.watch_output(output.write.get());
  CHECK(watching.conversation.next(Deadline::after(Milliseconds(10))) == Event::timed_out);
  output.read = FileDescriptor();
  CHECK(watching.conversation.next(soon()) == Event::output_closed);
}

TEST_CASE("the relay carries every byte both ways and half-closes at the end of its input") {
  Pair pair = make_pair();
  Pipe input, output;
  const std::string sent(3 << 20, 's');
  const std::string answer(3 << 20, 'a');
  std::thread writer([&] {
    const FileDescriptor end = std::move(input.write);
    static_cast<void>(!::write(end.get(), sent.data(), sent.size()));
  });
  std::string got;
  std::thread daemon([&] {
    got = read_all(pair.daemons);  // up to the half-close
    static_cast<void>(!::write(pair.daemons.get(), answer.data(), answer.size()));
    pair.daemons = FileDescriptor();
  });
  std::string printed;
  std::thread reader([&] { printed = read_all(output.read); });
  CHECK(relay(input.read.get(), output.write.get(), std::move(pair.ours), std::nullopt) ==
        RelayEnd::finished);
  output.write = FileDescriptor();
  writer.join();
  daemon.join();
  reader.join();
  CHECK(got == sent);
  CHECK(printed == answer);
}

TEST_CASE(
    "an observer sees what the relay carries, and is woken at its time and for its descriptor") {
  struct Observer final : RelayObserver {
    void take_sent(std::string_view bytes) override { sent += bytes; }
    void take_received(std::string_view bytes) override { received += bytes; }
    int descriptor() const override { return watched.get(); }
    Deadline deadline() const override { return at; }
    void wake() override {
      ++wakes;
      if (watched) {
        watched = FileDescriptor();
        at = Deadline::after(Milliseconds(0));
      } else {
        at = Deadline::never();
        write_text(daemons, "answer");
        daemons = FileDescriptor();
      }
    }
    std::string sent, received;
    FileDescriptor watched;
    FileDescriptor daemons;
    Deadline at;
    int wakes = 0;
  } observer;
  Pair pair = make_pair();
  Pair beside = make_pair();
  Pipe input, output;
  write_text(input.write, "request");
  input.write = FileDescriptor();
  write_text(beside.daemons, "x");
  observer.watched = std::move(beside.ours);
  observer.daemons = std::move(pair.daemons);
  CHECK(relay(input.read.get(), output.write.get(), std::move(pair.ours), std::nullopt,
              &observer) == RelayEnd::finished);
  output.write = FileDescriptor();
  CHECK(observer.sent == "request\n");  // the end of what is sent is a line break
  CHECK(observer.wakes == 2);
  CHECK(observer.received == "answer");
  CHECK(read_all(output.read) == "answer");
}

TEST_CASE("the relay writes what was received before first, and the observer sees it") {
  struct Observer final : RelayObserver {
    void take_sent(std::string_view) override {}
    void take_received(std::string_view bytes) override { received += bytes; }
    int descriptor() const override { return -1; }
    Deadline deadline() const override { return {}; }
    void wake() override {}
    std::string received;
  } observer;
  Pair pair = make_pair();
  Pipe input, output;
  input.write = FileDescriptor();
  const std::string before(std::size_t{3} << 20, 'b');
  write_text(pair.daemons, "answer");
  pair.daemons = FileDescriptor();
  std::string printed;
  std::thread reader([&] { printed = read_all(output.read); });
  CHECK(relay(input.read.get(), output.write.get(), std::move(pair.ours), std::nullopt, &observer,
              before) == RelayEnd::finished);
  output.write = FileDescriptor();
  reader.join();
  CHECK(printed == before + "answer");
  CHECK(observer.received == printed);
}

TEST_CASE("the relay's other ends are told apart") {
  Pipe input, output;
  const auto end_of = [&](Pair pair, std::optional<Milliseconds> timeout = {}) {
    return relay(input.read.get(), output.write.get(), std::move(pair.ours), timeout);
  };
  Pair closed = make_pair();
  closed.daemons = FileDescriptor();
  CHECK(end_of(std::move(closed)) == RelayEnd::hung_up);
  input.write = FileDescriptor();
  CHECK(end_of(make_pair(), Milliseconds(20)) == RelayEnd::timed_out);
  output.read = FileDescriptor();
  CHECK(end_of(make_pair()) == RelayEnd::output_closed);
}
