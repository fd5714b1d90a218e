#include "make_upstream.hpp"

#include <algorithm>
#include <string>

#include "auth/make_token_source.hpp"
#include "text/sha256.hpp"
#include "upstream/http_sse/sse_upstream.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {
namespace {

std::string without_userinfo(std::string url) {
  const auto begin = url.find("://");
  if (begin == url.npos) return url;
  const auto host = begin + 3;
  const auto end = std::min(url.find_first_of("/?#", host), url.size());
  const auto at = url.rfind('@', end);
  if (at != url.npos && at >= host && at < end) url.erase(host, at + 1 - host);
  return url;
}

}  // namespace

TargetHash hash_of_target(const UpstreamOptions& options) {
  std::string name;
  const auto add = [&name](const std::string& part) { name.append(part).push_back('\0'); };
  if (options.kind == UpstreamKind::child) {
    add("command");
    add(options.child.folder);
    for (const std::string& word : options.child.command) add(word);
  } else {
    add("url");
    add(without_userinfo(options.http.url));
    add(options.http.unix_socket);
  }
  return sha256(name);
}

std::unique_ptr<Upstream> make_upstream(EventLoop& loop, const UpstreamOptions& options,
                                        ByteBudget& budget, Log& log) {
  if (options.kind == UpstreamKind::child)
    return std::make_unique<ChildUpstream>(loop, options.child, budget, log);
  return std::make_unique<SseUpstream>(loop, options.http, options.auth, budget, log,
                                       options.kind == UpstreamKind::sse);
}

ChildUpstream* local_server_of(Upstream& upstream) {
  return dynamic_cast<ChildUpstream*>(&upstream);
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
        "--insecure: the upstream's certificate is not verified; anyone on the network path can read and change everything");
  }
  if (has_token && http.url.starts_with("http://") && !is_local(http)) {
    log.event(
        LogLevel::warning, "insecure",
        "the token is sent to {} over plain http, where anyone on the network path can read it; use https",
        http.target);
  }
}

}  // namespace bridge
