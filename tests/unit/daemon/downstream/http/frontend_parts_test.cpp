#include <doctest/doctest.h>

#include <set>

#include "../../options_helpers.hpp"
#include "downstream/http/access_check.hpp"
#include "downstream/http/downstream_session.hpp"
#include "downstream/http/post.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/session_stream.hpp"
#include "http/response.hpp"
#include "http/sse_parser.hpp"
#include "json/arriving_text.hpp"

namespace bridge {
namespace {

TEST_CASE("events are written with what they have") {
  CHECK(sse_event("0-1", {}, "{}") == "id: 0-1\ndata: {}\n\n");
  CHECK(sse_event({}, "endpoint", "/message") == "event: endpoint\ndata: /message\n\n");
  CHECK(sse_retry("0-1", 500) == "id: 0-1\nretry: 500\n\n");
  CHECK(sse_priming("0-1", 500) == "id: 0-1\nretry: 500\ndata:\n\n");
  CHECK(sse_comment("x") == ": x\n\n");
}

TEST_CASE("event ids are read back, foreign ones are not") {
  CHECK(parse_event_id(to_text(EventId{7, 42})) == EventId{7, 42});
  for (const char* text : {"", "7", "7-", "-7", "7-4x", "a-b", "7-4-2", "99999999999999999999-1"}) {
    CHECK_FALSE_MESSAGE(parse_event_id(text), text);
  }
}

std::string kept_after(const EventStore& store, EventId id) {
  std::string all;
  store.each_after(id, [&](const EventStore::Event& event) { all += event.message + ' '; });
  return all;
}

template <std::size_t Bytes>
struct Store {
  ByteBudget budget{1 << 20};
  EventStore store{Bytes, budget};
};

TEST_CASE_FIXTURE(Store<10000>, "the store gives what came after an event on the same stream") {
  const EventId first = store.next_id(0);
  store.keep(first, "a");
  store.keep(store.next_id(1), "other");
  store.keep(store.next_id(0), "b");
  CHECK(store.reaches_back_to(first));
  CHECK(kept_after(store, first) == "b ");
  CHECK(kept_after(store, EventId{1, 0}) == "other ");
  CHECK_FALSE(store.reaches_back_to(EventId{0, 99}));
}

TEST_CASE_FIXTURE(Store<1000>, "the store is bounded, and knows what it has lost") {
  const EventId first = store.next_id(0);
  store.keep(first, std::string(400, 'a'));
  store.keep(store.next_id(0), std::string(400, 'b'));
  CHECK(store.reaches_back_to(first));
  store.keep(store.next_id(0), std::string(400, 'c'));
  store.keep(store.next_id(0), std::string(400, 'd'));
  CHECK(store.bytes() <= 1000);
  CHECK(budget.used() == store.bytes());
  CHECK_FALSE(store.reaches_back_to(EventId{0, 1}));
}

TEST_CASE_FIXTURE(Store<100>, "the newest stays in the store whatever its size") {
  const EventId first = store.next_id(3);
  store.keep(first, "a");
  store.keep(store.next_id(3), std::string(400, 'b'), "7");
  CHECK(kept_after(store, first) == std::string(400, 'b') + ' ');
}

TEST_CASE_FIXTURE(Store<100>,
                  "an answer that was pushed out is told as lost, on its stream alone") {
  const EventId first = store.next_id(3);
  store.keep(store.next_id(3), std::string(400, 'b'), "\"x\"");
  store.keep(store.next_id(4), std::string(400, 'c'), "8");
  CHECK(store.has_after(first));
  CHECK_FALSE(store.has_after(EventId{5, 0}));
  CHECK_FALSE(store.has_after(EventId{3, 99}));
  CHECK(store.has_given_out(first));
  CHECK_FALSE(store.has_given_out(EventId{3, 0}));
  CHECK_FALSE(store.has_given_out(EventId{3, 99}));
  const std::string told = kept_after(store, first);
  CHECK(told.find(R"("id":"x","error")") != std::string::npos);
  CHECK(told.find("--http-stream-buffer") != std::string::npos);
  CHECK(kept_after(store, EventId{4, 0}) == std::string(400, 'c') + ' ');
}

TEST_CASE("a message that was sent again is kept once, under its last id") {
  ByteBudget budget(1 << 20);
  EventStore store(10'000, budget);
  const EventId first = store.next_id(1);
  store.keep(first, "a", "7");
  const std::size_t bytes = store.bytes();
  const EventId again = store.next_id(1);
  store.remove(first);
  CHECK(store.bytes() == 0);
  store.keep(again, "a", "7");
  CHECK(store.bytes() == bytes);
  CHECK(kept_after(store, EventId{1, 0}) == "a ");
}

TEST_CASE("a store gives way while all buffers are full, and says what is lost") {
  ByteBudget budget(1000);
  EventStore store(10'000, budget);
  store.keep(store.next_id(1), std::string(600, 'a'), "1");
  ByteBudget::Share other(budget);
  bool told = false;
  budget.on_used_up([&] { told = true; });
  other.set(500);
  CHECK(told);
  store.give_way();
  CHECK(store.bytes() == 0);
  CHECK_FALSE(budget.over());
  CHECK(kept_after(store, EventId{1, 0}).find("error") != std::string::npos);
}

TEST_CASE("ids are one if they mean the same") {
  IdSet ids;
  ids.insert(R"("\u0061\"")");
  ids.insert("1");
  CHECK(ids.contains(R"("a\"")"));
  CHECK_FALSE(ids.contains(R"("1")"));
  CHECK(ids.erase(R"("a\u0022")"));
  CHECK_FALSE(ids.erase(R"("a\"")"));
  CHECK(ids.take_all() == std::vector<std::string>{"1"});
  CHECK(ids.empty());
}

TEST_CASE("with all buffers full the store keeps nothing") {
  ByteBudget budget(10);
  EventStore store(1000, budget);
  store.keep(store.next_id(0), "abc");
  CHECK(store.bytes() == 0);
}

PostedMessages posted(std::string body) {
  return std::get<PostedMessages>(read_posted(std::move(body)));
}

int refused_with(std::string body) {
  const auto read = read_posted(std::move(body));
  const auto* fault = std::get_if<FrameFault>(&read);
  return fault == nullptr ? 0 : fault->code;
}

TEST_CASE("a body that was checked while it came is made one line, too, and read the same") {
  const std::string text =
      "{\"id\":1,\n\"method\":\"ping\",\"params\":{\"a\":\"" + std::string(20'000, 'x') + "\"}}";
  ArrivingText arriving;
  arriving.append(text, text.size());
  ReceivedText received = arriving.take();
  REQUIRE(received.checked);
  auto read = read_posted(std::move(received));
  const PostedMessages& known = std::get<PostedMessages>(read);
  REQUIRE(known.messages.size() == 1);
  const PostedMessages unknown = posted(text);
  CHECK(known.messages.front().bytes == unknown.messages.front().bytes);
  CHECK(known.messages.front().bytes.find('\n') == text.npos);
  CHECK(known.request_ids == unknown.request_ids);
}

TEST_CASE("a body is one message, made one line") {
  const PostedMessages one = posted("{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\"method\":\"ping\"}");
  REQUIRE(one.messages.size() == 1);
  CHECK(one.messages.front().bytes == "{\"jsonrpc\":\"2.0\",  \"id\":1,\"method\":\"ping\"}");
  CHECK(one.request_ids == std::vector<std::string>{"1"});
  CHECK_FALSE(one.is_batch);
  CHECK(posted(R"({"id":0,"method":"initialize"})").initializes);
}

TEST_CASE("an array is its messages, with the faults of what is none") {
  const PostedMessages three =
      posted(R"([{"id":1,"method":"a"},{"method":"b"},5,{"id":"x","method":"c"}])");
  CHECK(three.is_batch);
  CHECK(three.messages.size() == 3);
  CHECK(three.request_ids == std::vector<std::string>{"1", "\"x\""});
  CHECK(three.faults.size() == 1);
  CHECK(posted(R"([{"id":1,"method":"a"},{"id":1,"method":"b"}])").faults.size() == 1);
  CHECK(posted(R"([{"id":1,"method":"initialize"}])").faults.size() == 1);
}

TEST_CASE("a body that is no message is refused") {
  CHECK(refused_with("oops") == -32700);
  CHECK(refused_with("") == -32700);
  CHECK(refused_with("5") == -32600);
  CHECK(refused_with("[]") == -32600);
  CHECK(refused_with("[1,2") == -32700);
  CHECK(refused_with(R"({"id":null,"error":{}})") == -32600);
  std::string many = "[1";
  for (int i = 0; i < 1000; ++i) many += ",1";
  CHECK(refused_with(many + "]") == -32600);
}

TEST_CASE("an array of requests is answered by one array") {
  CHECK(answer_body({"{}"}, false) == "{}");
  CHECK(answer_body({"{}"}, true) == "[{}]");
  CHECK(answer_body({"1", "2"}, true) == "[1,2]");
  CHECK(accepted_body({"7", "\"b\""}) == R"({"accepted":[7,"b"]})");
}

TEST_CASE("a response says how its body ends") {
  const HttpResponse response{200, "text/plain", "abc", {{"X", "y"}}};
  CHECK(response_head(response, ResponseFraming::length, true) ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nX: y\r\n\r\n");
  CHECK(response_head({200, "text/event-stream", {}, {}}, ResponseFraming::chunked, false) ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
        "chunked\r\nConnection: close\r\n\r\n");
  CHECK(response_head({204, {}, {}, {}}, ResponseFraming::length, true) ==
        "HTTP/1.1 204 No Content\r\n\r\n");
  CHECK(chunk_of("0123456789abcdef") == "10\r\n0123456789abcdef\r\n");
}

TEST_CASE("the date is written as HTTP has it") {
  DateHeader date;
  CHECK(date.at(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(date.at(784111778) == "Sun, 06 Nov 1994 08:49:38 GMT");
}

TEST_CASE("session ids are long, of hexadecimal digits, and never the same") {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(make_session_name());
  CHECK(names.size() == 1000);
  CHECK(names.begin()->size() == 32);
  CHECK(names.begin()->find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("only the file's token admits, and a new one takes its place") {
  const TemporaryFile file("secret-1\n");
  BearerToken token(file.path());
  CHECK(token.fault().empty());
  auto now = std::chrono::steady_clock::time_point{} + std::chrono::hours(1);
  CHECK(token.admits("Bearer secret-1", now));
  CHECK(token.admits("bearer  secret-1", now));
  for (const char* other : {"", "Bearer", "Bearer ", "secret-1", "Basic secret-1",
                            "Bearer secret-2", "Bearer secret-11", "Bearer secret-"}) {
    CHECK_FALSE_MESSAGE(token.admits(other, now), other);
  }
  std::ofstream(file.path(), std::ios::binary) << "other-2\n";
  now += std::chrono::seconds(1);
  CHECK_FALSE(token.admits("Bearer secret-1", now));
  CHECK(token.admits("Bearer other-2", now));
  unlink(file.path().c_str());
  now += std::chrono::seconds(1);
  CHECK_FALSE(token.admits("Bearer other-2", now));
  CHECK(BearerToken("").admits("", now));
}

TEST_CASE("an address may leave out its host") {
  const auto text_of = [](std::string_view given) {
    const auto address = parse_listen_address(given);
    return address ? address->host + ' ' + std::to_string(address->port) : std::string("none");
  };
  CHECK(text_of("127.0.0.1:8080") == "127.0.0.1 8080");
  CHECK(text_of(":0") == "127.0.0.1 0");
  CHECK(text_of("8080") == "127.0.0.1 8080");
  CHECK(text_of("[::1]:80") == "::1 80");
  CHECK(text_of("bridge.example:1") == "bridge.example 1");
  for (const char* wrong : {"", ":", "host", "host:", "::1:80", "a b:1", "host:65536", "host:-1",
                            "http://a:1", "[]:1"}) {
    CHECK_MESSAGE(text_of(wrong) == "none", wrong);
  }
}

TEST_CASE("what can be reached from outside needs TLS and a token") {
  const TemporaryFile secret("token");
  const std::string token = secret.path();
  for (const char* here : {"127.0.0.1:0", "localhost:0", "[::1]:0"})
    CHECK_MESSAGE(refused({"--http", here}).code == 0, here);
  for (const char* outside : {"0.0.0.0:0", "[::]:0", "bridge.example:0", "nonsense"})
    CHECK_MESSAGE(refused({"--http", outside}).code == 64, outside);
  CHECK(mentions(refused({"--http", "0.0.0.0:0", "--http-token-file", token}), "--http-cert"));
  CHECK(mentions(refused({"--http", "0.0.0.0:0", "--http-cert", "c", "--http-key", "k"}),
                 "--http-token-file"));
  CHECK(refused({"--http", "0.0.0.0:0", "--http-insecure"}).code == 0);
  // With both it is allowed; then the files are checked.
  const Refused no_files = refused({"--http", "0.0.0.0:0", "--http-cert", "/none", "--http-key",
                                    "/none", "--http-token-file", token});
  CHECK(no_files.code == 78);
  CHECK(mentions(no_files, "--http-cert"));
  CHECK(refused({"--http", ":0", "--http-token-file", "/none"}).code == 78);
  CHECK(mentions(refused({"--http", ":0", "--http-cert", "c"}), "go together"));
  CHECK(refused({"--http-fanout", "some"}).code == 64);
  CHECK(refused({"--sse-keepalive", "0"}).code == 64);
}

TEST_CASE("the frontend is off, and takes its limits from the clients'") {
  const Options off = options_of({});
  CHECK_FALSE(off.frontend.address);
  const Options on = options_of({"--max-frame", "1K", "--http-fanout", "all", "--http-async"},
                                {{"MCP_BRIDGE_HTTP", ":8080"}});
  REQUIRE(on.frontend.address);
  CHECK(on.frontend.address->port == 8080);
  CHECK(on.frontend.max_frame == 1024);
  CHECK(on.frontend.fans_out_all);
  CHECK(on.frontend.answers_later);
}

}  // namespace
}  // namespace bridge
