// Looks at what the start would open, most of it for --check alone, and changes nothing.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "audit/audit_output.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/start_error.hpp"
#include "http/server/tls_server.hpp"
#include "options/option_groups.hpp"
#include "options/options.hpp"

namespace bridge {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& path,
                         const std::string& why) {
  throw StartError(exit_code::configuration,
                   fmt::format("{}: {}: {}", option, printable(path), why));
}

void check_state_folder(const std::string& given) {
  if (given.empty()) return;
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse("--state-dir", path, std::strerror(errno));
    if (const std::string fault = fault_of_place(path); !fault.empty())
      refuse("--state-dir", path, fault);
    return;
  }
  if (!S_ISDIR(status.st_mode))
    refuse("--state-dir", path, "is not a folder (symbolic links are not followed)");
  if (!is_of_owner_alone(status)) {
    refuse("--state-dir", path,
           fmt::format("other users can write to it (uid {}, mode {:04o}); chmod 0700 it",
                       status.st_uid, status.st_mode & 07777));
  }
}

void check_audit_file(const AuditOptions& audit) {
  if (audit.kind() != AuditOptions::Kind::file) return;
  if (const std::string fault = fault_of_audit_file(audit.target); !fault.empty())
    throw StartError(exit_code::configuration, "--audit: " + fault);
}

void check_pipes(const Options& options) {
  if (options.pipes.wanted) PipesFolder::check(with_pipes_path(options.pipes, options.socket.path));
}

/// A file that an option names.
struct NamedFile {
  const char* option;
  const std::string& path;
  bool is_secret;
};

std::string warning_of_mode(const NamedFile& file) {
  struct stat status {};
  if (file.path.empty() || stat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return {};
  const bool is_writable = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool is_readable = file.is_secret && (status.st_mode & S_IROTH) != 0;
  if (!is_writable && !is_readable) return {};
  return fmt::format("{}: {}: other users can {} it (mode {:04o}); chmod {} it", file.option,
                     printable(file.path), is_writable ? "write to" : "read",
                     status.st_mode & 07777, file.is_secret ? "0600" : "go-w");
}

}  // namespace

void check_certificates(const HttpOptions& http) {
  if (!http.client_certificate.empty())
    check_client_certificate(http.client_certificate, http.client_key);
  if (!http.ca_file.empty()) check_authorities(http.ca_file);
}

void check_files(Options& options, const RawOptions& raw, StartChecks& checks) {
  const HttpOptions& http = options.upstream.http;
  const OAuthOptions& oauth = options.upstream.auth.oauth;
  checks.run([&] { check_state_folder(options.state.folder); });
  checks.run([&] { check_audit_file(options.audit); });
  checks.run([&] { ListeningSocket::check(options.socket); });
  checks.run([&] { check_pipes(options); });
  if (options.frontend.socket)
    checks.run([&] { ListeningSocket::check(*options.frontend.socket); });
  const NamedFile files[] = {
      {"--config", raw.config, false},
      {"--options-file", raw.options_file, false},
      {"--input-file", raw.input_file, true},
      {"--ca-file", http.ca_file, false},
      {"--client-cert", http.client_certificate, false},
      {"--client-key", http.client_key, true},
      {"--token-file", options.upstream.auth.token_file, true},
      {"--oauth-client-secret-file", oauth.client_secret_file, true},
      {"--oauth-private-key", oauth.private_key_file, true},
      {"--http-cert", options.frontend.certificate, false},
      {"--http-key", options.frontend.private_key, true},
      {"--http-token-file", options.frontend.token_file, true},
  };
  for (const NamedFile& file : files) {
    if (std::string warning = warning_of_mode(file); !warning.empty())
      options.warnings.push_back(std::move(warning));
  }
  if (!options.peers.uids.empty() || !options.peers.gids.empty() || options.policy != nullptr)
    return;
  const std::pair<const char*, mode_t> modes[] = {
      {"--socket-mode", options.socket.mode},
      {"--pipes-mode", options.pipes.wanted ? options.pipes.mode : 0}};
  for (const auto& [option, mode] : modes) {
    if ((mode & S_IWOTH) == 0) continue;
    options.warnings.push_back(
        fmt::format("{} {:04o}: every user of this machine can use the server (--allow-uid, "
                    "--allow-gid and --policy say who)",
                    option, mode));
  }
}

}  // namespace bridge
