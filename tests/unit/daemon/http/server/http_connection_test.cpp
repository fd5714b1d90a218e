// One HTTP connection, by value: its input, its output, and when it ends.
#include "http_fixture.hpp"

namespace bridge {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE("a connection serves one request after the other") {
  HttpFixture http;
  const std::string answer = http.exchange(get);
  CHECK(is_status(answer, 200));
  CHECK(answer.ends_with("\r\n\r\nok"));
  CHECK(answer.find("Date: Thu, 01 Jan 1970 01:00:00 GMT\r\n") != answer.npos);
  CHECK(is_status(http.exchange(post("abc")), 200));
  REQUIRE(http.requests.requests.size() == 2);
  CHECK(http.requests.requests[0].line == "GET /x");
  CHECK(http.requests.requests[1].body == "abc");
  CHECK_FALSE(http.connection->is_over());
}

TEST_CASE("requests that come together are answered in their order") {
  HttpFixture http;
  const std::string answers = http.exchange(get + post("1") + get);
  CHECK(count_of(answers, "HTTP/1.1 200 ") == 3);
  REQUIRE(http.requests.requests.size() == 3);
  CHECK(http.requests.requests[1].body == "1");
}

TEST_CASE("the next request waits until the one before it is answered") {
  HttpFixture http;
  http.requests.answer = [&](HttpConnection& one) { one.set_responder(&http.responder); };
  CHECK(http.exchange(get + post("second")).empty());
  CHECK(http.requests.requests.size() == 1);
  http.requests.answer = nullptr;
  http.in_turn([&] { http.connection->respond(text_response(200, "first")); });
  CHECK(count_of(http.peer->read(), "HTTP/1.1 200 ") == 2);
  REQUIRE(http.requests.requests.size() == 2);
  CHECK(http.requests.requests[1].body == "second");
}

TEST_CASE("of what comes too early no more is held than 64 KiB and one read") {
  HttpFixture http;
  http.requests.answer = [&](HttpConnection& one) { one.set_responder(&http.responder); };
  http.exchange(get);
  const std::string part(64u << 10, 'x');
  std::size_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    sent += http.peer->send(part);
    http.run();
  }
  CHECK(sent > 128u << 10);
  CHECK(http.budget.used() <= 128u << 10);
}

TEST_CASE("a head has ten seconds, however it trickles in") {
  HttpFixture http;
  for (int i = 0; i < 9; ++i) {
    CHECK(http.exchange(get.substr(static_cast<std::size_t>(i), 1)).empty());
    http.advance(seconds(1));
  }
  http.advance(std::chrono::milliseconds(999));
  CHECK(http.peer->read().empty());
  http.advance(std::chrono::milliseconds(1));
  CHECK(is_status(http.peer->read(), 408));
  CHECK(http.requests.heads == 0);
  http.advance(seconds(2));
  CHECK(http.connection->is_over());
}

TEST_CASE("one that never says a word is closed after ten seconds, one that was served after 75") {
  HttpFixture silent;
  silent.advance(std::chrono::milliseconds(9999));
  CHECK_FALSE(silent.connection->is_over());
  silent.advance(std::chrono::milliseconds(1));
  CHECK(silent.connection->is_over());
  HttpFixture served;
  served.exchange(get);
  served.advance(seconds(74));
  CHECK_FALSE(served.connection->is_over());
  CHECK(is_status(served.exchange(get), 200));
  served.advance(seconds(75));
  CHECK(served.connection->is_over());
}

TEST_CASE("a body that stops has thirty seconds, one that goes on five minutes in all") {
  HttpFixture http;
  const std::string request = post(std::string(100, 'x'));
  const std::size_t head = request.size() - 100;
  SUBCASE("it stops") {
    http.exchange(request.substr(0, head + 1));
    http.advance(seconds(29));
    http.exchange("x");
    http.advance(seconds(29));
    CHECK(http.peer->read().empty());
    http.advance(seconds(1));
    CHECK(is_status(http.peer->read(), 408));
  }
  SUBCASE("it goes on") {
    http.exchange(request.substr(0, head));
    for (int i = 0; i < 14; ++i) {
      http.advance(seconds(20));
      CHECK(http.exchange("x").empty());
    }
    http.advance(minutes(5) - seconds(280));
    CHECK(is_status(http.peer->read(), 408));
  }
  CHECK(http.requests.requests.empty());
}

TEST_CASE("what is too large, or no HTTP, is refused before it is read, and nothing follows") {
  const std::pair<std::string, int> rows[] = {
      {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n", 413},
      {"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n", 413},
      {"GET /x HTTP/1.1\r\nX: " + std::string(40'000, 'x'), 431},
      {"\x16\x03\x01 x\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : rows) {
    HttpFixture http;
    CHECK(is_status(http.exchange(bytes), status));
    CHECK(http.exchange(get).empty());
    CHECK(http.requests.requests.empty());
  }
}

TEST_CASE("a caller that waits for 100 is told to go on, but only with what is admitted") {
  HttpFixture http;
  const std::string head =
      "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  CHECK(http.exchange(head) == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(is_status(http.exchange("abc"), 200));
  http.requests.admit = [](const RequestHead&) { return Admission{text_response(415, "no")}; };
  CHECK(is_status(http.exchange(head), 415));
}

TEST_CASE("a refusal without a body leaves the connection open, one with a body closes it") {
  HttpFixture http;
  http.requests.admit = [](const RequestHead&) { return Admission{text_response(401, "no")}; };
  CHECK(is_status(http.exchange(get), 401));
  CHECK(is_status(http.exchange(get), 401));
  const std::string refused = http.exchange(post("abc").substr(0, 50));
  CHECK(is_status(refused, 401));
  CHECK(refused.find("Connection: close\r\n") != refused.npos);
  // It may still be sending: it gets two seconds to read the reason, and is not reset meanwhile.
  http.advance(seconds(1));
  http.peer->read();
  CHECK(http.peer->has_ended);
  CHECK_FALSE(http.connection->is_over());
  http.advance(seconds(1));
  CHECK(http.connection->is_over());
}

TEST_CASE("answers that are not read hold up the next request") {
  HttpFixture http;
  http.requests.answer = [](HttpConnection& one) {
    one.respond(text_response(200, std::string(100'000, 'x')));
  };
  std::string many;
  for (int i = 0; i < 100; ++i) many += get;
  http.peer->send(many);
  http.run();
  CHECK(http.requests.requests.size() <= 2);
  CHECK(http.connection->unsent() <= 200'000);
  std::string answers;
  for (int i = 0; i < 10'000 && count_of(answers, "HTTP/1.1 200 ") < 100; ++i) {
    answers += http.peer->read();
    http.run();
  }
  CHECK(count_of(answers, "HTTP/1.1 200 ") == 100);
}

TEST_CASE("of a caller that nobody knows a head is read, and one answer is unread") {
  HttpFixture http;
  http.requests.admit = [](const RequestHead&) { return Admission{}; };
  http.requests.answer = [](HttpConnection& one) {
    one.respond(text_response(200, std::string(10'000, 'x')));
  };
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += get;
  http.peer->send(many);
  http.run();
  CHECK(http.requests.requests.size() == 1);
  CHECK(http.budget.used() <= 32u << 10);
  CHECK(http.connection->spare_since().has_value());
}

TEST_CASE("with all buffers full a body that has grown is read no further") {
  HttpFixture http(1000);
  const std::string request = post(std::string(200'000, 'x'));
  http.exchange(request.substr(0, 60'000));
  CHECK(http.peer->read().empty());
  CHECK(is_status(http.exchange(request.substr(60'000, 20'000)), 503));
  CHECK(http.requests.requests.empty());
}

TEST_CASE("a caller that only sends no more gets its whole answer") {
  HttpFixture http;
  const std::string body(700'000, 'x');
  http.requests.answer = [&](HttpConnection& one) { one.respond(text_response(200, body)); };
  http.peer->send(get);
  http.peer->half_close();
  std::string answer;
  for (int i = 0; i < 10'000 && !http.connection->is_over(); ++i) {
    http.run();
    answer += http.peer->read(50'000);
  }
  answer += http.peer->read();
  CHECK(answer.ends_with("\r\n\r\n" + body));
  CHECK(http.connection->is_over());
}

TEST_CASE(
    "an answer that comes later reaches a half-closed caller, unless it ends with its input") {
  HttpFixture http;
  http.requests.answer = [&](HttpConnection& one) { one.set_responder(&http.responder); };
  http.responder.ends_with_input_ = false;
  SUBCASE("it is only done with sending") {
    http.peer->send(get);
    http.peer->half_close();
    http.run();
    CHECK_FALSE(http.responder.lost);
    http.in_turn([&] { http.connection->respond(text_response(200, "late")); });
    CHECK(http.peer->read().ends_with("late"));
    CHECK(http.connection->is_over());
  }
  SUBCASE("it has gone") {
    http.responder.ends_with_input_ = true;
    http.peer->send(get);
    http.peer->half_close();
    http.run();
    CHECK(http.responder.lost);
    CHECK(http.connection->is_over());
  }
  SUBCASE("it has gone altogether") {
    http.peer->send(get);
    http.run();
    http.peer->close();
    http.run();
    CHECK(http.responder.lost);
    CHECK(http.connection->is_over());
  }
}

TEST_CASE(
    "a reader is given up when it has taken nothing for the time it has, not when it is slow") {
  HttpFixture http;
  http.requests.answer = [](HttpConnection& one) {
    one.respond(text_response(200, std::string(500'000, 'x')));
  };
  http.peer->send(get);
  http.run();
  CHECK(http.connection->unsent() > 0);
  for (int i = 0; i < 5; ++i) {
    http.advance(seconds(29));
    CHECK_FALSE(http.peer->read(20'000).empty());
    http.run();
  }
  CHECK_FALSE(http.connection->is_over());
  http.advance(seconds(29));
  CHECK_FALSE(http.connection->is_over());
  http.advance(seconds(1));
  CHECK(http.connection->is_over());
}

TEST_CASE("a stream is written in chunks, its end included, and the connection goes on") {
  HttpFixture http;
  http.requests.answer = [&](HttpConnection& one) {
    one.set_responder(&http.responder);
    one.begin_stream({200, "text/event-stream", {}, {}});
  };
  const std::string head = http.exchange(get);
  CHECK(head.find("Transfer-Encoding: chunked\r\n") != head.npos);
  http.in_turn([&] { http.connection->write_stream("abc"); });
  CHECK(http.peer->read() == "3\r\nabc\r\n");
  CHECK(http.responder.drained > 0);
  // It may last any time: only the responder knows when it ends.
  http.advance(minutes(60));
  http.in_turn([&] { http.connection->end_stream(); });
  CHECK(http.peer->read() == "0\r\n\r\n");
  http.requests.answer = nullptr;
  CHECK(is_status(http.exchange(get), 200));
}

TEST_CASE("one that is dropped is reset, without another word to its responder") {
  HttpFixture http;
  http.requests.answer = [&](HttpConnection& one) {
    one.set_responder(&http.responder);
    one.begin_stream({200, "text/event-stream", {}, {}});
  };
  http.exchange(get);
  http.in_turn([&] { http.connection->drop(); });
  CHECK(http.connection->is_over());
  CHECK_FALSE(http.responder.lost);
}

TEST_CASE("what the peer has taken is told by its kernel") {
  HttpFixture http;
  http.requests.answer = [&](HttpConnection& one) {
    one.set_responder(&http.responder);
    one.begin_stream({200, "text/event-stream", {}, {}});
  };
  http.peer->send(get);
  http.run();
  http.in_turn([&] { http.connection->write_stream("abc"); });
  CHECK_FALSE(http.connection->peer_has_all());
  CHECK(http.connection->acknowledged() < http.connection->position());
  http.peer->read();
  CHECK(http.connection->peer_has_all());
  CHECK(http.connection->acknowledged() == http.connection->position());
}

}  // namespace
}  // namespace bridge
