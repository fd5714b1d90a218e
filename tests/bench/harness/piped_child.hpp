#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/descriptor.hpp"

namespace bench {

/// A process whose stdin and stdout are pipes of ours. Killed on destruction, and if we die.
class PipedChild {
 public:
  explicit PipedChild(const std::vector<std::string>& command);
  ~PipedChild();
  PipedChild(const PipedChild&) = delete;
  PipedChild& operator=(const PipedChild&) = delete;

  int input() const { return input_.get(); }
  int output() const { return output_.get(); }

 private:
  pid_t pid_ = -1;
  Descriptor input_;
  Descriptor output_;
};

}  // namespace bench
