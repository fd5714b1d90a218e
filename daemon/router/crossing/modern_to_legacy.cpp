#include "router/crossing/modern_to_legacy.hpp"

#include <utility>

#include "base/random.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {
namespace {

std::size_t size_of(const ModernToLegacy::End& end) {
  const auto* response = std::get_if<Frame>(&end);
  return response != nullptr ? response->bytes.size() : 0;
}

std::string response_of(UpstreamId id, const ModernToLegacy::End& end) {
  if (const auto* response = std::get_if<Frame>(&end)) return response->bytes;
  const auto& failure = std::get<Ending>(end).failure;
  return error_reply(std::to_string(value_of(id)),
                     failure ? *failure
                             : failure_of(ErrorKind::closed, Delivered::unknown,
                                          "the stream of the answer ended without it"));
}

}  // namespace

void ModernToLegacy::take_request(const Frame& request) {
  declared_ = {};
  declared_.initialize(request.text(request.reserved.client_capabilities));
  declared_.initialized();
  undeclared_.clear();
  undeclared_by_one_of_several_ = false;
  const bool may_be_asked = may_require_input(request.method) && declared_.has_capabilities();
  digest_ = may_be_asked ? request_digest(request) : 0;
}

bool ModernToLegacy::is_of(const Frame& request) const {
  return digest_ == request_digest(request);
}

void ModernToLegacy::note_undeclared(std::string_view method, AskedFor asked,
                                     bool by_one_of_several) {
  if (declared_.covers(method, asked)) return;
  undeclared_ = capabilities_for(asked);
  undeclared_by_one_of_several_ = by_one_of_several;
}

void ModernToLegacy::clear_undeclared_of(const ModernToLegacy& other) {
  if (!undeclared_by_one_of_several_ || undeclared_ != other.undeclared_) return;
  undeclared_.clear();
  undeclared_by_one_of_several_ = false;
}

Frame ModernToLegacy::to_client(Frame response, std::string_view method) const {
  if (!undeclared_.empty() && has_failed(response))
    return missing_capability(response, undeclared_, undeclared_by_one_of_several_);
  return for_modern_client(std::move(response), method,
                           declared_.covers("elicitation/create", AskedFor::elicitation_url));
}

const std::string& ModernToLegacy::suspend(SteadyTime until) {
  ++rounds_;
  stage_ = Stage::suspended;
  state_ = "bridge-" + random_hex(16);  // 128 bits
  due_ = until;
  return state_;
}

std::size_t ModernToLegacy::keep_message(const Frame& message, ByteBudget& budget) {
  const std::size_t bytes = message.bytes.size();
  if (budget.over() || bytes > max_message_bytes) return 1;
  messages_.push_back(message.bytes);
  message_bytes_ += bytes;
  std::size_t dropped = 0;
  for (; messages_.size() > max_messages || message_bytes_ > max_message_bytes; ++dropped) {
    message_bytes_ -= messages_.front().size();
    messages_.erase(messages_.begin());
  }
  hold(budget);
  return dropped;
}

void ModernToLegacy::keep_end(End end, ByteBudget& budget) {
  stage_ = Stage::ended;
  end_ = std::move(end);
  hold(budget);
  if (!budget.over()) return;
  Ending overloaded;
  overloaded.failure = failure_of(
      ErrorKind::overloaded, Delivered::unknown,
      "the answer came while no request waited for it, and too much is buffered (--max-buffered)");
  end_ = std::move(overloaded);
  hold(budget);
}

ModernToLegacy::Kept ModernToLegacy::take_over() {
  stage_ = Stage::with_client;
  state_.clear();
  message_bytes_ = 0;
  held_.reset();
  return {std::exchange(messages_, {}), std::exchange(end_, std::nullopt)};
}

void ModernToLegacy::start_again() {
  take_over();
  rounds_ = 0;
  due_ = {};
}

void ModernToLegacy::hold(ByteBudget& budget) {
  if (!held_) held_ = std::make_unique<ByteBudget::Share>(budget);
  held_->set(message_bytes_ + (end_ ? size_of(*end_) : 0));
}

void ModernToLegacy::save_end(UpstreamId id, ModernToLegacy& saved) const {
  if (end_) saved.saved_end_ = response_of(id, *end_);
}

void ModernToLegacy::restore(ByteBudget& budget) {
  auto response = parse_frame(std::exchange(saved_end_, {}));
  if (auto* const frame = std::get_if<Frame>(&response)) end_ = std::move(*frame);
  hold(budget);
}

}  // namespace bridge
