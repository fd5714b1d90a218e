#include "sessions.hpp"

#include <fmt/format.h>

#include <mutex>
#include <random>

namespace demo {
namespace {

std::string unguessable_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace

std::shared_ptr<Session> Sessions::create() {
  auto session = std::make_shared<Session>(unguessable_id(), rules_);
  const std::lock_guard lock(mutex_);
  sessions_.emplace(session->id(), session);
  return session;
}

std::shared_ptr<Session> Sessions::find(std::string_view id) const {
  const std::shared_lock lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Session>> Sessions::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<Session>> found;
  for (const auto& [id, session] : sessions_) found.push_back(session);
  return found;
}

bool Sessions::remove(std::string_view id) {
  std::shared_ptr<Session> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return false;
    removed = found->second;
    sessions_.erase(found);
  }
  removed->close();
  return true;
}

std::size_t Sessions::remove_all(bool keep_streams) {
  decltype(sessions_) removed;
  {
    const std::lock_guard lock(mutex_);
    removed.swap(sessions_);
  }
  for (const auto& [id, session] : removed) session->close(keep_streams);
  return removed.size();
}

}  // namespace demo
