#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/start_error.hpp"
#include "options/options.hpp"

namespace bridge {

class OptionTable;

/// Values that become options only when all of them are known.
struct RawOptions {
  std::string url, mode = "0600", pipes_mode = "0700", options_file, client_capabilities;
  std::string owner, group;  ///< of the socket
  std::string policy;
  std::string config, server, input_file;
  std::vector<std::string> command;            ///< the words after `--`
  std::map<std::string, std::string> inputs;   ///< --input
  std::map<std::string, std::string> answers;  ///< given on the terminal, for inputs
  bool url_on_command_line = false;
  bool config_on_command_line = false;
  bool may_ask = false;  ///< for an input, on the terminal
  bool help = false;
  bool version = false;
};

/// Adds all options of mcp-bridged, and the command after `--`, in the order of --help.
void name_options(OptionTable& table, Options& options, RawOptions& raw);

// The groups of --help, each with its file. resolve_… checks and converts the values of its group;
// throws StartError.
void add_upstream_options(OptionTable& table, Options& options, RawOptions& raw);
void add_trust_options(OptionTable& table, Options& options);
void resolve_upstream_options(Options& options, RawOptions& raw,
                              std::map<std::string, std::string>& given);

void add_child_options(OptionTable& table, Options& options);
void resolve_child_options(Options& options);

void add_config_options(OptionTable& table, RawOptions& raw);
/// REQUIRES: --config. Fills the upstream, and adds its definition to `given`, for SIGHUP to
/// compare.
void resolve_config(Options& options, RawOptions& raw, std::map<std::string, std::string>& given);

void add_session_options(OptionTable& table, Options& options, RawOptions& raw);
void resolve_session_options(Options& options, const RawOptions& raw);

void add_client_options(OptionTable& table, Options& options, RawOptions& raw);
void add_ring_options(OptionTable& table, Options& options);
void resolve_client_options(Options& options, const RawOptions& raw);

void add_job_options(OptionTable& table, Options& options);
/// REQUIRES: the options of the upstream and of the HTTP frontend are resolved.
void resolve_job_options(Options& options);

void add_http_frontend_options(OptionTable& table, Options& options);
void resolve_http_frontend_options(Options& options);

void add_running_options(OptionTable& table, Options& options, RawOptions& raw);
void resolve_running_options(const Options& options);

/// Sets `trust`. Throws StartError (78) for a certificate, key or list of authorities that cannot
/// be used.
void read_certificates(HttpOptions& http);
/// Throws the same.
void check_certificates(const HttpOptions& http);
/// --check, in addition: files, folders and sockets are such that the start can use them, or
/// StartError is thrown by one of the checks; adds warnings about who else may use them. Changes
/// nothing.
void check_files(Options& options, const RawOptions& raw, StartChecks& checks);

/// An HTTP header as curl takes it. Throws StartError with `code`, which begins with `option` and
/// contains no value, if the name is invalid or the value has a control character.
std::string header_line(const std::string& name, const std::string& value,
                        const std::string& option, int code);

}  // namespace bridge
