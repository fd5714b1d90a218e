#include "harness/piped_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace bench {

PipedChild::PipedChild(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("pipe");
  const Descriptor its_input(in[0]), its_output(out[1]);
  input_ = Descriptor(in[1]);
  output_ = Descriptor(out[0]);
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(its_input.get(), STDIN_FILENO);
    dup2(its_output.get(), STDOUT_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
}

PipedChild::~PipedChild() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace bench
