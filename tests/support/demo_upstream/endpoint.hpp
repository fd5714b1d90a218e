#pragma once

#include <memory>
#include <optional>
#include <string>

#include "answer.hpp"
#include "http_request.hpp"
#include "message.hpp"
#include "upstream.hpp"

namespace demo {

/// How a fault changes the handling of a request.
struct Handling {
  std::optional<StreamPart> part;  ///< as a stream, of which only this part is sent
};

/// `/mcp`: Streamable HTTP of revision 2025-11-25.
class Endpoint {
 public:
  explicit Endpoint(Upstream& upstream);

  Answer handle(const HttpRequest& request, const Message& message, const Handling& handling);

  /// At the program's end: cancels the calls without a session id.
  void close() { stateless_session_->close(); }
  std::size_t stateless_calls() { return stateless_session_->calls(); }

 private:
  using SessionPointer = std::shared_ptr<Session>;

  std::optional<Answer> refused(const HttpRequest& request, const Message& message) const;
  SessionPointer session_of(const HttpRequest& request) const;
  Answer unknown_session(const HttpRequest& request) const;

  Answer post(const HttpRequest& request, const Message& message, const Handling& handling);
  Answer get(const HttpRequest& request, const Handling& handling);
  Answer remove(const HttpRequest& request);

  Answer initialize(const HttpRequest& request, const Message& message, const Handling& handling);
  Answer take_answer(const HttpRequest& request, const Message& message, Session& session);
  Answer answer_at_once(const std::string& reply, const SessionPointer& session,
                        const HttpRequest& request, const Handling& handling) const;
  Answer answer_later(const SessionPointer& session, const HttpRequest& request,
                      const Message& message, const Handling& handling);

  Upstream& upstream_;
  const SessionPointer stateless_session_;  ///< for `--stateless`: shared by all, without an id
};

}  // namespace demo
