#include "process/resources.hpp"

#include <dirent.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace bridge {
DescriptorShares DescriptorShares::within(std::size_t limit) const {
  DescriptorShares shares = *this;
  const auto take = [&](std::size_t& share, std::size_t at_least) {
    const std::size_t excess = shares.all() > limit ? shares.all() - limit : 0;
    share -= std::min(excess, share - std::min(share, std::max(at_least, std::size_t{1})));
  };
  take(shares.frontend, limit / 8);
  take(shares.clients, limit / 8);
  take(shares.metrics, 2);
  take(shares.upstream, limit / 4);
  take(shares.own, limit * 3 / 8);
  return shares;
}

rlimit raise_descriptor_limit(std::size_t needed) {
  rlimit before{};
  if (getrlimit(RLIMIT_NOFILE, &before) != 0) return {RLIM_INFINITY, RLIM_INFINITY};
  rlimit raised = before;
  raised.rlim_cur = std::min<rlim_t>(before.rlim_max, std::max<rlim_t>(before.rlim_cur, needed));
  setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

void limit_descriptors(const rlimit& limit) {
  if (limit.rlim_max > 0) setrlimit(RLIMIT_NOFILE, &limit);
}

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// The second number of /proc/self/statm, proc(5), in pages.
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

/// Without the descriptor used for counting.
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

namespace {

constexpr std::chrono::milliseconds quiet_time{1000};

}  // namespace

HeapTrimmer::HeapTrimmer(EventLoop& loop, ByteBudget& budget)
    : budget_(budget), timer_(loop, [this] { trim(); }) {}

void HeapTrimmer::begin() {
  budget_.take_peak();
  timer_.set_after(quiet_time);
}

void HeapTrimmer::trim() {
  if (is_worth_it()) return;  // the burst continues: look() begins again at the end of this turn
  return_memory();
}

void HeapTrimmer::return_memory() {
  budget_.take_released();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace bridge
