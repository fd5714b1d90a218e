#include "make_upstream.hpp"

#include "auth/make_token_source.hpp"
#include "upstream/http_sse/sse_upstream.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {

std::unique_ptr<Upstream> make_upstream(EventLoop& loop, const UpstreamOptions& options,
                                        ByteBudget& budget, Log& log) {
  if (options.kind == UpstreamKind::child)
    return std::make_unique<ChildUpstream>(loop, options.child, budget, log);
  return std::make_unique<SseUpstream>(loop, options.http, options.auth, budget, log,
                                       options.kind == UpstreamKind::sse);
}

std::string why_no_login(const UpstreamOptions& options) {
  return options.kind == UpstreamKind::child ? "the upstream is a local process"
                                             : why_no_login(options.auth);
}

void warn_about_upstream(const UpstreamOptions& options, Log& log) {
  if (options.kind == UpstreamKind::child) return;
  const HttpOptions& http = options.http;
  const AuthOptions& auth = options.auth;
  const bool has_token = !auth.static_token.empty() || !auth.token_file.empty() ||
                         !auth.token_command.empty() || auth.uses_oauth();
  if (http.insecure) {
    log.event(
        LogLevel::warning, "insecure",
        "--insecure: the upstream's certificate is not verified; anybody on the way can read and change everything");
  }
  if (has_token && http.url.starts_with("http://") && !is_local(http)) {
    log.event(LogLevel::warning, "insecure",
              "the token goes to {} over plain http: anybody on the way can read it; use https",
              http.target);
  }
}

}  // namespace bridge
