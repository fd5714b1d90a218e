#include "upstream/streamable_http/answer_meaning.hpp"

#include <variant>

#include "json/frame.hpp"
#include "json/json_text.hpp"

namespace bridge {
namespace {

bool is_request(const CompleteAnswer& answer) {
  return answer.message.kind == OutgoingKind::request;
}

bool is_blank(const std::string& body) {
  return body.find_first_not_of(" \t\r\n") == std::string::npos;
}

bool names_json_rpc(const std::string& body) { return body.find(R"("jsonrpc")") != body.npos; }

/// Whether the body, other than a message of a JSON-RPC server, says that the session is missing.
bool denies_session(const CompleteAnswer& answer) {
  const std::string& body = answer.body;
  if (answer.head.is_event_stream() || body.empty() || body.size() > longest_error) return false;
  if (is_request(answer) && answer.head.is_json() && names_json_rpc(body)) return false;
  return session_verdict({answer.head.status, false, {}, body, answer.session_named_by}) ==
         SessionVerdict::doubtful;
}

/// With HTTP+SSE: whether the body is the error that answers the request, which the event stream
/// then does not.
bool is_refused_by_body(const CompleteAnswer& answer) {
  if (!answer.head.is_json() || answer.body.find(R"("error")") == answer.body.npos) return false;
  const auto parsed = parse_frame(answer.body);
  const auto* const frame = std::get_if<Frame>(&parsed);
  return frame != nullptr && frame->is_response() && frame->error.present() &&
         (frame->id_is_null ||
          unsigned_by_value(frame->text(frame->id)) == value_of(answer.message.id));
}

/// Whether the body only says that the request was taken: after a status other than 200 all that is
/// no message; JSON such as `{"accepted":true}` while the answer can come on the server stream.
bool is_only_receipt(const CompleteAnswer& answer) {
  constexpr std::size_t longest = 4096;
  if (!may_be_answered_elsewhere(answer.message)) return false;
  const bool is_ok = answer.head.status == 200;
  if (!answer.head.is_json()) return !is_ok;
  const std::string& body = answer.body;
  if (is_ok && (!answer.has_server_stream || body.size() > longest || names_json_rpc(body) ||
                !is_json(body)))
    return false;
  return !is_batch(body) && std::holds_alternative<FrameFault>(parse_frame(body));
}

}  // namespace

AnswerMeaning meaning_of(const CompleteAnswer& answer) {
  if (denies_session(answer)) return AnswerMeaning::denies_session;
  if (!is_request(answer)) return AnswerMeaning::delivered;
  if (answer.answers_elsewhere)
    return is_refused_by_body(answer) ? AnswerMeaning::message : AnswerMeaning::elsewhere;
  if (answer.head.is_event_stream()) return AnswerMeaning::stream;
  const bool elsewhere = may_be_answered_elsewhere(answer.message);
  const bool is_ok = answer.head.status == 200;
  const bool blank = is_blank(answer.body);
  if (blank && (!elsewhere || (is_ok && answer.head.is_json()))) return AnswerMeaning::delivered;
  if (blank || is_only_receipt(answer)) return AnswerMeaning::elsewhere;
  if (!answer.head.is_json()) return AnswerMeaning::not_json;
  return !is_ok && elsewhere ? AnswerMeaning::perhaps_message : AnswerMeaning::message;
}

bool was_taken(const CompleteAnswer& answer, const Failure& failure) {
  if (answer.head.is_success()) {
    const bool has_no_answer = answer.head.status != 200 &&
                               may_be_answered_elsewhere(answer.message) &&
                               !answer.head.is_event_stream();
    return answer.answers_elsewhere || !is_request(answer) || has_no_answer;
  }
  return answer.answers_elsewhere && is_request(answer) && answer.head.status == 0 &&
         failure.kind == ErrorKind::closed && failure.delivered == Delivered::unknown;
}

bool is_late_message(const CompleteAnswer& answer) {
  return is_request(answer) && answer.head.is_success() && answer.head.is_json() &&
         !answer.answers_elsewhere && !is_blank(answer.body);
}

}  // namespace bridge
