#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/log.hpp"

namespace bridge {

/// Whether `variable` (JOURNAL_STREAM, `device:inode`) names this file: systemd.exec(5),
/// "Environment variables set or propagated by the service manager".
bool names_file(std::string_view variable, dev_t device, ino_t inode);

/// Whether stderr goes to the journal: then a line may begin with its priority.
bool stderr_is_journal();

/// `<N>`, the priority that the journal takes off the line: sd-daemon(3).
std::string_view journal_prefix(LogLevel level);

}  // namespace bridge
