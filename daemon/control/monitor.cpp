#include "control/monitor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// How many containers are open around a message that is shown.
constexpr std::size_t nested_in = 8;

std::string_view name_of(Passage passage) {
  switch (passage) {
    case Passage::from_client: return "from_client";
    case Passage::to_server: return "to_server";
    case Passage::from_server: return "from_server";
    case Passage::to_client: return "to_client";
  }
  return "from_client";
}

/// What may be seen of a message whose content is nobody's: that it was there. Of an error all.
std::string envelope_of(const Frame& frame) {
  const std::string id =
      frame.id.present() ? fmt::format(R"("id":{},)", frame.text(frame.id)) : std::string();
  if (!frame.is_response())
    return fmt::format(R"({{"jsonrpc":"2.0",{}"method":{}}})", id, quote(frame.method));
  if (frame.error.present())
    return fmt::format(R"({{"jsonrpc":"2.0",{}"error":{}}})", id, frame.text(frame.error));
  return fmt::format(R"({{"jsonrpc":"2.0",{}"result":"***"}})", id);
}

/// The line of a message that stands on several.
std::string on_one_line(std::string text) {
  make_single_line(text);
  return text;
}

}  // namespace

std::string Monitor::answer(const Frame& request, Client& asker) {
  asker.peeks = true;
  asker.channel.set_feed(RingFeed::none);
  watchers_.try_emplace(asker.id());
  tap_.set_watcher(&watcher_);
  return result_reply(request.text(request.id), "{}");
}

void Monitor::end() {
  tap_.set_watcher(nullptr);
  for (const auto& [id, state] : std::exchange(watchers_, {})) {
    Client* const watcher = clients_.find(id);
    if (watcher == nullptr) continue;
    watcher->channel.transport().send(
        R"({"jsonrpc":"2.0","method":"notifications/bridge/monitor","params":{"ended":"upgrade"}})");
  }
}

/// As a member of the params.
std::string Monitor::shown(std::string_view frame, bool confidential) {
  std::string text(frame);
  if (confidential) {
    auto parsed = parse_frame(std::move(text));
    const auto* const message = std::get_if<Frame>(&parsed);
    text = message != nullptr ? envelope_of(*message) : "\"***\"";
  }
  std::vector<std::string> secrets = secrets_();
  if (!forms_.is_of(secrets)) forms_ = SecretForms(std::move(secrets));
  text = forms_.blotted(std::move(text));
  if (text.size() > longest)
    return fmt::format(R"("bytes":{},"text":{})", frame.size(), quote(text.substr(0, 1024)));
  if (!is_json(text, nested_in)) return fmt::format(R"("text":{})", quote(text));
  return "\"message\":" + on_one_line(std::move(text));
}

void Monitor::passed(Passage passage, ClientId client, std::string_view frame, bool confidential) {
  std::string what;
  for (auto at = watchers_.begin(); at != watchers_.end();) {
    Client* const watcher = clients_.find(at->first);
    if (watcher == nullptr) {
      at = watchers_.erase(at);
      continue;
    }
    Watcher& state = at++->second;
    // What it says itself it knows.
    if (watcher->id() == client) continue;
    const ClientChannel& channel = watcher->channel.transport();
    if (channel.congested() || channel.queued_bytes() > most_queued) {
      ++state.missed;
      continue;
    }
    if (what.empty()) what = shown(frame, confidential);
    const bool is_of_client = passage == Passage::from_client || passage == Passage::to_client;
    const std::string whose =
        is_of_client ? fmt::format(R"("client":{},)", value_of(client)) : std::string();
    const std::uint64_t missed = std::exchange(state.missed, 0);
    const std::string gap = missed > 0 ? fmt::format(R"("missed":{},)", missed) : std::string();
    watcher->channel.transport().send(fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/bridge/monitor","params":{{"at":"{}","passage":"{}",{}{}{}}}}})",
        timestamp(loop_.wall_time()), name_of(passage), whose, gap, what));
  }
  if (watchers_.empty()) tap_.set_watcher(nullptr);
}

}  // namespace bridge
