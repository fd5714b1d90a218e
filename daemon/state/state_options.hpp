#pragma once

#include <string>

namespace bridge {

/// What the state survives.
enum class Sync {
  process,  ///< the end of the process, whatever ended it
  power,    ///< that of the machine as well
};

struct StateOptions {
  std::string folder;  ///< --state-dir; empty: none is kept
  Sync sync = Sync::process;
  bool keep_session = true;  ///< --at-end keep: at an orderly end it stays open at the server
};

}  // namespace bridge
