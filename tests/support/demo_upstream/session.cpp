#include "session.hpp"

namespace demo {
namespace {
constexpr std::size_t kMaxStoredStreams = 256;
}

Session::Session(std::string id, StreamRules rules)
    : id_(std::move(id)),
      rules_(rules),
      server_stream_(std::make_shared<EventStream>("0", rules)) {}

std::shared_ptr<EventStream> Session::new_stream() {
  const std::lock_guard lock(mutex_);
  auto stream = std::make_shared<EventStream>(std::to_string(++streams_made_), rules_);
  if (!rules_.event_ids) return stream;
  streams_.push_back(stream);
  if (streams_.size() > kMaxStoredStreams) streams_.pop_front();
  return stream;
}

std::shared_ptr<EventStream> Session::find_stream(std::string_view key) {
  if (key == server_stream_->key()) return server_stream_;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) {
    if (stream->key() == key) return stream;
  }
  return nullptr;
}

std::shared_ptr<Call> Session::begin_call(std::string_view id) {
  const std::lock_guard lock(mutex_);
  auto call = std::make_shared<Call>();
  if (closed_) call->cancel();
  calls_.emplace(id, call);
  return call;
}

void Session::end_call(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  std::erase_if(calls_, [&](const auto& entry) { return entry.second == call; });
  std::erase_if(waiting_, [&](const auto& entry) { return entry.second == call; });
}

void Session::cancel(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = calls_.equal_range(id);
  for (auto entry = first; entry != last; ++entry) entry->second->cancel();
}

std::size_t Session::calls() {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

std::string Session::expect_answer(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  auto id = std::to_string(requests_made_++);
  waiting_.emplace(id, call);
  return id;
}

void Session::deliver_answer(std::string_view id, std::string_view body) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  found->second->answer(body);
  waiting_.erase(found);
}

void Session::close(bool keep_streams) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [id, call] : calls_) call->cancel();
  if (keep_streams) return;
  server_stream_->finish();
  for (const auto& stream : streams_) stream->finish();
}

}  // namespace demo
