#pragma once

#include <optional>
#include <string>

#include "event_stream.hpp"

namespace demo {

enum class Answers { kAuto, kJson, kSse };

struct Options {
  int port = 0;
  bool stateless = false;
  bool server_stream = true;
  Answers answers = Answers::kAuto;
  StreamRules streams;
  std::string token;
  int unknown_session_status = 404;
  bool unknown_session_as_events = false;  ///< the 400 as an event stream
  int page_size = 0;
  int keep_alive_seconds = 600;
  bool log = true;
  bool help = false;
};

/// The output of `--help`.
extern const char* const kHelp;

/// nullopt if they are wrong; `error` is then the reason, in one line.
std::optional<Options> parse_options(int argc, char** argv, std::string& error);

}  // namespace demo
