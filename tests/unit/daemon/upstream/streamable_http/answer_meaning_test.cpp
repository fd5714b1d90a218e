#include "upstream/streamable_http/answer_meaning.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

namespace {

constexpr UpstreamId the_id{7};

struct Answered {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  bool has_server_stream = true;
  bool answers_elsewhere = false;
  bool opens_session = false;
  OutgoingKind kind = OutgoingKind::request;
};

AnswerMeaning meaning(const Answered& answered) {
  ResponseHead head;
  head.status = answered.status;
  head.complete = true;
  head.set_content_type(answered.type);
  Outgoing message;
  message.id = the_id;
  message.kind = answered.kind;
  message.opens_session = answered.opens_session;
  return meaning_of({head, answered.body, message, SessionNamedBy::header,
                     answered.answers_elsewhere, answered.has_server_stream});
}

const std::string result = R"({"jsonrpc":"2.0","id":7,"result":{}})";

}  // namespace

TEST_CASE("a JSON body is the answer, whose stream may be another one if the status is not 200") {
  CHECK(meaning({.body = result}) == AnswerMeaning::message);
  CHECK(meaning({.status = 202, .body = result}) == AnswerMeaning::perhaps_message);
  CHECK(meaning({.status = 202, .body = result, .opens_session = true}) == AnswerMeaning::message);
}

TEST_CASE("a receipt is not the answer") {
  CHECK(meaning({.status = 202, .type = "", .body = ""}) == AnswerMeaning::elsewhere);
  CHECK(meaning({.status = 202, .type = "text/plain", .body = "taken"}) ==
        AnswerMeaning::elsewhere);
  CHECK(meaning({.body = R"({"accepted":true})"}) == AnswerMeaning::elsewhere);
  CHECK(meaning({.body = R"({"accepted":true})", .has_server_stream = false}) ==
        AnswerMeaning::message);
}

TEST_CASE("nothing is awaited after an empty body of JSON, nor after what is not a request") {
  CHECK(meaning({.body = " \n"}) == AnswerMeaning::delivered);
  CHECK(meaning({.type = "", .body = "", .opens_session = true}) == AnswerMeaning::delivered);
  CHECK(meaning({.status = 202, .type = "", .kind = OutgoingKind::notification}) ==
        AnswerMeaning::delivered);
}

TEST_CASE("a body of another type is its stream, or a fault") {
  CHECK(meaning({.type = "text/event-stream"}) == AnswerMeaning::stream);
  CHECK(meaning({.type = "text/html", .body = "<p>hello</p>"}) == AnswerMeaning::not_json);
}

TEST_CASE("with HTTP+SSE only an error in the body is the answer") {
  const std::string error = R"({"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no"}})";
  CHECK(meaning({.status = 202, .body = error, .answers_elsewhere = true}) ==
        AnswerMeaning::message);
  CHECK(meaning({.status = 202, .body = result, .answers_elsewhere = true}) ==
        AnswerMeaning::elsewhere);
}

TEST_CASE("a text that the session is missing is not a message") {
  const std::string text = "Session not found";
  CHECK(meaning({.type = "text/plain", .body = text}) == AnswerMeaning::denies_session);
  CHECK(meaning({.type = "text/plain", .body = text, .kind = OutgoingKind::notification}) ==
        AnswerMeaning::denies_session);
}
