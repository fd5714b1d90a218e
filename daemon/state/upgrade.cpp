#include "state/upgrade.hpp"

#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "process/process_start.hpp"
#include "state/memory_file.hpp"
#include "state/named_descriptors.hpp"
#include "state/program_file.hpp"

namespace bridge {
namespace {

/// For the upstream to be told of what was given up.
constexpr std::chrono::milliseconds last_words_time{500};

}  // namespace

Upgrade::Upgrade(EventLoop& loop, Upgradable& daemon, Log& log)
    : loop_(loop), daemon_(daemon), log_(log), timer_(loop, [this] { time_is_over(); }) {}

void Upgrade::begin() {
  if (phase_ != Phase::idle) {
    log_.event(LogLevel::info, "upgrade", "SIGUSR2: an upgrade is under way already: ignored");
    return;
  }
  UpgradeOrder order = daemon_.order_upgrade();
  if (!order.fault.empty()) {
    fail(order.fault);
    return;
  }
  auto opened = open_program(order.program);
  if (const auto* reason = std::get_if<std::string>(&opened)) {
    fail(*reason);
    return;
  }
  program_ = std::move(std::get<Descriptor>(opened));
  std::vector<std::string> arguments = redacted_arguments(order.arguments);
  const Descriptor file = make_memory_file(order.snapshot);
  if (!file) {
    fail(std::strerror(errno));
    return;
  }
  phase_ = Phase::checking;
  log_.event(LogLevel::info, "upgrade", "SIGUSR2: can {} go on with what is here?", order.program);
  arguments.insert(arguments.begin() + 1, {std::string(check_option), "3"});
  check_ =
      std::make_unique<ProgramCheck>(loop_, program_, file, std::move(order.proof),
                                     std::move(arguments), environment_of_loader(order.environment),
                                     [this](const std::string& refusal) { checked(refusal); });
}

void Upgrade::checked(const std::string& refusal) {
  if (!refusal.empty()) {
    fail(refusal);
    return;
  }
  phase_ = Phase::resting;
  daemon_.pause();
  timer_.set_after(daemon_.grace());
}

// What follows has a turn of its own.
void Upgrade::look() {
  if ((phase_ == Phase::resting || phase_ == Phase::ending) && daemon_.is_quiet())
    timer_.set_at_latest(loop_.now());
}

void Upgrade::time_is_over() {
  if (phase_ == Phase::resting) {
    phase_ = Phase::ending;
    daemon_.end_unfinished();
    timer_.set_after(last_words_time);
  } else if (phase_ == Phase::ending) {
    phase_ = Phase::ready;
    daemon_.stop_for_upgrade();
  }
}

void Upgrade::cancel() {
  const bool was_paused = phase_ >= Phase::resting;
  phase_ = Phase::idle;
  check_.reset();
  program_ = {};
  timer_.clear();
  if (was_paused) daemon_.resume();
}

void Upgrade::fail(std::string_view why) {
  const std::string reason = printable(why, 600);
  log_.event(LogLevel::error, "upgrade", "SIGUSR2: not upgraded, all goes on as before: {}",
             reason);
  cancel();
  daemon_.upgrade_failed(reason);
}

NextImage Upgrade::next_image(const UpgradeOrder& order, const Descriptor& file) const {
  NextImage next;
  next.program = program_.get();
  next.arguments = redacted_arguments(order.arguments);
  next.arguments.insert(next.arguments.begin() + 1,
                        {std::string(take_over_option), std::to_string(file.get())});
  next.environment = environment_of_loader(order.environment);
  next.descriptors = order.descriptors;
  next.descriptors.push_back(file.get());
  for (const int one : named_descriptors(order.arguments)) next.descriptors.push_back(one);
  return next;
}

void Upgrade::replace() {
  const UpgradeOrder order = daemon_.order_upgrade();
  if (!order.fault.empty()) {
    fail(order.fault);
    return;
  }
  const Descriptor file = make_memory_file(order.snapshot);
  if (file) replace_image(next_image(order, file));
  fail(std::strerror(errno));
}

}  // namespace bridge
