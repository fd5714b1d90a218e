#include "downstream/http/error_response.hpp"

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"

namespace bridge {
namespace {

HttpResponse refuse_for_now(std::string_view reason, const char* seconds) {
  HttpResponse response = error_response(503, json_rpc::bridge_error, reason);
  response.headers.emplace_back("Retry-After", seconds);
  return response;
}

}  // namespace

HttpResponse error_response(int status, int code, std::string_view message) {
  return json_response(status, error_reply("null", code, message));
}

HttpResponse session_not_found() {
  return error_response(404, json_rpc::http_error, "Session not found");
}

HttpResponse no_stream_wanted() {
  return error_response(406, json_rpc::bridge_error,
                        "Not Acceptable: Accept must allow text/event-stream");
}

HttpResponse full_response(std::string_view what) { return refuse_for_now(what, "5"); }

HttpResponse overloaded_response() {
  return refuse_for_now("overloaded: too much is buffered (--max-buffered)", "1");
}

}  // namespace bridge
