// The snapshot that one process hands over to the next in an upgrade, by value: it is read as it
// was written, or refused as a whole.
#include "daemon_snapshot.hpp"

#include <doctest/doctest.h>

#include "process/process_start.hpp"
#include "state/memory_file.hpp"
#include "state/upgrade.hpp"
#include "upstream/stdio/watcher.hpp"

using namespace bridge;

namespace {

/// With all its descriptors.
DaemonSnapshot a_state() {
  DaemonSnapshot state;
  state.process.environment = {"A=1", "B=two"};
  state.process.in_session = true;
  state.process.frontend_listener = 7;
  state.session.server.emplace(R"({"protocolVersion":"2025-06-18"})");
  state.session.ids = UpstreamIdSource(static_cast<UpstreamId>(77));
  state.socket = {"/s", 5, 6, false, true, 1, 2};
  Connection::Saved connection;
  connection.descriptor = 9;
  connection.input = {"{\"half", false};
  state.connections = {connection};
  SavedCall call;
  call.client = ClientId{12};
  call.to_legacy = std::make_unique<ModernToLegacy>();
  state.router.calls.emplace_back(UpstreamId{70}, std::move(call));
  SessionPost::Saved post;
  post.asked.ids.insert("8");
  post.connection.emplace();
  post.connection->descriptor = 30;
  DownstreamSession::Saved session;
  session.posts = {post};
  state.frontend.sessions = {session};
  state.token = SavedToken{"secret", {steady_time_of(5), steady_time_of(6)}, "http://h/metadata"};
  state.run.emplace();
  state.run->watcher_version = watcher_version;
  state.run->watcher = 20;
  state.run->is_on = true;
  state.run->input = 21;
  state.run->output = 22;
  return state;
}

bool is_refused(const std::string& bytes) {
  return std::holds_alternative<std::string>(read_snapshot(bytes));
}

}  // namespace

TEST_CASE("what was handed over is what is gone on with") {
  // That no member is missing the archive holds: each_field() would not compile.
  const std::string bytes = write_snapshot(a_state());
  const auto read = read_snapshot(bytes);
  const DaemonSnapshot& state = std::get<DaemonSnapshot>(read);
  CHECK(state.process.environment == std::vector<std::string>{"A=1", "B=two"});
  CHECK(state.router.calls.at(0).second.to_legacy != nullptr);
  CHECK(state.token->life.expires == steady_time_of(6));
  CHECK(state.descriptors() == std::vector<int>{5, 6, 7, 30, 9, 20, 21, 22});
  CHECK(write_snapshot(state) == bytes);
}

TEST_CASE("a state that is not whole, or was changed, is refused") {
  const std::string bytes = write_snapshot(a_state());
  for (std::size_t size = 0; size < bytes.size(); size += 8)
    CHECK(is_refused(bytes.substr(0, size)));
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    // Only the zeros that pad a record may differ.
    if (!is_refused(other)) CHECK(bytes[at] == '\0');
  }
}

TEST_CASE(
    "a watcher whose messages are not known, and a session without its handshake, are refused") {
  DaemonSnapshot state = a_state();
  ++state.run->watcher_version;
  CHECK(is_refused(write_snapshot(state)));
  DaemonSnapshot without = a_state();
  without.session.server.reset();
  CHECK(is_refused(write_snapshot(without)));
}

TEST_CASE("a memory file cannot be changed, and nothing else is taken for one") {
  const Descriptor file = make_memory_file("state");
  REQUIRE(file);
  CHECK(read_memory_file(file.get()) == "state");
  CHECK(write(file.get(), "x", 1) < 0);
  CHECK_FALSE(read_memory_file(0));
  CHECK_FALSE(read_memory_file(-1));
}

TEST_CASE("what is executed sees of the environment only what is read before it runs") {
  CHECK(environment_of_loader({"MCP_SERVER_TOKEN=t", "LD_LIBRARY_PATH=/l", "PATH=/bin",
                               "ASAN_OPTIONS=x", "LISTEN_FDS=1"}) ==
        std::vector<std::string>{"LD_LIBRARY_PATH=/l", "ASAN_OPTIONS=x"});
}

TEST_CASE("arguments are shown without their secrets") {
  CHECK(
      redacted_arguments({"p", "--header", "A: b", "--header=C:d", "--", "--header", "E: f"}) ==
      std::vector<std::string>{"p", "--header", "A:**", "--header=C:*", "--", "--header", "E: f"});
}

TEST_CASE("a program is found by the name that it was started by") {
  CHECK(program_as_started("/no/such/program") == program_as_started(""));
  CHECK(std::holds_alternative<std::string>(open_program("/no/such/program")));
  CHECK(std::holds_alternative<std::string>(open_program("/tmp")));
}
