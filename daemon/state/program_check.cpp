#include "state/program_check.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"
#include "process/spawn_shell.hpp"
#include "state/named_descriptors.hpp"
#include "state/program_file.hpp"

namespace bridge {
namespace {

constexpr std::chrono::milliseconds longest_check{5000};
constexpr int state_place = 3;
constexpr int program_place = 4;

}  // namespace

ProgramCheck::ProgramCheck(EventLoop& loop, const Descriptor& program, const Descriptor& state,
                           std::string proof, std::vector<std::string> arguments,
                           std::vector<std::string> environment, Done done)
    : proof_(std::move(proof)), done_(std::move(done)) {
  ProcessOrder order;
  order.path = fmt::format("/proc/self/fd/{}", program_place);
  order.arguments = std::move(arguments);
  order.environment = std::move(environment);
  order.handed = {{state.get(), state_place}, {program.get(), program_place}};
  // At their own places, which they are named by.
  for (const int one : named_descriptors(order.arguments)) {
    if (one == order.handed.back().second + 1) order.handed.emplace_back(one, one);
  }
  CommandLimits limits;
  limits.time = longest_check;
  limits.out = 4096;
  const FileCapabilitiesOff during_the_start;
  run_ = std::make_unique<CommandRun>(loop, spawn_process(order), limits,
                                      [this](const CommandOutput& output) { ended(output); });
}

void ProgramCheck::ended(const CommandOutput& output) {
  std::string refusal;
  if (!output.fault.empty()) {
    refusal = output.fault;
  } else if (output.out != proof_ + "\n") {
    refusal = "it has not shown that it read the state";
  }
  if (!refusal.empty() && !output.err.empty()) refusal += ": " + printable(output.err, 400);
  const Done done = std::move(done_);
  done(refusal);
}

}  // namespace bridge
