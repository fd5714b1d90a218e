#include "router/client.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "json/json_text.hpp"
#include "router/audit_trail.hpp"

namespace bridge {
namespace {

constexpr std::string_view task_id_prefix = "\"task-";

}  // namespace

void WatchedChannel::answer(std::string_view request_id, std::string frame, AnswerOrder order,
                            bool confidential) const {
  see(frame, confidential);
  if (audit_ != nullptr) audit_->answered(identity().id, request_id, frame);
  channel_.send({Delivery::Kind::response, std::move(frame), request_id, order});
}

void WatchedChannel::no_answer(std::string_view request_id) const {
  if (audit_ != nullptr) audit_->not_answered(identity().id, request_id);
  channel_.no_answer(request_id);
}

std::string JobRequest::id() const {
  const std::uint64_t raw = value_of(number);
  return about_task ? fmt::format(R"("task-{}")", raw) : std::to_string(raw);
}

JobRequest job_request_of(std::string_view raw_id) {
  JobRequest request;
  request.about_task = raw_id.starts_with(task_id_prefix);
  if (request.about_task)
    raw_id = raw_id.substr(task_id_prefix.size(), raw_id.size() - task_id_prefix.size() - 1);
  request.number = static_cast<JobNumber>(to_unsigned(raw_id).value_or(0));
  return request;
}

/// The client knows its own names of the request.
void Client::notify(const Call& call, Frame&& frame) {
  if (frame.method == "notifications/progress") {
    splice(frame.bytes, {frame.progress_token, call.progress_token});
  } else {  // a stream of an extension
    splice(frame.bytes, {frame.subscription_id, call.client_request_id});
  }
  channel.send_about(call.client_request_id, std::move(frame.bytes));
}

void WaitingFrames::push(Frame&& frame, SteadyTime now, std::unique_ptr<JobRequest> job) {
  share_.add(charge_of(frame));
  List& list = frame.is_request() ? requests_ : notifications_;
  list.emplace_back(std::move(frame), now, std::move(job), ++last_place_);
}

bool WaitingFrames::front_is_request() const {
  if (requests_.empty() || notifications_.empty()) return notifications_.empty();
  return requests_.front().place < notifications_.front().place;
}

const WaitingFrame& WaitingFrames::front() const {
  return front_is_request() ? requests_.front().content : notifications_.front().content;
}

WaitingFrame WaitingFrames::take_front() {
  List& list = front_is_request() ? requests_ : notifications_;
  return take_at(list, list.begin());
}

const WaitingFrame* WaitingFrames::find_request(std::string_view raw_id) {
  const auto found = find_id(raw_id);
  return found == by_id_.end() ? nullptr : &found->second->content;
}

WaitingFrame WaitingFrames::take_request(std::string_view raw_id) {
  return take_at(requests_, find_id(raw_id)->second);
}

/// Frames since the last cancellation are at the end of the list.
void WaitingFrames::complete_index() {
  auto next = requests_.end();
  while (next != requests_.begin() && !std::prev(next)->indexed) --next;
  for (; next != requests_.end(); ++next) {
    const std::string_view raw_id = next->content.frame.text(next->content.frame.id);
    if (!is_canonical_id(raw_id)) {
      next->canonical_id = std::make_unique<const std::string>(canonical_id(raw_id));
    }
    by_id_.emplace(key_of(*next), next);
    next->indexed = true;
  }
}

std::string_view WaitingFrames::key_of(Waiting& request) {
  if (request.canonical_id) return *request.canonical_id;
  return request.content.frame.text(request.content.frame.id);
}

WaitingFrames::Index::iterator WaitingFrames::find_id(std::string_view raw_id) {
  complete_index();
  const auto first_of = [this](std::string_view key) {
    const auto at = by_id_.lower_bound(key);
    return at != by_id_.end() && at->first == key ? at : by_id_.end();
  };
  return is_canonical_id(raw_id) ? first_of(raw_id) : first_of(canonical_id(raw_id));
}

WaitingFrame WaitingFrames::take_at(List& list, List::iterator at) {
  // However it was found, it is the first of its id.
  if (at->indexed) by_id_.erase(by_id_.lower_bound(key_of(*at)));
  share_.remove(charge_of(at->content.frame));
  WaitingFrame taken = std::move(at->content);
  list.erase(at);
  return taken;
}

}  // namespace bridge
