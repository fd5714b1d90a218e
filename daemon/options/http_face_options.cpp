#include "options/option_groups.hpp"

#include "base/start_error.hpp"
#include "downstream/http/access_check.hpp"
#include "http/server/tls_server.hpp"
#include "options/option_table.hpp"

namespace bridge {

void add_http_face_options(OptionTable& table, Options& options) {
  FaceOptions& face = options.face;
  table.group("HTTP face");
  table.parsed("--http", "[HOST]:PORT", "off",
               "Serve the session as a remote MCP server here; port 0: a free one",
               [&face](const std::string& given) {
                 face.address = parse_listen_address(given);
                 if (!face.address)
                   wrong_value("--http", given, "an address (HOST:PORT, [IPV6]:PORT, :PORT)");
               });
  table.text("--http-cert", face.certificate, "FILE", "TLS: the certificate with its chain (PEM)");
  table.text("--http-key", face.private_key, "FILE", "Its private key (PEM)");
  table.text("--http-token-file", face.token_file, "FILE",
             "The bearer token that callers must show; read again when it changes");
  table.flag("http-insecure", face.insecure,
             "Allow an address that is not loopback without TLS or without a token");
  table.list("--http-allow-origin", "ORIGIN", "Web pages of this origin may call (CORS); *: of any",
             [&face](const std::string& given) { face.allow_origins.push_back(given); });
  table.list("--http-allow-host", "HOST", "A name by which the face may be called; *: any",
             [&face](const std::string& given) { face.allow_hosts.push_back(given); });
  table.flag("http-async", face.answers_later,
             "Answer every request 202 at once and send the answer on the session's stream");
  table.duration("--http-timeout", face.timeout,
                 "How long a caller that wants JSON waits for it; then 504");
  table.choice("--http-fanout", face.fans_out_all, {{"session", false}, {"all", true}},
               "What subscribers of /mcp/stream get: session notifications and late answers, or "
               "everything");
  table.count<std::size_t>("--http-max-sessions", face.max_sessions,
                           "Sessions at a time; the one unused for longest makes room", 1, "1000");
  table.count<std::size_t>("--http-max-streams", face.max_streams,
                           "Streams opened by GET at a time", 1, "256");
  table.duration("--http-session-idle", face.session_idle,
                 "A session that is not used for so long ends");
  table.size(
      "--http-stream-buffer", face.stream_buffer,
      "Bytes that may wait for a stream that takes nothing, and kept of a session for resumption");
  table.duration("--sse-keepalive", face.keepalive, "Between comments on a quiet stream");
  table.duration(
      "--sse-idle", "off",
      "End a stream opened by GET that has said nothing but comments for so long; 0: off",
      [&face](std::chrono::milliseconds given) { face.sse_idle = given; });
}

void resolve_http_face_options(Options& options) {
  FaceOptions& face = options.face;
  face.max_frame = options.clients.max_frame;
  face.client_buffer = options.clients.buffer;
  face.stall = options.clients.stall;
  const std::string fault = fault_of(face);
  if (!fault.empty()) throw StartError(exit_code::usage, fault);
  // What its files hold is looked at now, so that --check and SIGHUP find what is wrong with them.
  if (face.address) {
    const BearerToken token(face.token_file);
    if (!token.fault().empty()) throw StartError(exit_code::configuration, token.fault());
    if (!face.certificate.empty()) TlsServer(face.certificate, face.private_key);
  }
  using std::chrono::milliseconds;
  for (const auto& [name, value] : {std::pair{"--http-timeout", face.timeout},
                                    {"--sse-keepalive", face.keepalive},
                                    {"--http-session-idle", face.session_idle}}) {
    if (value < milliseconds(10))
      throw StartError(exit_code::usage, fmt::format("{}: at least 10ms", name));
  }
  if (face.sse_idle.count() > 0 && face.sse_idle < milliseconds(10))
    throw StartError(exit_code::usage, "--sse-idle: at least 10ms, or 0 for off");
}

}  // namespace bridge
