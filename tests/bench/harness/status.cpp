#include "harness/status.hpp"

#include <charconv>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

StatusProbe::StatusProbe(const Relay& daemon) : caller_(daemon.connect()) {}

std::string_view StatusProbe::ask() {
  return caller_.call("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"bridge/status\"}\n");
}

std::size_t StatusProbe::number(std::string_view name) {
  const std::string_view status = ask();
  std::string member = "\"";
  member.append(name).append("\":");
  const std::size_t at = status.find(member);
  std::size_t value = 0;
  if (at != status.npos)
    std::from_chars(status.data() + at + member.size(), status.data() + status.size(), value);
  return value;
}

std::size_t StatusProbe::clients() {
  const std::string_view status = ask();
  std::size_t count = 0;
  for (std::size_t at = status.find("\"connectedMs\""); at != status.npos;
       at = status.find("\"connectedMs\"", at + 1))
    ++count;
  return count;
}

void wait_until(const char* what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error(std::string("still not: ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace bench
