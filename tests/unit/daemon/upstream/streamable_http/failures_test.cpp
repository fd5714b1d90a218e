// BEHAVIOUR, "Errors: what errors say".
#include "upstream/streamable_http/failures.hpp"

#include <curl/curl.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "../../support/fake_token_source.hpp"
#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "http/client/curl_loop.hpp"
#include "text/base64.hpp"
#include "text/trim.hpp"
#include "upstream/streamable_http/http_context.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

/// A context that no transfer ever uses.
struct TestContext {
  explicit TestContext(HttpOptions options = {})
      : context(curl, std::move(options), token, "--token-file", budget, log) {}

  void use_token(const std::string& text) {
    source->token = text;
    token.is_there();
  }

  EventLoop loop;
  CurlLoop curl{loop};
  FakeTokenSource* source = new FakeTokenSource;  // token's
  AccessToken token{std::unique_ptr<TokenSource>(source), nullptr};
  ByteBudget budget{1 << 20};
  Log log{LogLevel::off};
  HttpContext context;
};

inline ResponseHead head_with(int status, const std::string& content_type = "application/json") {
  ResponseHead head;
  head.status = status;
  head.set_content_type(content_type);
  return head;
}

const std::string rpc_error = R"({"code": -32000, "message":"\u0062ad"})";
const std::string rpc_body = R"({"jsonrpc":"2.0","id":null,"error":)" + rpc_error + "}";

HttpOptions with_secrets() {
  HttpOptions options;
  options.headers = {"X-Api-Key: secret-key"};
  return options;
}

}  // namespace

TEST_CASE("a status without a JSON-RPC error says the status and the beginning of the body") {
  TestContext test;
  const Failure failure = failure_of_status(test.context, head_with(502, "text/plain"),
                                            "Bad\r\n\x1b[31mgateway" + std::string(500, 'x'));
  CHECK(failure.kind == ErrorKind::http);
  CHECK(failure.status == 502);
  CHECK(failure.error_object.empty());
  CHECK(failure.message.starts_with("HTTP 502: Bad\\r\\n\\u001b[31mgatewayxxx"));
  CHECK(failure.message.find_first_of("\r\n\x1b") == std::string::npos);
  CHECK(failure.message.size() <= std::string("HTTP 502: ").size() + 200 + 7);
  CHECK(failure_of_status(test.context, head_with(500), "").message == "HTTP 500");
}

TEST_CASE("white space around what a server says is not shown") {
  TestContext test;
  for (const char* body : {"no\n", "no\r\n", " no \t\r\n\r\n", "\nno"})
    CHECK(failure_of_status(test.context, head_with(500, "text/plain"), body).message ==
          "HTTP 500: no");
  const std::string error = R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no\r\n"}})";
  CHECK(failure_of_status(test.context, head_with(403), error).message == "HTTP 403: no");
}

TEST_CASE("a status that a wrong URL explains names what to change") {
  HttpOptions plain;
  plain.url = "http://a.example/mcp";
  plain.url_source = "--url";
  HttpOptions tls = plain;
  tls.url = "https://a.example/mcp";
  const struct {
    const HttpOptions& options;
    int status;
    const char* body;
    const char* advice;
  } table[] = {
      {plain, 404, "Not Found", "; check the path in --url"},
      {tls, 404, "", "; check the path in --url"},
      {plain, 404, rpc_body.c_str(), ""},
      {plain, 405, "", ""},
      {plain, 400, "The plain HTTP request was sent to HTTPS port", "https://"},
      {plain, 400, "Client sent an HTTP request to an HTTPS server.\n", "https://"},
      {plain, 400, "You're speaking plain HTTP to an SSL-enabled server port.", "https://"},
      {tls, 400, "Client sent an HTTP request to an HTTPS server.", ""},
      {plain, 400, "no", ""},
  };
  for (const auto& row : table) {
    CAPTURE(row.body);
    TestContext test(row.options);
    const Failure failure =
        failure_of_status(test.context, head_with(row.status, "text/plain"), row.body);
    const bool has_advice = failure.summary != "HTTP " + std::to_string(row.status);
    CHECK(has_advice == (*row.advice != '\0'));
    CHECK(failure.message.find(row.advice) != std::string::npos);
    CHECK(failure.summary.find(row.advice) != std::string::npos);
  }
  TestContext in_session(plain);
  in_session.context.set_session_id("x");
  CHECK(failure_of_status(in_session.context, head_with(404), "").summary == "HTTP 404");
  const auto broken = [](const HttpOptions& options, CURLcode code, std::uint64_t received) {
    TestContext test(options);
    test.context.counts().received_bytes = received;
    const auto reached = TransferProgress::Reached::request;
    return failure_of_transfer(test.context, code, {reached}).message;
  };
  for (const CURLcode code : {CURLE_UNSUPPORTED_PROTOCOL, CURLE_GOT_NOTHING, CURLE_RECV_ERROR}) {
    CHECK(broken(plain, code, 0).find("https://") != std::string::npos);
    CHECK(broken(tls, code, 0).find("https://") == std::string::npos);
  }
  CHECK(broken(plain, CURLE_GOT_NOTHING, 1).find("https://") == std::string::npos);
}

TEST_CASE("the log names the source of a refused token, and the server") {
  HttpOptions options;
  options.target = "http://a.example/mcp";
  TestContext test(options);
  CHECK(failure_of_status(test.context, head_with(401), "").summary ==
        "HTTP 401 from http://a.example/mcp, to which no token was sent");
  test.use_token("secret-token");
  CHECK(failure_of_status(test.context, head_with(403), "").summary ==
        "HTTP 403 from http://a.example/mcp, which refuses the token of --token-file");
}

TEST_CASE("a body that is not decoded is named with its coding") {
  TestContext test;
  ResponseHead head = head_with(200);
  head.complete = true;
  const auto said = [&](CURLcode code) {
    return failure_of_response(test.context, head, code, {TransferProgress::Reached::request});
  };
  head.content_encoding = "br";
  CHECK(said(CURLE_BAD_CONTENT_ENCODING).kind == ErrorKind::malformed);
  CHECK(said(CURLE_BAD_CONTENT_ENCODING).message.find("'br', which is not decoded") !=
        std::string::npos);
  head.content_encoding = "gzip";
  for (const CURLcode code : {CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR})
    CHECK(said(code).message.find("'gzip', but its body is not valid") != std::string::npos);
  CHECK(said(CURLE_PARTIAL_FILE).kind == ErrorKind::closed);
}

TEST_CASE("an error page is shown as its title, else as its first text") {
  TestContext test;
  const auto shown = [&test](std::string_view body) {
    return failure_of_status(test.context, head_with(502, "text/html"), std::string(body)).message;
  };
  CHECK(shown("<html>\n<head><title>502 Bad Gateway</title></head><h1>x</h1>") ==
        "HTTP 502: 502 Bad Gateway");
  CHECK(shown("<!doctype html><p class=\"a\">\n not here </p>") == "HTTP 502: not here");
  CHECK(shown("limit <10") == "HTTP 502: limit <10");
  for (const char* page : {"<", "<html", "<title></title>", "<p><p>", "<!--", " <a> <b> "})
    CHECK_MESSAGE(shown(page) == "HTTP 502", page);
  CHECK(shown("<h1>\x1b[31mx</h1>") == "HTTP 502: \\u001b[31mx");
}

TEST_CASE("only what was provably rejected was not delivered") {
  TestContext test;
  for (const int status : {400, 403, 404, 408, 409, 500, 502, 503, 504})
    CHECK_MESSAGE(
        failure_of_status(test.context, head_with(status), "").delivered == Delivered::unknown,
        status);
  for (const int status : {401, 429})
    CHECK_MESSAGE(failure_of_status(test.context, head_with(status), "").delivered == Delivered::no,
                  status);
  ResponseHead later = head_with(503);
  later.retry_after = 3s;
  const Failure failure = failure_of_status(test.context, later, "");
  CHECK(failure.delivered == Delivered::no);
  CHECK(failure.retry_after == 3000ms);
}

TEST_CASE("a JSON-RPC error in the body is kept byte for byte, as JSON and as SSE") {
  TestContext test;
  CHECK(failure_of_status(test.context, head_with(400), rpc_body).error_object == rpc_error);
  CHECK(failure_of_status(test.context, head_with(400), "\r\n " + rpc_body + "\n").error_object ==
        rpc_error);
  CHECK(failure_of_status(test.context, head_with(400, "text/plain"), rpc_body).error_object ==
        rpc_error);
  for (const std::string& stream :
       {"data: " + rpc_body + "\n\n", "id: 1\ndata:\n\nevent: message\ndata: " + rpc_body + "\n\n",
        "data: " + rpc_body, ": hi\r\n\r\ndata: " + rpc_body + "\r\n\r\n"})
    CHECK_MESSAGE(
        failure_of_status(test.context, head_with(400, "text/event-stream"), stream).error_object ==
            rpc_error,
        stream);
}

TEST_CASE("a pretty-printed error becomes one line") {
  TestContext test;
  const Failure failure =
      failure_of_status(test.context, head_with(400),
                        "{\n \"jsonrpc\": \"2.0\",\n \"error\": {\r\n\"code\":1 },\n \"id\": 7 }");
  CHECK(failure.error_object == "{  \"code\":1 }");
}

TEST_CASE("a body that is no JSON-RPC error is none") {
  TestContext test;
  for (const char* body :
       {"", "not found", "{\"error\":\"x\"}", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","method":"x"})", R"({"jsonrpc":"2.0","id":1,"error":{})"}) {
    CAPTURE(body);
    CHECK(failure_of_status(test.context, head_with(400), body).error_object.empty());
    CHECK(failure_of_status(test.context, head_with(400, "text/event-stream"), body)
              .error_object.empty());
  }
}

TEST_CASE("no secret gets into an error, whatever the server sends back") {
  TestContext test(with_secrets());
  test.use_token("secret-token");
  test.context.set_session_id("secret-session");
  ResponseHead head = head_with(401, "text/plain");
  head.www_authenticate = "Bearer error=\"secret-token\"";
  head.authorization_server = "https://secret-session.example";
  const Failure failure = failure_of_status(
      test.context, head, "bad secret-token, secret-key, secret-session, secret-token");
  CHECK(failure.message == "HTTP 401: bad ***, ***, ***, ***");
  CHECK(failure.www_authenticate == "Bearer error=\"***\"");
  CHECK(failure.authorization_server == "https://***.example");
}

TEST_CASE("the credentials of a configured header are secret without their scheme, too") {
  HttpOptions options;
  options.headers = {"Authorization: Bearer configured-token"};
  TestContext test(std::move(options));
  const Failure failure = failure_of_status(test.context, head_with(500),
                                            "Bearer configured-token and configured-token");
  CHECK(failure.message.find("configured") == std::string::npos);
}

TEST_CASE("a redirect that is not followed is named without what may be secret in its target") {
  HttpOptions options;
  options.url = "http://localhost:1/mcp?k=qsecret88";
  TestContext test(std::move(options));
  const std::pair<const char*, const char*> rows[] = {
      {"", "it redirects; only"},
      {"https://us:pw@Other.example/a?k=v#f", "it redirects to 'https://other.example/a'; only"},
      {"/mcp/?k=v", "it redirects to '/mcp/'; only"},
      {"/qsecret88/\x1b[31m", "it redirects to '/***/\\u001b[31m'; only"},
  };
  for (const auto& [location, said] : rows) {
    ResponseHead head = head_with(301, "text/html");
    head.location = location;
    const Failure failure = failure_of_status(test.context, head, "");
    CHECK_MESSAGE(failure.message.starts_with(std::string("HTTP 301: ") + said), failure.message);
  }
}

TEST_CASE("user, password and query of the URL are secret in each form in which they are sent") {
  HttpOptions options;
  options.url = "http://us:pw%40secret77@localhost:1/mcp?k=qsecret88&name";
  TestContext test(std::move(options));
  const std::string sent = "Basic " + base64("us:pw@secret77") +
                           " /mcp?k=qsecret88&name qsecret88 " + "us:pw%40secret77 pw@secret77";
  for (const int status : {401, 418, 500}) {
    const Failure failure = failure_of_status(test.context, head_with(status, "text/plain"), sent);
    CHECK(failure.message.starts_with(
        fmt::format("HTTP {}: Basic *** /mcp?*** *** *** ***", status)));
  }
}

TEST_CASE("no secret is shown by half where the text is cut") {
  TestContext test(with_secrets());
  test.use_token("secret-token");
  for (std::size_t before = 180; before < 200; ++before) {
    const Failure failure =
        failure_of_status(test.context, head_with(500, "text/plain"),
                          std::string(before, 'x') + "secret-token" + std::string(100, 'y'));
    CHECK(failure.message.find("secr") == std::string::npos);
  }
}

TEST_CASE("a long secret that what is looked at cuts in two is not shown by its beginning") {
  TestContext test(with_secrets());
  test.use_token(std::string(5000, 't'));
  for (const int status : {500, 403}) {
    const std::string said = "no " + std::string(5000, 't');
    const Failure failure = failure_of_status(
        test.context, head_with(status),
        status == 500 ? said
                      : R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":")" + said + "\"}}");
    CHECK(failure.message.find("tttt") == std::string::npos);
    CHECK(failure.message.find("no ***") != std::string::npos);
  }
}

TEST_CASE("a transfer that could not begin was not delivered, one that broke may have been") {
  using Reached = TransferProgress::Reached;
  HttpOptions options;
  options.target = "http://a.example/mcp";
  TestContext test(options);
  const struct {
    CURLcode code;
    ErrorKind before;
    ErrorKind after;
  } table[] = {
      {CURLE_COULDNT_RESOLVE_HOST, ErrorKind::dns, ErrorKind::closed},
      {CURLE_COULDNT_CONNECT, ErrorKind::connect, ErrorKind::closed},
      {CURLE_OPERATION_TIMEDOUT, ErrorKind::connect, ErrorKind::closed},
      {CURLE_PEER_FAILED_VERIFICATION, ErrorKind::tls, ErrorKind::tls},
      {CURLE_SSL_CONNECT_ERROR, ErrorKind::tls, ErrorKind::tls},
      {CURLE_WEIRD_SERVER_REPLY, ErrorKind::malformed, ErrorKind::malformed},
      {CURLE_RECV_ERROR, ErrorKind::connect, ErrorKind::closed},
      {CURLE_GOT_NOTHING, ErrorKind::connect, ErrorKind::closed},
      {CURLE_PARTIAL_FILE, ErrorKind::connect, ErrorKind::closed},
  };
  for (const auto& row : table) {
    CAPTURE(curl_easy_strerror(row.code));
    const Failure before = failure_of_transfer(test.context, row.code, {Reached::address});
    CHECK(before.kind == row.before);
    CHECK(before.delivered == Delivered::no);
    CHECK(before.status == 0);
    CHECK(before.message.find("http://a.example/mcp") != std::string::npos);
    const Failure after = failure_of_transfer(test.context, row.code, {Reached::request});
    CHECK(after.kind == row.after);
    CHECK(after.delivered == Delivered::unknown);
  }
}

TEST_CASE("a name that is not found is told with where it was named") {
  for (const char* source : {"--url", "MCP_SERVER_URL", "--config servers.json"}) {
    HttpOptions options;
    options.url_source = source;
    TestContext test(options);
    const Failure failure = failure_of_transfer(test.context, CURLE_COULDNT_RESOLVE_HOST,
                                                {TransferProgress::Reached::nothing});
    CHECK(failure.message.ends_with(std::string("; check the host name in ") + source));
    CHECK_FALSE(failure.definitive);
  }
  TestContext test;
  const Failure proxy = failure_of_transfer(test.context, CURLE_COULDNT_RESOLVE_PROXY,
                                            {TransferProgress::Reached::nothing});
  CHECK(proxy.message.find("HTTPS_PROXY") != std::string::npos);
}

TEST_CASE("what another try would not change is definitive") {
  TestContext test;
  const auto is_definitive = [&](CURLcode code, std::string_view detail) {
    return failure_of_transfer(test.context, code, {TransferProgress::Reached::peer, detail})
        .definitive;
  };
  CHECK(is_definitive(CURLE_PEER_FAILED_VERIFICATION, "self-signed certificate"));
  CHECK(
      is_definitive(CURLE_SSL_CONNECT_ERROR, "error:0A00010B:SSL routines::wrong version number"));
  CHECK(
      is_definitive(CURLE_SSL_CONNECT_ERROR, "error:0A000102:SSL routines::unsupported protocol"));
  CHECK(is_definitive(CURLE_SSL_CONNECT_ERROR, "tlsv1 alert protocol version"));
  CHECK(is_definitive(CURLE_SSL_CONNECT_ERROR, "sslv3 alert bad certificate"));
  CHECK_FALSE(is_definitive(CURLE_SSL_CONNECT_ERROR, "Connection reset by peer"));
  CHECK_FALSE(is_definitive(CURLE_PEER_FAILED_VERIFICATION, "Send failure: Broken pipe"));
  CHECK_FALSE(is_definitive(CURLE_OPERATION_TIMEDOUT, ""));
  CHECK_FALSE(is_definitive(CURLE_COULDNT_CONNECT, "Connection refused"));
  for (const int status : {301, 307, 501, 505})
    CHECK(failure_of_status(test.context, head_with(status), "").definitive);
  for (const int status : {429, 500, 502, 503, 504})
    CHECK_FALSE(failure_of_status(test.context, head_with(status), "").definitive);
}

TEST_CASE("401 and 403 are the bridge's own error, with the server's hints and error beside it") {
  TestContext test(with_secrets());
  test.use_token("secret-token");
  for (const int status : {401, 403}) {
    for (const char* type : {"application/json", "text/event-stream"}) {
      const std::string body =
          type == std::string("application/json") ? rpc_body : "data: " + rpc_body + "\n\n";
      ResponseHead head = head_with(status, type);
      head.www_authenticate = "Bearer resource_metadata=\"https://a.example/x\"";
      head.authorization_server = "https://b.example";
      const Failure failure = failure_of_status(test.context, head, body);
      CHECK(failure.kind == ErrorKind::auth);
      CHECK(failure.www_authenticate == head.www_authenticate);
      CHECK(failure.authorization_server == head.authorization_server);
      CHECK(failure.status == status);
      CHECK(failure.error_object.empty());
      CHECK(failure.upstream_error == rpc_error);
      CHECK(failure.message == "HTTP " + std::to_string(status) + ": bad");
    }
  }
  const Failure failure = failure_of_status(
      test.context, head_with(401),
      R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no secret-token","data":"secret-key"}})");
  CHECK(failure.message == "HTTP 401: no ***");
  CHECK(failure.upstream_error == R"({"code":1,"message":"no ***","data":"***"})");
}

TEST_CASE("an error that is no JSON without the secret in it is left out") {
  TestContext test;
  test.use_token("12345");
  const Failure failure =
      failure_of_status(test.context, head_with(401),
                        R"({"jsonrpc":"2.0","id":1,"error":{"code":12345,"message":"no"}})");
  CHECK(failure.upstream_error.empty());
  CHECK(failure.message == "HTTP 401: no");
}

TEST_CASE("how long it took to fail is left out, so that it stays one failure") {
  TestContext test;
  const auto reason = [&](std::string_view detail) {
    const std::string message = failure_of_transfer(test.context, CURLE_COULDNT_CONNECT,
                                                    {TransferProgress::Reached::address, detail})
                                    .message;
    return message.substr(message.find(": ") + 2);
  };
  CHECK(reason("Failed to connect to a port 1 after 3 ms: Couldn't connect") ==
        "Failed to connect to a port 1: Couldn't connect");
  CHECK(reason("failed after 12345 ms") == "failed");
  for (const std::string_view as_is : {"after 3 ms", "gone after  ms", "closed after 3 m", "after ",
                                       "one after another", "cut off after 3"}) {
    CHECK(reason(as_is) == trimmed(as_is));
  }
}

TEST_CASE("what was not reached in time is told by how far it came") {
  using Reached = TransferProgress::Reached;
  HttpOptions options;
  options.target = options.url = "https://a.example/mcp";
  TestContext test(options);
  const struct {
    Reached reached;
    ErrorKind kind;
    const char* words;
  } table[] = {
      {Reached::nothing, ErrorKind::dns, "name server"},
      {Reached::address, ErrorKind::connect, "no connection"},
      {Reached::peer, ErrorKind::tls, "TLS handshake"},
  };
  for (const auto& row : table) {
    CAPTURE(row.words);
    const Failure failure =
        failure_of_transfer(test.context, CURLE_OPERATION_TIMEDOUT, {row.reached});
    CHECK(failure.kind == row.kind);
    CHECK(failure.delivered == Delivered::no);
    CHECK(failure.message.find(row.words) != std::string::npos);
    CHECK(failure.message.find("--connect-timeout") != std::string::npos);
  }
}

TEST_CASE(
    "a server that refuses our certificate has not read the request that went with the handshake") {
  TestContext test;
  const Failure failure =
      failure_of_transfer(test.context, CURLE_RECV_ERROR,
                          {TransferProgress::Reached::request,
                           "OpenSSL SSL_read: ssl/tls alert certificate required, errno 0"});
  CHECK(failure.kind == ErrorKind::tls);
  CHECK(failure.delivered == Delivered::no);
}

TEST_CASE("an error that is about no request may have no id at all") {
  TestContext test;
  const auto error_in = [&test](const char* body) {
    return failure_of_status(test.context, head_with(400), body).error_object;
  };
  CHECK(error_in(R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"m"}})") ==
        R"({"code":-32000,"message":"m"})");
  // What is not JSON-RPC stays so.
  for (const char* other :
       {R"({"error":{"message":"no session"}})", R"({"jsonrpc":"2.0","error":"session"})",
        R"({"jsonrpc":"2.0","error":{"message":"session"})"})
    CHECK_MESSAGE(error_in(other).empty(), other);
}

TEST_CASE("what real servers say to a session they do not know is told from all else") {
  struct Row {
    int status;
    std::string text;
    SessionNamedBy named_by;
    SessionVerdict verdict;
    const char* who;
    bool may_have_acted = false;
  };
  const auto error = [](int code, const std::string& message) {
    return R"({"code":)" + std::to_string(code) + R"(,"message":")" + message + "\"}";
  };
  using enum SessionNamedBy;
  using enum SessionVerdict;
  const Row rows[] = {
      {404, "", header, lost, "a server that says nothing more"},
      {404, "", nothing, kept, "no such path: the message was in no session"},
      {404, "", endpoint, lost, "HTTP+SSE: the endpoint of a session that is over"},
      {404, error(-32601, "Method not found"), endpoint, lost, "and whatever it says of it"},
      {404, error(-32001, "Session not found"), header, lost, "the TypeScript SDK"},
      {404, error(-32001, "Session not found"), nothing, kept, "to a message in no session"},
      {404, error(-32600, "Session terminated"), header, lost, "the Python SDK"},
      {404, error(-32601, "Method not found"), header, kept, "a server of MCP 2026-07-28"},
      {404, error(-32601, "no such session method"), header, kept, "whatever it calls it"},
      {400, error(-32000, "Bad Request: No valid session ID provided"), header, doubtful,
       "server-everything"},
      {400, error(-32000, "Bad Request: Server not initialized"), header, doubtful,
       "the TypeScript SDK, started again"},
      {400, error(-32000, "Bad Request: Server not initialized"), nothing, kept, "without ids"},
      {400, error(-32000, "Bad Request: Mcp-Session-Id header is required"), header, doubtful,
       "the TypeScript SDK, of a header"},
      {400, error(-32000, "SESSION expired"), endpoint, doubtful, "HTTP+SSE"},
      {400, error(-32602, "Received request before initialization was complete"), header, doubtful,
       "the Python SDK"},
      {400, "Bad Request: No valid session ID provided", header, doubtful,
       "the Python SDK until January 2026: no Content-Type"},
      {400, "Invalid session ID", header, doubtful, "mcp-go: text/plain"},
      {400, R"({"error": "Invalid or missing session ID"})", header, doubtful, "JSON of its own"},
      {400, "event: message\ndata: {\"error\":{\"message\":\"Session not found\"}}\n\n", header,
       doubtful, "an event"},
      {400, "<html><title>sessionExpired</title>", header, doubtful, "a page"},
      {400, "Invalid session", endpoint, doubtful, "HTTP+SSE, while the stream is open"},
      {400, "", header, doubtful, "no text"},
      {400, error(-32600, "Invalid Request: Server already initialized"), header, unclear,
       "a second initialize"},
      {400, error(-32602, "Invalid params"), header, unclear, "any error of a request"},
      {401, R"({"error":"Unauthorized: no valid session"})", header, doubtful,
       "npm mcp-proxy: the token is good"},
      {401, "Unauthorized: session unknown", header, doubtful, "rmcp behind a gateway"},
      {401, "", header, doubtful, "no text"},
      {401, "invalid token", header, unclear, "the token"},
      {401, "", nothing, kept, "no session"},
      {403, "Session is invalid", header, doubtful, "a gateway"},
      {403, "not for you", header, unclear, "a tool that is forbidden"},
      {409, "Unknown session", header, doubtful, "a server of its own"},
      {410, "Gone", endpoint, unclear, "HTTP+SSE"},
      {410, "Session gone", endpoint, doubtful, "HTTP+SSE, said"},
      {422, "unknown session_id", header, doubtful, "a validator"},
      {500, "HTTP 400: Bad Request: No valid session ID provided", header, doubtful,
       "a gateway that quotes the refusal"},
      {500, "", header, doubtful, "a fault, without a word", true},
      {500, error(-32603, "session store is down"), header, doubtful, "a fault about sessions",
       true},
      {500, "oops", header, unclear, "a fault", true},
      {503, error(-32001, "MCP session is unknown on this API instance"), header, doubtful,
       "neotoma"},
      {502, "session not found", header, doubtful, "a gateway that passes it on"},
      {502, "Bad Gateway", header, kept, "a gateway without a server", true},
      {502, "", endpoint, kept, "the same", true},
      {440, "session has expired", header, doubtful, "a status of its own"},
      {406, "not acceptable", header, kept, "another matter"},
      {200, "Session not found", header, doubtful, "text/plain in place of an answer"},
      {200, R"({"error":"invalid session"})", endpoint, doubtful, "JSON of its own"},
      {200, "Accepted", endpoint, kept, "the message was taken"},
      {200, "", header, kept, "the same"},
      {302, "session expired", header, kept, "to a login"},
      {429, "session limit, not now", header, kept, "too many"},
      {405, "no session", header, kept, "a method of HTTP"},
  };
  for (const Row& row : rows) {
    std::string_view error_object;
    if (row.text.starts_with(R"({"code")")) error_object = row.text;
    const Refusal refusal{row.status, false, error_object, row.text, row.named_by};
    CHECK_MESSAGE(session_verdict(refusal) == row.verdict, row.who);
    CHECK_MESSAGE(may_have_acted(refusal) == row.may_have_acted, row.who);
  }
  CHECK(session_verdict({503, true, {}, "session not found", header}) == kept);
}

TEST_CASE("a server stream that was open before is not given up for one odd answer") {
  const std::string unknown = "No valid session ID provided";
  using enum StreamRefusal;
  const auto refusal = [](int status, const std::string& text, bool was_open) {
    return stream_refusal({status, false, {}, text, SessionNamedBy::header}, was_open);
  };
  for (const int status : {400, 404, 405}) {
    CAPTURE(status);
    CHECK(refusal(status, "", false) == not_offered);
  }
  CHECK(refusal(404, unknown, false) == not_offered);
  CHECK(refusal(400, unknown, false) == suspicious);
  CHECK(refusal(405, unknown, true) == not_offered);
  CHECK(refusal(404, "", true) == lost_session);
  CHECK(stream_refusal({404, false, {}, "", SessionNamedBy::nothing}, true) == passing);
  for (const int status : {400, 401, 403, 410, 500, 503}) {
    CAPTURE(status);
    CHECK(refusal(status, unknown, true) == suspicious);
    CHECK(refusal(status, "", true) == suspicious);
    CHECK(refusal(status, "another cause", true) == unclear);
  }
  CHECK(refusal(409, "", true) == passing);
  CHECK(refusal(409, "unknown session", true) == suspicious);
  CHECK(refusal(429, unknown, true) == passing);
}
