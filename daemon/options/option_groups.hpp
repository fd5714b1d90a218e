#pragma once

#include <string>

#include "options/options.hpp"

namespace bridge {

class OptionBuilder;

/// Texts that become options only when all of them are known.
struct RawOptions {
  std::string url, mode = "0600", options_file, client_capabilities;
};

// The groups of --help, each with its file. settle_… checks and converts what its group has read;
// throws StartError.
void add_upstream_options(OptionBuilder& build, Options& options, RawOptions& raw);
void add_trust_options(OptionBuilder& build, Options& options);
void settle_upstream_options(Options& options, const RawOptions& raw);

void add_session_options(OptionBuilder& build, Options& options, RawOptions& raw);
void settle_session_options(Options& options, const RawOptions& raw);

void add_client_options(OptionBuilder& build, Options& options, RawOptions& raw);
void add_ring_options(OptionBuilder& build, Options& options);
void settle_client_options(Options& options, const RawOptions& raw);

void add_http_face_options(OptionBuilder& build, Options& options);
void settle_http_face_options(Options& options);

void add_running_options(OptionBuilder& build, Options& options, RawOptions& raw);

}  // namespace bridge
