#include "process/process_usage.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace bridge {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// The second number of /proc/self/statm, proc(5), is in pages.
std::size_t resident_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"),
                                                             &std::fclose);
  std::array<char, 128> line;
  if (!file || std::fgets(line.data(), line.size(), file.get()) == nullptr) return 0;
  const char* const second = std::strchr(line.data(), ' ');
  unsigned long pages = 0;
  if (second != nullptr) std::from_chars(second + 1, second + std::strlen(second), pages);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Less the one that looking takes.
std::size_t open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  if (!folder) return 0;
  std::size_t count = 0;
  while (const dirent* entry = readdir(folder.get())) count += entry->d_name[0] != '.' ? 1 : 0;
  return count > 0 ? count - 1 : 0;
}

}  // namespace

ProcessUsage process_usage() {
  ProcessUsage usage;
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) == 0)
    usage.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  usage.resident_bytes = resident_bytes();
  usage.open_descriptors = open_descriptors();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) usage.max_descriptors = limit.rlim_cur;
  return usage;
}

}  // namespace bridge
