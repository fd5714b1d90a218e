#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "harness/child.hpp"

namespace bench {
namespace {

template <class Visit>
void for_each_thread(pid_t pid, Visit visit) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) visit(task.path());
}

std::size_t field_of(const std::filesystem::path& status, const std::string& field) {
  std::ifstream file(status);
  for (std::string word; file >> word;) {
    std::size_t value = 0;
    if (word == field + ":" && file >> value) return value;
  }
  throw std::runtime_error("no " + field + " in " + status.string());
}

}  // namespace

double cpu_microseconds(pid_t pid) {
  double nanoseconds = 0;
  for_each_thread(pid, [&](const std::filesystem::path& task) {
    double ran = 0;
    if (std::ifstream(task / "schedstat") >> ran) nanoseconds += ran;
  });
  return nanoseconds / 1000;
}

std::size_t voluntary_switches(pid_t pid) {
  std::size_t sum = 0;
  for_each_thread(pid, [&](const std::filesystem::path& task) {
    sum += field_of(task / "status", "voluntary_ctxt_switches");
  });
  return sum;
}

std::size_t status_kib(pid_t pid, const std::string& field) {
  return field_of("/proc/" + std::to_string(pid) + "/status", field);
}

}  // namespace bench
