// The end, in its order: no new clients; those who wait are told; requests in flight get their
// grace; then the session is ended, and everybody is left.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "daemon.hpp"

namespace bridge {
namespace {

/// The end of the session may take this long after the grace; then the daemon goes anyway.
constexpr std::chrono::milliseconds delete_time{2500};
/// What the service manager is told to allow over the grace.
constexpr std::chrono::milliseconds end_timeout = 2 * delete_time;

}  // namespace

// The order: no new clients; those who wait are told; requests in flight get their grace; then the
// session is ended, and everybody is left.
void Daemon::begin_shutdown(const std::string& why) {
  ending_ = true;
  upgrade_.cancel();
  log_.event(LogLevel::info, "ending", "ending {}: {} requests in flight have {} ms", why,
             router_.in_flight(), options_.grace.count());
  supervisor_.stopping(options_.grace + end_timeout);
  supervisor_.status(fmt::format("Ending, {} requests are in flight", router_.in_flight()));
  clients_.stop_accepting();
  if (face_) face_->stop_accepting();
  if (is_kept()) jobs_.leave_unfinished();
  router_.begin_shutdown();
  if (!router_.has_requests_in_flight()) {
    end_shutdown();
    return;
  }
  router_.on_idle([this] { grace_.set(loop_.now()); });
  grace_.set_after(options_.grace);
}

void Daemon::end_shutdown() {
  if (state_) state_->begin_end();
  router_.end_shutdown(is_kept());
  jobs_.settle();
  collectors_.tell_all();
  tools_.settle();
  last_moment_.set_after(delete_time);
  if (state_ && state_->keeps_session()) upstream_->keep_session();
  session_.end([this] { leave(); });
}

void Daemon::leave() {
  clients_.flush();
  clients_.close_all();
  if (face_) face_->close_all();
  if (const std::size_t untaken = feed_.ring().untaken(); untaken > 0 && is_kept()) {
    log_.event(LogLevel::info, "notifications kept",
               "{} notifications were not taken by any client and are kept in {}", untaken,
               options_.state.folder);
  } else if (untaken > 0) {
    log_.event(LogLevel::warning, "notifications lost",
               "{} notifications were not taken by any client and are lost", untaken);
  }
  if (const std::size_t lost = jobs_.store().uncollected(); lost > 0 && !is_kept()) {
    log_.event(LogLevel::warning, "jobs lost",
               "{} jobs have ended that nobody has collected, and are lost", lost);
  }
  if (state_) state_->end();
  log_.event(LogLevel::info, "ended", "ended");
  is_over_ = true;
  loop_.stop();
}

void Daemon::end_at_once(int signal) {
  exit_code_ = 128 + signal;
  is_over_ = true;
  loop_.stop();
}

}  // namespace bridge
