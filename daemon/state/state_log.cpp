#include "state/state_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace bridge {
namespace {

constexpr std::size_t step_bytes = 256u << 10;
/// So much beyond twice of what it keeps is worth writing it anew.
constexpr std::size_t worth_writing_anew = 512u << 10;

std::uint64_t draw_salt() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

StateLog::StateLog(EventLoop& loop, StateFolder& folder, const TargetHash& target, Sync sync,
                   StateSource& source, Log& log)
    : loop_(loop),
      folder_(folder),
      target_(target),
      sync_(sync),
      source_(source),
      log_(log),
      timer_(loop, [this] { timer_fired(); }) {}

bool StateLog::go_on(Descriptor file, const LogHeader& header, std::uint64_t size) {
  if (ftruncate(file.get(), static_cast<off_t>(size)) != 0) return false;
  current_.emplace(std::move(file), header, size);
  // Of a daemon that died while it wrote one, or before it could remove the other.
  folder_.remove("state.new");
  folder_.remove("state.stale");
  return true;
}

void StateLog::begin() {
  if (!begin_anew()) return;
  while (next_) step();
}

void StateLog::append_payload(std::uint32_t type, std::string_view payload) {
  if (current_) current_->append(type, payload);
  if (!next_) return;
  next_->append(type, payload);
  appended_ += record_size(payload.size());
}

void StateLog::write() {
  if (next_) step();
  write_now();
  if (current_ && !next_ && !timer_.is_set() && is_too_large()) begin_anew();
  if (next_) timer_.set(loop_.now());
}

void StateLog::write_now() {
  if (current_ && current_->has_gathered() &&
      (!current_->write() || (sync_ == Sync::power && !current_->sync())))
    fail();
}

bool StateLog::is_too_large() const {
  const std::size_t kept = source_.saved_bytes();
  return current_->size() > worth_writing_anew + 2 * kept;
}

/// False if there is no room for it, or no right.
bool StateLog::begin_anew() {
  LogHeader header;
  header.target = target_;
  header.salt = draw_salt();
  Descriptor file = folder_.create("state.new");
  if (!file) {
    give_up_new_one();
    return false;
  }
  next_.emplace(std::move(file), header);
  appended_ = 0;
  source_.begin_snapshot();
  return true;
}

/// More than what has come in meanwhile, so that it comes to an end.
void StateLog::step() {
  const bool more =
      source_.continue_snapshot(*next_, std::max(step_bytes, 2 * std::exchange(appended_, 0)));
  if (!next_->write() || (sync_ == Sync::power && !next_->sync())) {
    give_up_new_one();
  } else if (!more) {
    finish();
  }
}

void StateLog::finish() {
  if (!folder_.rename("state.new", "state")) {
    give_up_new_one();
    return;
  }
  current_ = std::exchange(next_, std::nullopt);
  if (sync_ == Sync::power && !folder_.sync()) {
    fail();
    return;
  }
  error_.clear();
  timer_.clear();
  ++rewrites_;
  folder_.remove("state.stale");
  if (std::exchange(has_failed_, false))
    log_.event(LogLevel::info, "state written again", "state saved again in {}", folder_.path());
}

/// The log cannot be written: from now on what happens is in memory only. What was durable stays,
/// as `state.stale`.
void StateLog::fail() {
  const int error = errno;
  error_ = std::strerror(error);
  ++failures_;
  current_.reset();
  const bool is_marked = folder_.rename("state", "state.stale");
  if (next_) folder_.remove("state.new");
  next_.reset();
  has_failed_ = true;
  log_.event(LogLevel::error, "state not written",
             "state not saved: {} in {}; what happens from now on is lost if the daemon ends. {}; "
             "a new one is tried every {} s",
             error_, folder_.path(),
             is_marked ? "What was saved before is kept in state.stale"
                       : "What was saved before could not be renamed to state.stale",
             next_try.count());
  timer_.set_after(next_try);
}

/// The one that is there, if there is one, goes on.
void StateLog::give_up_new_one() {
  const int error = errno;
  next_.reset();
  folder_.remove("state.new");
  if (!current_) {
    error_ = std::strerror(error);
    if (!std::exchange(has_failed_, true)) {
      ++failures_;
      log_.event(LogLevel::error, "state not written",
                 "state not saved: {} in {}; what happens is lost if the daemon ends; it is tried "
                 "again every {} s",
                 error_, folder_.path(), next_try.count());
    }
  }
  timer_.set_after(next_try);
}

void StateLog::timer_fired() {
  if (!next_ && (!current_ || is_too_large())) begin_anew();
  write();
}

StateReport StateLog::report() const {
  return {is_durable(), current_ ? current_->size() : 0, failures_, rewrites_, error_};
}

}  // namespace bridge
