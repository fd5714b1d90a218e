#include "downstream/http/error_response.hpp"

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"

namespace bridge {

HttpResponse error_response(int status, int code, std::string_view message) {
  return json_response(status, error_reply("null", code, message));
}

HttpResponse overloaded_response() {
  HttpResponse response = error_response(503, json_rpc::bridge_error,
                                         "overloaded: too much is buffered (--max-buffered)");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace bridge
