#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "audit/audit_output.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// What was counted of the audit.
struct AuditCounts {
  std::uint64_t written = 0;  ///< lines
  std::uint64_t lost = 0;     ///< lines that no room was left for while it could not be written
};

/// The lines of the audit on their way to the output: gathered, and written once a turn. While they
/// cannot be written they wait, up to most_waiting, and it is tried again every retry_time.
///
/// Owned by the daemon; the loop's thread only.
class AuditLog {
 public:
  static constexpr std::size_t most_waiting = 1u << 20;
  static constexpr std::chrono::seconds retry_time{10};

  AuditLog(EventLoop& loop, std::unique_ptr<AuditOutput> output, Log& log);

  /// `line` with its line end.
  void append(const std::string& line);
  /// Writes these lines now, after what waits. Returns how many of them are there; the others will
  /// not be, but for one of which a part is.
  std::size_t append_now(std::string lines);
  /// The end of a turn.
  void write();
  /// SIGHUP. Whether the lines that follow go elsewhere than those before.
  bool reopen();

  bool is_failing() const { return is_failing_; }
  const AuditCounts& counts() const { return counts_; }

 private:
  void try_to_write();

  std::unique_ptr<AuditOutput> output_;
  Log& log_;
  std::string waiting_;   ///< whole lines
  std::size_t done_ = 0;  ///< so much of the first of them was written
  bool is_failing_ = false;
  AuditCounts counts_;
  DeadlineTimer retry_;
};

}  // namespace bridge
