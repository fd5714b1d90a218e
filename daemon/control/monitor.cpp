#include "control/monitor.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"

namespace bridge {
namespace {

/// How many containers are open around a message that is shown.
constexpr std::size_t nested_in = 8;

/// In any form; it is shorter than what is looked at of a long message.
constexpr std::size_t longest_secret = 32u << 10;

std::string_view name_of(Passage passage) {
  switch (passage) {
    case Passage::from_client: return "from_client";
    case Passage::to_server: return "to_server";
    case Passage::from_server: return "from_server";
    case Passage::to_client: return "to_client";
  }
  return "from_client";
}

/// What may be shown of a confidential message: that it was there. Errors are shown whole.
std::string envelope_of(const Frame& frame) {
  JsonObject envelope;
  envelope.add("jsonrpc", "2.0");
  if (frame.id.present()) envelope.add("id", RawJson{frame.text(frame.id)});
  if (!frame.is_response()) {
    envelope.add("method", frame.method);
  } else if (frame.error.present()) {
    envelope.add("error", RawJson{frame.text(frame.error)});
  } else {
    envelope.add("result", "***");
  }
  return envelope.text();
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
    Client* const watcher = clients_.find_client(id);
    if (watcher == nullptr) continue;
    watcher->channel.send_unwatched(
        own_notification("notifications/bridge/monitor", R"({"ended":"upgrade"})"));
  }
}

JsonObject Monitor::shown(std::string_view frame, bool confidential) {
  const std::size_t bytes = frame.size();
  std::string text;
  if (confidential) {
    auto parsed = parse_frame(std::string(frame));
    const auto* const message = std::get_if<Frame>(&parsed);
    text = message != nullptr ? envelope_of(*message) : "\"***\"";
    frame = text;
  }
  const bool is_long = frame.size() > longest;
  text = std::string(frame.substr(0, longest));
  std::vector<std::string> secrets = secrets_();
  if (!forms_.is_of(secrets)) forms_ = SecretForms(std::move(secrets));
  text = forms_.blotted(std::move(text));
  JsonObject shown;
  if (is_long) {
    // The end may be a part of a secret.
    const std::size_t safe = text.size() - std::min(text.size(), longest_secret);
    shown.add("bytes", bytes).add("text", text.substr(0, std::min<std::size_t>(safe, 1024)));
  } else if (is_json(text, nested_in)) {
    make_single_line(text);
    shown.add("message", RawJson{text});
  } else {
    shown.add("text", text);
  }
  return shown;
}

void Monitor::passed(Passage passage, ClientId client, std::string_view frame, bool confidential) {
  std::optional<JsonObject> what;
  for (auto at = watchers_.begin(); at != watchers_.end();) {
    Client* const watcher = clients_.find_client(at->first);
    if (watcher == nullptr) {
      at = watchers_.erase(at);
      continue;
    }
    Watcher& state = at++->second;
    // It is not shown its own messages.
    if (watcher->id() == client) continue;
    const WatchedChannel& channel = watcher->channel;
    if (channel.congested() || channel.queued_bytes() > most_queued) {
      ++state.missed;
      continue;
    }
    if (!what) what = shown(frame, confidential);
    JsonObject params;
    params.add("at", timestamp(loop_.wall_time())).add("passage", name_of(passage));
    if (passage == Passage::from_client || passage == Passage::to_client)
      params.add("client", value_of(client));
    if (const std::uint64_t missed = std::exchange(state.missed, 0); missed > 0)
      params.add("missed", missed);
    params.add_all(*what);
    channel.send_unwatched(own_notification("notifications/bridge/monitor", params.text()));
  }
  if (watchers_.empty()) tap_.set_watcher(nullptr);
}

}  // namespace bridge
