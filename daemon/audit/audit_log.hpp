#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "audit/audit_output.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// What was counted of the audit.
struct AuditCounts {
  std::uint64_t written = 0;  ///< lines
  std::uint64_t lost = 0;     ///< lines that no room was left for while it could not be written

  template <class A>
  void each_field(A& archive) {
    archive(written, lost);
  }
};

/// The lines of the audit on their way to the output: gathered, and written once a turn. While they
/// cannot be written they wait, up to most_waiting, and it is tried again every retry_time.
///
/// Owned by the daemon; the loop's thread only.
class AuditLog {
 public:
  static constexpr std::size_t most_waiting = 1u << 20;
  static constexpr std::chrono::seconds retry_time{10};
  /// A reader that is behind (AuditOutput::is_busy()) is tried again so soon, and so long.
  static constexpr std::chrono::milliseconds busy_retry_time{20};
  static constexpr std::chrono::seconds longest_busy{5};

  /// What it has not written, for an upgrade.
  struct Saved {
    std::string waiting;  ///< whole lines
    AuditCounts counts;

    template <class A>
    void each_field(A& archive) {
      archive(waiting, counts);
    }
  };

  /// An output that has a fault is opened again every retry_time.
  AuditLog(EventLoop& loop, std::unique_ptr<AuditOutput> output, Log& log);
  /// Called when a retry has opened another file than before.
  void on_another_file(std::function<void()> opened) { opened_ = std::move(opened); }

  /// `line` with its line end.
  void append(const std::string& line);
  /// Writes these lines now, after what waits. Returns how many of them are there; the others will
  /// not be, but for one of which a part is.
  std::size_t append_now(std::string lines);
  /// The end of a turn.
  void write();
  /// The daemon ends or is upgraded: tries once more whatever could not be written.
  void write_last();
  /// SIGHUP. Whether the lines that follow go elsewhere than those before; else it is tried again
  /// every retry_time, and until then the lines go where they went.
  bool reopen();

  /// Lines, or the file that SIGHUP asked for, cannot be written.
  bool is_failing() const { return is_failing_ || must_reopen_; }
  /// REQUIRES: write_last().
  Saved save() const { return {waiting_, counts_}; }
  void restore(const Saved& saved);
  const AuditCounts& counts() const { return counts_; }

 private:
  void try_to_write();
  void retry();
  bool open_again();
  void set_failing();

  std::unique_ptr<AuditOutput> output_;
  std::function<void()> opened_;
  Log& log_;
  std::string waiting_;   ///< whole lines
  std::size_t done_ = 0;  ///< so much of the first of them was written
  bool is_failing_ = false;
  bool must_reopen_ = false;
  std::optional<SteadyTime> busy_since_;
  const EventLoop& loop_;
  AuditCounts counts_;
  DeadlineTimer retry_;
};

struct AuditOptions {
  enum class Kind : std::uint8_t { none, journal, output, error, file };
  std::string target;      ///< --audit: a file's path, `journal`, `stdout` or `stderr`; empty: none
  bool arguments = false;  ///< --audit-arguments
  bool required = false;   ///< --audit-required

  Kind kind() const {
    if (target.empty()) return Kind::none;
    if (target == "journal") return Kind::journal;
    if (target == "stdout") return Kind::output;
    return target == "stderr" ? Kind::error : Kind::file;
  }
};

}  // namespace bridge
