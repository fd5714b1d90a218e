#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "process/command_run.hpp"

namespace bridge {

/// One run of another program with `--check-state`: can it read the state? It has 5 s, nothing of
/// ours is open in it but the state, and what it says at its end must be `proof`, which stands in
/// the state; its exit status alone says nothing.
///
/// The loop's thread only; nothing blocks. `done` comes once, from the loop, and may destroy this;
/// it gets the reason why not, or an empty text. Destruction kills the run.
class ProgramCheck {
 public:
  using Done = std::function<void(const std::string& refusal)>;

  ProgramCheck(EventLoop& loop, const Descriptor& program, const Descriptor& state,
               std::string proof, std::vector<std::string> arguments,
               std::vector<std::string> environment, Done done);

 private:
  void ended(const CommandOutput& output);

  std::string proof_;
  Done done_;
  std::unique_ptr<CommandRun> run_;
};

}  // namespace bridge
