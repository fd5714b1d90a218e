#pragma once

#include <string>

namespace bridge {

struct AuditOptions {
  std::string target;      ///< --audit: a file's path, or `journal`; empty: there is none
  bool arguments = false;  ///< --audit-arguments
  bool required = false;   ///< --audit-required
};

}  // namespace bridge
