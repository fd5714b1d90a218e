#include "process/descriptor_limit.hpp"

#include <algorithm>

namespace bridge {
namespace {

/// Standard streams, the loop, signals, sockets that listen, the log, files and folders in passing,
/// name services, a token command's pipes.
constexpr std::size_t own_descriptors = 64;

}  // namespace

std::size_t DescriptorNeeds::all() const { return own_descriptors + clients + upstream + face; }

std::size_t DescriptorNeeds::face_share(std::size_t limit) const {
  const std::size_t others = all() - face;
  const std::size_t left = limit > others ? limit - others : 0;
  return std::min(face, std::max({left, limit / 8, std::size_t{1}}));
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

std::size_t descriptor_limit() {
  rlimit now{};
  return getrlimit(RLIMIT_NOFILE, &now) == 0 ? static_cast<std::size_t>(now.rlim_cur) : 1024;
}

}  // namespace bridge
