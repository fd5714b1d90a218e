#pragma once

#include <string_view>

#include "http/response.hpp"

namespace bridge {

/// A JSON-RPC error without an id, for what failed before there was a message.
HttpResponse error_response(int status, int code, std::string_view message);
/// 404: ended, or never begun.
HttpResponse session_not_found();
/// 406: what answers this request is an event stream.
HttpResponse no_stream_wanted();
/// 503 for now: there are as many as there may be.
HttpResponse full_response(std::string_view what);
/// 503 for now: --max-buffered is used up.
HttpResponse overloaded_response();

}  // namespace bridge
