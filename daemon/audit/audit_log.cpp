#include "audit/audit_log.hpp"

#include <string_view>
#include <utility>

namespace bridge {
namespace {

/// More is not gathered in one turn.
constexpr std::size_t most_gathered = 256u << 10;

}  // namespace

AuditLog::AuditLog(EventLoop& loop, std::unique_ptr<AuditOutput> output, Log& log)
    : output_(std::move(output)), log_(log), retry_(loop, [this] { try_to_write(); }) {}

void AuditLog::append(const std::string& line) {
  if (waiting_.size() + line.size() > most_waiting) {
    ++counts_.lost;
    return;
  }
  waiting_ += line;
  if (waiting_.size() > most_gathered) write();
}

std::size_t AuditLog::append_now(std::string lines) {
  write();
  if (is_failing_) return 0;
  const std::uint64_t before = counts_.written;
  waiting_ = std::move(lines);
  try_to_write();
  // What was begun of a line has to be finished, so that the next one is one.
  if (!waiting_.empty()) waiting_.resize(done_ == 0 ? 0 : waiting_.find('\n') + 1);
  return static_cast<std::size_t>(counts_.written - before);
}

void AuditLog::write() {
  if (!waiting_.empty() && !is_failing_) try_to_write();
}

void AuditLog::try_to_write() {
  if (!waiting_.empty()) {
    const std::size_t written = done_ + output_->write(std::string_view(waiting_).substr(done_));
    const std::string_view there = std::string_view(waiting_).substr(0, written);
    const auto line_end = there.find_last_of('\n');
    const std::size_t whole = line_end == there.npos ? 0 : line_end + 1;
    for (auto end = there.find('\n'); end != there.npos; end = there.find('\n', end + 1))
      ++counts_.written;
    waiting_.erase(0, whole);
    done_ = written - whole;
  }
  if (!waiting_.empty()) {
    retry_.set_after(retry_time);
    if (std::exchange(is_failing_, true)) return;
    log_.event(LogLevel::error, "audit", "cannot write the audit: {}; retrying every {} s",
               output_->fault(), retry_time.count());
  } else if (std::exchange(is_failing_, false)) {
    retry_.clear();
    log_.event(LogLevel::info, "audit", "audit resumed; {} lines lost so far", counts_.lost);
  }
}

bool AuditLog::reopen() {
  write();
  const AuditOutput::Reopened reopened = output_->reopen();
  if (reopened == AuditOutput::Reopened::failed) {
    log_.event(LogLevel::error, "audit", "cannot reopen the audit: {}", output_->fault());
    return false;
  }
  // A line whose beginning is in the file before stands whole in this one.
  if (reopened == AuditOutput::Reopened::another) done_ = 0;
  try_to_write();
  return reopened == AuditOutput::Reopened::another;
}

}  // namespace bridge
