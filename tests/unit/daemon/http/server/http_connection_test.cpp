// One HTTP connection, by value: its input, its output, and when it ends.
#include "http_fixture.hpp"

namespace bridge {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE_FIXTURE(HttpFixture, "a connection serves one request after the other") {
  const std::string answer = exchange(get);
  CHECK(is_status(answer, 200));
  CHECK(answer.ends_with("\r\n\r\nok"));
  CHECK(answer.find("Date: Thu, 01 Jan 1970 01:00:00 GMT\r\n") != answer.npos);
  CHECK(is_status(exchange(post("abc")), 200));
  REQUIRE(requests.requests.size() == 2);
  CHECK(requests.requests[0].line == "GET /x");
  CHECK(requests.requests[1].body == "abc");
  CHECK_FALSE(connection->is_over());
}

TEST_CASE_FIXTURE(HttpFixture, "requests that come together are answered in their order") {
  const std::string answers = exchange(get + post("1") + get);
  CHECK(count_of(answers, "HTTP/1.1 200 ") == 3);
  REQUIRE(requests.requests.size() == 3);
  CHECK(requests.requests[1].body == "1");
}

TEST_CASE_FIXTURE(HttpFixture, "the next request waits until the one before it is answered") {
  requests.answer = [&](HttpConnection& one) { one.set_responder(&responder); };
  CHECK(exchange(get + post("second")).empty());
  CHECK(requests.requests.size() == 1);
  requests.answer = nullptr;
  in_turn([&] { connection->respond(text_response(200, "first")); });
  CHECK(count_of(peer->read(), "HTTP/1.1 200 ") == 2);
  REQUIRE(requests.requests.size() == 2);
  CHECK(requests.requests[1].body == "second");
}

TEST_CASE_FIXTURE(HttpFixture, "of what comes too early no more is held than 64 KiB and one read") {
  requests.answer = [&](HttpConnection& one) { one.set_responder(&responder); };
  exchange(get);
  const std::string part(64u << 10, 'x');
  std::size_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    sent += peer->send(part);
    run();
  }
  CHECK(sent > 128u << 10);
  CHECK(budget.used() <= 128u << 10);
}

TEST_CASE_FIXTURE(HttpFixture, "a head has ten seconds, however it trickles in") {
  for (int i = 0; i < 9; ++i) {
    CHECK(exchange(get.substr(static_cast<std::size_t>(i), 1)).empty());
    advance(seconds(1));
  }
  advance(std::chrono::milliseconds(999));
  CHECK(peer->read().empty());
  advance(std::chrono::milliseconds(1));
  CHECK(is_status(peer->read(), 408));
  CHECK(requests.heads == 0);
  advance(seconds(2));
  CHECK(connection->is_over());
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

TEST_CASE_FIXTURE(HttpFixture,
                  "a body that stops has thirty seconds, one that goes on five minutes in all") {
  const std::string request = post(std::string(100, 'x'));
  const std::size_t head = request.size() - 100;
  SUBCASE("it stops") {
    exchange(request.substr(0, head + 1));
    advance(seconds(29));
    exchange("x");
    advance(seconds(29));
    CHECK(peer->read().empty());
    advance(seconds(1));
    CHECK(is_status(peer->read(), 408));
  }
  SUBCASE("it goes on") {
    exchange(request.substr(0, head));
    for (int i = 0; i < 14; ++i) {
      advance(seconds(20));
      CHECK(exchange("x").empty());
    }
    advance(minutes(5) - seconds(280));
    CHECK(is_status(peer->read(), 408));
  }
  CHECK(requests.requests.empty());
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

TEST_CASE_FIXTURE(HttpFixture,
                  "a caller that waits for 100 is told to go on, but only with what is admitted") {
  const std::string head =
      "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  CHECK(exchange(head) == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(is_status(exchange("abc"), 200));
  requests.admit = [](const RequestHead&) { return Admission{text_response(415, "no")}; };
  CHECK(is_status(exchange(head), 415));
}

TEST_CASE_FIXTURE(
    HttpFixture, "a refusal without a body leaves the connection open, one with a body closes it") {
  requests.admit = [](const RequestHead&) { return Admission{text_response(401, "no")}; };
  CHECK(is_status(exchange(get), 401));
  CHECK(is_status(exchange(get), 401));
  const std::string refused = exchange(post("abc").substr(0, 50));
  CHECK(is_status(refused, 401));
  CHECK(refused.find("Connection: close\r\n") != refused.npos);
  // It may still be sending: it gets two seconds to read the reason, and is not reset meanwhile.
  advance(seconds(1));
  peer->read();
  CHECK(peer->has_ended);
  CHECK_FALSE(connection->is_over());
  advance(seconds(1));
  CHECK(connection->is_over());
}

TEST_CASE_FIXTURE(HttpFixture, "answers that are not read hold up the next request") {
  requests.answer = [](HttpConnection& one) {
    one.respond(text_response(200, std::string(100'000, 'x')));
  };
  std::string many;
  for (int i = 0; i < 100; ++i) many += get;
  peer->send(many);
  run();
  CHECK(requests.requests.size() <= 2);
  CHECK(connection->unsent() <= 200'000);
  std::string answers;
  for (int i = 0; i < 10'000 && count_of(answers, "HTTP/1.1 200 ") < 100; ++i) {
    answers += peer->read();
    run();
  }
  CHECK(count_of(answers, "HTTP/1.1 200 ") == 100);
}

TEST_CASE_FIXTURE(HttpFixture,
                  "of a caller that nobody knows a head is read, and one answer is unread") {
  requests.admit = [](const RequestHead&) { return Admission{}; };
  requests.answer = [](HttpConnection& one) {
    one.respond(text_response(200, std::string(10'000, 'x')));
  };
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += get;
  peer->send(many);
  run();
  CHECK(requests.requests.size() == 1);
  CHECK(budget.used() <= 32u << 10);
  CHECK(connection->spare_since().has_value());
}

TEST_CASE("with all buffers full a body that has grown is read no further") {
  HttpFixture http(1000);
  const std::string request = post(std::string(200'000, 'x'));
  http.exchange(request.substr(0, 60'000));
  CHECK(http.peer->read().empty());
  CHECK(is_status(http.exchange(request.substr(60'000, 20'000)), 503));
  CHECK(http.requests.requests.empty());
}

TEST_CASE_FIXTURE(HttpFixture, "a caller that only sends no more gets its whole answer") {
  const std::string body(700'000, 'x');
  requests.answer = [&](HttpConnection& one) { one.respond(text_response(200, body)); };
  peer->send(get);
  peer->half_close();
  std::string answer;
  for (int i = 0; i < 10'000 && !connection->is_over(); ++i) {
    run();
    answer += peer->read(50'000);
  }
  answer += peer->read();
  CHECK(answer.ends_with("\r\n\r\n" + body));
  CHECK(connection->is_over());
}

TEST_CASE_FIXTURE(
    HttpFixture,
    "an answer that comes later reaches a half-closed caller, unless it ends with its input") {
  requests.answer = [&](HttpConnection& one) { one.set_responder(&responder); };
  responder.ends_with_input_ = false;
  SUBCASE("it is only done with sending") {
    peer->send(get);
    peer->half_close();
    run();
    CHECK_FALSE(responder.lost);
    in_turn([&] { connection->respond(text_response(200, "late")); });
    CHECK(peer->read().ends_with("late"));
    CHECK(connection->is_over());
  }
  SUBCASE("it has gone") {
    responder.ends_with_input_ = true;
    peer->send(get);
    peer->half_close();
    run();
    CHECK(responder.lost);
    CHECK(connection->is_over());
  }
  SUBCASE("it has gone altogether") {
    peer->send(get);
    run();
    peer->close();
    run();
    CHECK(responder.lost);
    CHECK(connection->is_over());
  }
}

TEST_CASE_FIXTURE(
    HttpFixture,
    "a reader is given up when it has taken nothing for the time it has, not when it is slow") {
  requests.answer = [](HttpConnection& one) {
    one.respond(text_response(200, std::string(500'000, 'x')));
  };
  peer->send(get);
  run();
  CHECK(connection->unsent() > 0);
  for (int i = 0; i < 5; ++i) {
    advance(seconds(29));
    CHECK_FALSE(peer->read(20'000).empty());
    run();
  }
  CHECK_FALSE(connection->is_over());
  advance(seconds(29));
  CHECK_FALSE(connection->is_over());
  advance(seconds(1));
  CHECK(connection->is_over());
}

TEST_CASE_FIXTURE(HttpFixture,
                  "a stream is written in chunks, its end included, and the connection goes on") {
  requests.answer = [&](HttpConnection& one) {
    one.set_responder(&responder);
    one.begin_stream({200, "text/event-stream", {}, {}});
  };
  const std::string head = exchange(get);
  CHECK(head.find("Transfer-Encoding: chunked\r\n") != head.npos);
  in_turn([&] { connection->write_stream("abc"); });
  CHECK(peer->read() == "3\r\nabc\r\n");
  CHECK(responder.drained > 0);
  // It may last any time: only the responder knows when it ends.
  advance(minutes(60));
  in_turn([&] { connection->end_stream(); });
  CHECK(peer->read() == "0\r\n\r\n");
  requests.answer = nullptr;
  CHECK(is_status(exchange(get), 200));
}

TEST_CASE_FIXTURE(HttpFixture,
                  "one that is dropped is reset, without another word to its responder") {
  requests.answer = [&](HttpConnection& one) {
    one.set_responder(&responder);
    one.begin_stream({200, "text/event-stream", {}, {}});
  };
  exchange(get);
  in_turn([&] { connection->drop(); });
  CHECK(connection->is_over());
  CHECK_FALSE(responder.lost);
}

TEST_CASE_FIXTURE(HttpFixture, "what the peer has taken is told by its kernel") {
  requests.answer = [&](HttpConnection& one) {
    one.set_responder(&responder);
    one.begin_stream({200, "text/event-stream", {}, {}});
  };
  peer->send(get);
  run();
  in_turn([&] { connection->write_stream("abc"); });
  CHECK_FALSE(connection->peer_has_all());
  CHECK(connection->acknowledged() < connection->position());
  peer->read();
  CHECK(connection->peer_has_all());
  CHECK(connection->acknowledged() == connection->position());
}

}  // namespace
}  // namespace bridge
