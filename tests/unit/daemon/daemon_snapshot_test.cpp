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

DaemonSnapshot a_state() {
  DaemonSnapshot state;
  state.process.proof = "state 1";
  state.process.program = "/bin/mcp-bridged";
  state.process.arguments = {"mcp-bridged", "--url", "http://h/"};
  state.process.environment = {"A=1", "B=two"};
  state.process.given = {{"--url", "http://h/"}};
  state.process.instance = "0123abcd";
  state.process.last_client = ClientId{12};
  state.process.in_session = true;
  for (const std::uint64_t number : {3u, 5u}) {
    RingEntry entry;
    entry.sequence = static_cast<Sequence>(number);
    entry.line = "{}\n";
    entry.taken_by = number == 3 ? 1 : 0;
    state.ring.entries.push_back(entry);
  }
  state.ring.counts = {5, 1, 2, 0};
  state.session.number = 2;
  state.session.server.emplace(R"({"protocolVersion":"2025-06-18"})");
  state.session.settings.subscriptions = {"file:///a", "file:///b"};
  state.session.ids = UpstreamIdSource(static_cast<UpstreamId>(77));
  state.session_id = "s-1";
  state.last_event_id = "e-9";
  state.socket = {"/s", 5, 6, false, true, 1, 2};
  Connection::Saved connection;
  connection.descriptor = 9;
  connection.identity.id = ClientId{12};
  connection.identity.kind = "unix";
  connection.identity.pid = 41;
  connection.phase = Connection::Phase::half_closed;
  connection.feed = RingFeed::reads;
  connection.input = {"{\"half", false};
  connection.outbox.queued = {{"line\n", Sequence{4}, Sequence{0}}};
  connection.outbox.partial = "partly\n";
  connection.outbox.partial_written = 3;
  connection.outbox.written_entries = {Sequence{3}};
  state.connections = {connection};
  SavedClient client;
  client.id = ClientId{12};
  client.facts.declared.name_methods(R"({"methods":["sampling/createMessage"]})");
  client.facts.peeks = true;
  client.waiting = {"{}", "[]"};
  state.router.clients = {client};
  SavedMessage message;
  message.message.id = UpstreamId{70};
  message.message.body = R"({"id":70})";
  message.message.headers = {"Mcp-Method: tools/call"};
  message.message.notes.repeats = 2;
  message.written = true;
  message.begin = 9;
  message.event_id = "e-1";
  message.seen = {"e-0", "e-1"};
  message.excused = SteadyTime::duration(5);
  state.messages = {message};
  Call request;
  request.client = ClientId{12};
  request.client_request_id = "\"mine\"";
  request.modern = std::make_unique<ModernRequest>();
  request.modern->declared.name_methods(R"({"methods":["roots/list"]})");
  request.sent = steady_time_of(1234);
  state.router.calls.emplace_back(UpstreamId{70}, std::move(request));
  Question question;
  question.id = 3;
  question.line = R"({"id":3})";
  question.declined = {ClientId{4}, ClientId{5}};
  question.shown = true;
  state.router.questions = {question};
  state.streams = {true, false, true, UpstreamId{60}, {{UpstreamId{61}, "\"c\""}, {}}};
  Listens::Listen listen;
  listen.client = ClientId{12};
  listen.raw_id = "\"l\"";
  listen.filter.tools_list_changed = true;
  listen.filter.resources = {"file:///a"};
  listen.is_acknowledged = true;
  listen.missed.tools_list_changed = true;
  state.router.listens.listens = {listen};
  state.router.listens.subscribed["file:///a"].until = steady_time_of(9);
  Call suspended;
  suspended.suspension = std::make_unique<Suspension>();
  suspended.suspension->state = "bridge-1";
  suspended.suspension->messages = {"{}"};
  suspended.suspension->saved_end = "{}";
  state.router.calls.emplace_back(UpstreamId{71}, std::move(suspended));
  Question in_result;
  in_result.is_of_session = true;
  in_result.answerer = Question::Answerer::modern_call;
  state.router.questions.push_back(in_result);
  Call round;
  round.rounds = std::make_unique<InputRound>();
  round.rounds->waits = InputRound::Waits::for_pause;
  round.rounds->answers = {{"\"a\"", "{}"}};
  round.rounds->due = steady_time_of(9);
  state.router.calls.emplace_back(UpstreamId{72}, std::move(round));
  state.face.last_post = 4;
  state.face.fan_out.store.events = {{EventId{1, 2}, "m", Sequence{}, "3"}};
  DownstreamSession::Saved session;
  session.name = "name";
  session.client = ClientId{13};
  session.stream.queued = {{"m", Sequence{1}, "2", EventId{0, 3}}};
  session.later.insert("7");
  Post::Saved post;
  post.number = 4;
  post.asked.ids.insert("8");
  post.asked.ids.insert("\"9\"");
  post.asked.form = AnswerForm::either;
  post.asked.headers = {{"Vary", "Origin"}};
  post.connection.emplace();
  post.connection->descriptor = 30;
  post.connection->early = "GET ";
  session.posts = {post};
  state.face.sessions = {session};
  state.deliveries = {{JobNumber{3}, ClientId{13}, "7", ""}};
  state.token = SavedToken{"secret", {steady_time_of(5), steady_time_of(6)}, "http://h/metadata"};
  SavedRun run;
  run.watcher_version = watcher_version;
  run.watcher = 20;
  run.is_on = true;
  run.input = 21;
  run.output = 22;
  run.frames = {{8, "{}"}};
  run.progress = 1;
  state.run = run;
  return state;
}

bool is_refused(const std::string& bytes) {
  return std::holds_alternative<std::string>(read_snapshot(bytes));
}

}  // namespace

TEST_CASE("what was handed over is what is gone on with") {
  auto read = read_snapshot(write_snapshot(a_state()));
  REQUIRE(std::holds_alternative<DaemonSnapshot>(read));
  DaemonSnapshot& state = std::get<DaemonSnapshot>(read);
  CHECK(state.process.proof == "state 1");
  CHECK(state.process.environment == std::vector<std::string>{"A=1", "B=two"});
  CHECK(state.process.given.at("--url") == "http://h/");
  CHECK(state.process.in_session);
  REQUIRE(state.ring.entries.size() == 2);
  CHECK(state.ring.entries[0].taken());
  CHECK_FALSE(state.ring.entries[1].taken());
  CHECK(value_of(state.ring.entries[1].sequence) == 5);
  CHECK(state.ring.counts == RingCounts{5, 1, 2, 0});
  CHECK(state.session.server->protocol_version() == "2025-06-18");
  CHECK(state.session.settings.subscriptions.size() == 2);
  CHECK(value_of(state.session.ids.last()) == 77);
  CHECK(state.session_id == "s-1");
  CHECK(state.last_event_id == "e-9");
  CHECK(state.socket.owns_path);
  REQUIRE(state.connections.size() == 1);
  CHECK(state.connections[0].identity.id == ClientId{12});
  CHECK(state.connections[0].identity.user() == User{false, 0});
  CHECK(state.connections[0].is_known());
  CHECK(state.connections[0].feed == RingFeed::reads);
  CHECK(state.connections[0].input == LineSplitter::Rest{"{\"half", false});
  CHECK(state.connections[0].outbox.queued.at(0).behind == Sequence{4});
  CHECK(state.connections[0].outbox.partial_written == 3);
  REQUIRE(state.router.clients.size() == 1);
  CHECK(
      state.router.clients[0].facts.declared.covers("sampling/createMessage", AskedFor::sampling));
  CHECK(state.router.clients[0].waiting == std::vector<std::string>{"{}", "[]"});
  REQUIRE(state.messages.size() == 1);
  CHECK(state.messages[0].message.body == R"({"id":70})");
  CHECK(state.messages[0].message.headers.size() == 1);
  CHECK(state.messages[0].message.notes.repeats == 2);
  CHECK(state.messages[0].written);
  CHECK(state.messages[0].seen == std::vector<std::string>{"e-0", "e-1"});
  CHECK(state.messages[0].excused == SteadyTime::duration(5));
  REQUIRE(state.router.calls.size() == 3);
  CHECK(state.router.calls[0].second.client_request_id == "\"mine\"");
  CHECK(state.router.calls[0].second.modern->declared.covers("roots/list", AskedFor::roots));
  CHECK(state.router.calls[0].second.sent == steady_time_of(1234));
  REQUIRE(state.router.questions.size() == 2);
  CHECK(state.router.questions[0].declined == std::vector<ClientId>{ClientId{4}, ClientId{5}});
  CHECK(state.router.questions[0].shown);
  CHECK(state.streams.legacy_is_there);
  CHECK_FALSE(state.streams.modern_is_there);
  CHECK(state.streams.had_listen);
  CHECK(state.streams.listen == UpstreamId{60});
  REQUIRE(state.streams.events.size() == 2);
  CHECK(state.streams.events[0].cursor == "\"c\"");
  REQUIRE(state.router.listens.listens.size() == 1);
  CHECK(state.router.listens.listens[0].filter.tools_list_changed);
  CHECK(state.router.listens.listens[0].filter.resources.contains("file:///a"));
  CHECK(state.router.listens.listens[0].missed.tools_list_changed);
  CHECK(state.router.listens.listens[0].is_acknowledged);
  CHECK(state.router.listens.subscribed.at("file:///a").until == steady_time_of(9));
  const Call& suspended = state.router.calls[1].second;
  REQUIRE(suspended.suspension);
  CHECK(suspended.suspension->state == "bridge-1");
  CHECK(suspended.suspension->messages == std::vector<std::string>{"{}"});
  CHECK(suspended.suspension->saved_end == "{}");
  CHECK(state.router.questions[1].is_of_session);
  CHECK(state.router.questions[1].answerer == Question::Answerer::modern_call);
  const Call& round = state.router.calls[2].second;
  REQUIRE(round.rounds);
  CHECK(round.rounds->answers.at(0).result == "{}");
  CHECK(round.rounds->waits == InputRound::Waits::for_pause);
  CHECK(round.rounds->due == steady_time_of(9));
  CHECK(state.face.last_post == 4);
  CHECK(state.face.fan_out.store.events.at(0).answers == "3");
  REQUIRE(state.face.sessions.size() == 1);
  DownstreamSession::Saved& session = state.face.sessions[0];
  CHECK(session.stream.queued.at(0).sent_as == EventId{0, 3});
  CHECK(session.later.contains("7"));
  Post::Saved& post = session.posts.at(0);
  CHECK(post.asked.ids.contains("8"));
  CHECK(post.asked.ids.contains("\"9\""));
  CHECK(post.asked.form == AnswerForm::either);
  CHECK(post.asked.headers.size() == 1);
  REQUIRE(post.connection);
  CHECK(post.connection->early == "GET ");
  CHECK(state.deliveries.at(0).request_id == "7");
  REQUIRE(state.token);
  CHECK(state.token->token == "secret");
  CHECK(state.token->life.expires == steady_time_of(6));
  CHECK(state.token->announced == "http://h/metadata");
  REQUIRE(state.run);
  CHECK(state.run->frames.at(0).body == "{}");
  CHECK(state.descriptors() == std::vector<int>{5, 6, 30, 9, 20, 21, 22});
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

TEST_CASE("a watcher whose messages are not known is refused") {
  DaemonSnapshot state = a_state();
  ++state.run->watcher_version;
  CHECK(is_refused(write_snapshot(state)));
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
