#pragma once

#include <memory>

#include "message.hpp"
#include "reply.hpp"
#include "session.hpp"
#include "upstream.hpp"

namespace demo {

/// Answers every request that needs no stream, except `initialize`.
Reply answer_request(const Message& request, const std::shared_ptr<Session>& session,
                     Upstream& upstream);

/// The InitializeResult.
std::string initialize_result(const Message& request);

}  // namespace demo
