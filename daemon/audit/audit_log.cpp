#include "audit/audit_log.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bridge {
namespace {

/// More is not gathered in one turn.
constexpr std::size_t most_gathered = 256u << 10;

}  // namespace

AuditLog::AuditLog(EventLoop& loop, std::unique_ptr<AuditOutput> output, Log& log)
    : output_(std::move(output)), log_(log), loop_(loop), retry_(loop, [this] { retry(); }) {
  if (output_->fault().empty()) return;
  must_reopen_ = true;
  set_failing();
}

void AuditLog::append(const std::string& line) {
  if (waiting_.size() + line.size() > most_waiting) {
    ++counts_.lost;
    return;
  }
  waiting_ += line;
  if (waiting_.size() > most_gathered) write();
}

std::size_t AuditLog::append_now(std::string lines) {
  constexpr int most_waits = 5;
  write();
  for (int waits = 0; busy_since_ && waits < most_waits && output_->wait(busy_retry_time); ++waits)
    try_to_write();
  if (is_failing_ || !waiting_.empty()) return 0;
  const std::uint64_t before = counts_.written;
  waiting_ = std::move(lines);
  try_to_write();
  for (int waits = 0; busy_since_ && waits < most_waits && output_->wait(busy_retry_time); ++waits)
    try_to_write();
  // What was begun of a line has to be finished, so that the next one is one.
  if (!waiting_.empty()) waiting_.resize(done_ == 0 ? 0 : waiting_.find('\n') + 1);
  return static_cast<std::size_t>(counts_.written - before);
}

void AuditLog::write() {
  if (!waiting_.empty() && !is_failing_ && !busy_since_) try_to_write();
}

void AuditLog::write_last() {
  if (must_reopen_ && open_again() && opened_) opened_();
  for (int waits = 0; !waiting_.empty() && waits < 5; ++waits) {
    try_to_write();
    if (!output_->wait(busy_retry_time)) break;
  }
  const auto lines = std::count(waiting_.begin(), waiting_.end(), '\n');
  if (lines > 0)
    log_.event(LogLevel::error, "audit", "{} lines of the audit are not written: {}", lines,
               output_->fault());
}

void AuditLog::restore(const Saved& saved) {
  waiting_ = saved.waiting + waiting_;
  counts_.written += saved.counts.written;
  counts_.lost += saved.counts.lost;
}

void AuditLog::set_failing() {
  retry_.set_after(retry_time);
  if (std::exchange(is_failing_, true)) return;
  log_.event(LogLevel::error, "audit", "cannot write the audit: {}; retrying every {} s",
             output_->fault(), retry_time.count());
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
    if (whole > 0) busy_since_.reset();
  }
  if (!waiting_.empty()) {
    if (output_->is_busy() && !is_failing_) {
      if (!busy_since_) busy_since_ = loop_.now();
      if (loop_.now() < *busy_since_ + longest_busy) return retry_.set_after(busy_retry_time);
    }
    busy_since_.reset();
    return set_failing();
  }
  busy_since_.reset();
  if (std::exchange(is_failing_, false)) {
    if (!must_reopen_) retry_.clear();
    log_.event(LogLevel::info, "audit", "audit resumed; {} lines lost so far", counts_.lost);
  }
}

void AuditLog::retry() {
  if (must_reopen_) {
    if (open_again()) {
      if (opened_) opened_();
    } else if (must_reopen_) {
      retry_.set_after(retry_time);
    }
  }
  try_to_write();
}

/// Whether another file is open than before.
bool AuditLog::open_again() {
  const AuditOutput::Reopened reopened = output_->reopen();
  must_reopen_ = reopened == AuditOutput::Reopened::failed;
  if (reopened != AuditOutput::Reopened::another) return false;
  done_ = 0;  // a line whose beginning is in the file before stands whole in this one
  return true;
}

bool AuditLog::reopen() {
  write();
  const bool is_another = open_again();
  if (must_reopen_) {
    log_.event(LogLevel::error, "audit", "cannot reopen the audit: {}; retrying every {} s",
               output_->fault(), retry_time.count());
    retry_.set_after(retry_time);
    return false;
  }
  try_to_write();
  return is_another;
}

}  // namespace bridge
