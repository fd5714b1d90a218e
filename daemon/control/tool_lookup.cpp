#include "control/tool_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// The total time for all pages after the first one.
constexpr std::chrono::seconds longest_listing{30};

std::string unknown_tool(std::string_view id, std::string_view name) {
  return error_reply(id, json_rpc::invalid_params,
                     fmt::format("The server has no tool {}", printable(name, 80)),
                     R"({"source":"bridge","kind":"tool"})");
}

/// `{"uid": …, "gid": …, "groups": […]}`; nullopt: something else.
std::optional<Peer> read_peer(std::string_view raw) {
  constexpr std::size_t most_groups = 1024;
  const auto id = [](std::string_view text) { return to_unsigned(text); };
  const auto uid = id(find_member(raw, "uid").value_or(""));
  const auto gid = id(find_member(raw, "gid").value_or(""));
  if (!is_object(raw) || !uid || !gid) return std::nullopt;
  Peer peer{false, static_cast<uid_t>(*uid), static_cast<gid_t>(*gid)};
  bool is_fine = true;
  each_element(find_member(raw, "groups").value_or("[]"), [&](std::string_view group) {
    const auto number = id(group);
    is_fine = number && peer.groups.size() < most_groups;
    if (is_fine) peer.groups.push_back(static_cast<gid_t>(*number));
    return is_fine;
  });
  return is_fine ? std::optional(peer) : std::nullopt;
}

}  // namespace

ToolLookup::ToolLookup(EventLoop& loop, Router& router, const Session& session)
    : OwnCaller(router.budget()),
      router_(router),
      session_(session),
      next_step_(loop, [this] { proceed(); }),
      limit_(loop, [this] {
        fail_all(failure_of(ErrorKind::timeout, Delivered::unknown,
                            "the server took too long to list its tools"));
        end();
      }) {
  router.others().join(*this);
}

std::string ToolLookup::reply_from(ClientId asker, std::string_view id,
                                   const std::optional<std::string>& asked,
                                   const ToolList& list) const {
  const Client* const client = router_.clients().find_client(asker);
  const PolicyRule* const rule = client != nullptr ? client->rule : nullptr;
  if (!asked) {
    JsonArray names;
    for (const std::string_view name : list.names()) {
      const bool is_shown =
          rule == nullptr || allows(*rule, {Subject::Kind::tool, std::string(name)}, list);
      if (is_shown) names.add(name);
    }
    return result_reply(id, JsonObject().add("names", names));
  }
  const std::string& name = *asked;
  if (rule != nullptr) {
    if (const auto refusal = router_.permissions().refusal_of_tool(*client, name, list))
      return error_reply(id, *refusal);
  }
  const std::string_view tool = list.find(name);
  if (!tool.empty()) return result_reply(id, JsonObject().add("tool", RawJson{tool}));
  return unknown_tool(id, name);
}

/// What this peer would see; its user has asked nothing, so nothing counts as denied.
std::string ToolLookup::reply_about(const Peer& peer, std::string_view id,
                                    const std::optional<std::string>& asked,
                                    const ToolList& list) const {
  const PolicyFile* const policy = router_.permissions().policy();
  const PolicyRule* const rule = policy != nullptr ? &policy->policy.rule_for(peer) : nullptr;
  const auto is_shown = [&](std::string_view name) {
    return rule == nullptr || allows(*rule, {Subject::Kind::tool, std::string(name)}, list);
  };
  if (rule != nullptr && rule->is_none()) {
    return error_reply(id, json_rpc::invalid_params, denial(*rule, {}, {}),
                       R"({"source":"bridge","kind":"policy"})");
  }
  if (!asked) {
    JsonArray tools;
    for (const std::string_view name : list.names()) {
      if (is_shown(name)) tools.add(RawJson{list.find(name)});
    }
    return result_reply(id, JsonObject().add("tools", tools));
  }
  return is_shown(*asked) && !list.find(*asked).empty()
             ? result_reply(id, JsonObject().add("tool", RawJson{list.find(*asked)}))
             : unknown_tool(id, *asked);
}

std::string ToolLookup::reply_to(const Waiting& asked, const ToolList& list) const {
  if (!asked.asker) return result_reply(asked.id, "{}");
  return asked.as ? reply_about(*asked.as, asked.id, asked.name, list)
                  : reply_from(*asked.asker, asked.id, asked.name, list);
}

void ToolLookup::answer(const Frame& request, const Client& asker, Control::Reply reply) {
  const std::string_view id = request.text(request.id);
  const std::string_view params = request.text(request.params);
  const auto raw_name = find_member(params, "name");
  if (raw_name && !is_string(*raw_name)) {
    reply(error_reply(id, json_rpc::invalid_params, "Invalid params: name is a string"));
    return;
  }
  std::optional<Peer> as;
  if (const auto raw_peer = find_member(params, "as")) {
    const ClientIdentity& identity = asker.channel.identity();
    as = read_peer(*raw_peer);
    if (!as || identity.kind != "unix" || identity.uid != 0 || asker.grant) {
      reply(error_reply(id, json_rpc::invalid_params,
                        as ? "only root may ask, over the Unix socket, what another user sees"
                           : "Invalid params: as is an object with uid, gid and groups"));
      return;
    }
  }
  auto name = find_string(params, "name");
  const ToolList& known = router_.tools();
  const ServerDescription* const server = session_.shown().server();
  const bool is_there = known.is_whole() && (!name || !known.find(*name).empty());
  const bool is_certain =
      known.is_whole() && server != nullptr && server->declares("tools", "listChanged");
  if (is_there || is_certain) {
    reply(reply_to({asker.id(), std::string(id), std::move(name), {}, std::move(as)}, known));
  } else if (waiting_.size() == most_waiting) {
    reply(error_reply(id, failure_of(ErrorKind::overloaded, Delivered::no,
                                     "too many requests wait for the list of tools")));
  } else if (const auto refusal = router_.from_clients().refusal_to_ask(asker, id, 0)) {
    reply(error_reply(id, *refusal));
  } else {
    waiting_.push_back(
        {asker.id(), std::string(id), std::move(name), std::move(reply), std::move(as)});
    next_step_.schedule();
  }
}

void ToolLookup::fetch(Control::Reply done) {
  waiting_.push_back({std::nullopt, "null", std::nullopt, std::move(done), std::nullopt});
  next_step_.schedule();
}

void ToolLookup::settle() {
  while (next_step_.is_scheduled()) {
    next_step_.cancel();
    proceed();
  }
}

void ToolLookup::proceed() {
  if (!listing_) {
    if (!waiting_.empty()) begin();
  } else if (!response_.empty()) {
    page_came();
  }
}

void ToolLookup::begin() {
  listing_ = true;
  ask_for_page();
}

void ToolLookup::ask_for_page() {
  const std::string& cursor = list_.next_cursor();
  auto request = parse_frame(fmt::format(
      R"({{"jsonrpc":"2.0","id":1,"method":"tools/list"{}}})",
      cursor.empty() ? std::string() : fmt::format(R"(,"params":{{"cursor":{}}})", cursor)));
  router_.others().request(*this, std::get<Frame>(std::move(request)));
}

void ToolLookup::answer(std::string_view, Frame&& response) {
  response_ = std::move(response.bytes);
  next_step_.schedule();
}

void ToolLookup::fail(std::string_view raw_id, const Failure& failure) {
  response_ = error_reply(raw_id, failure);
  next_step_.schedule();
}

void ToolLookup::page_came() {
  const std::string response = std::exchange(response_, {});
  const auto result = find_member(response, "result");
  if (!result) {
    Failure failure;
    failure.error_object = find_member(response, "error").value_or("{}");
    fail_all(failure);
    end();
    return;
  }
  if (!limit_.is_set()) limit_.set_after(longest_listing);
  const auto page = list_.take_page(std::string(list_.next_cursor()), *result);
  if (page == ToolList::Page::taken) {
    answer_found();
    if (waiting_.empty()) {
      end();
    } else {
      ask_for_page();
    }
    return;
  }
  if (list_.is_whole()) {
    for (Waiting& one : std::exchange(waiting_, {})) one.reply(reply_to(one, list_));
  } else {
    fail_all(failure_of(ErrorKind::too_large, Delivered::unknown,
                        "the server's list of tools is too long to be kept"));
  }
  end();
}

/// Answers the requests whose tools have arrived: they need no further page.
void ToolLookup::answer_found() {
  const auto is_missing = [this](const Waiting& one) {
    return !one.name || !list_.has_arrived(*one.name);
  };
  const auto found = std::stable_partition(waiting_.begin(), waiting_.end(), is_missing);
  if (found == waiting_.end()) return;
  const ToolList so_far = list_.arrived_so_far();
  const std::vector<Waiting> answered(std::make_move_iterator(found),
                                      std::make_move_iterator(waiting_.end()));
  waiting_.erase(found, waiting_.end());
  for (const Waiting& one : answered) one.reply(reply_to(one, so_far));
}

void ToolLookup::end() {
  limit_.clear();
  list_.forget();
  response_.clear();
  listing_ = false;
  router_.others().cancel_all(*this);
  if (!waiting_.empty()) next_step_.schedule();  // requests that came while these were answered
}

void ToolLookup::fail_all(const Failure& failure) {
  for (Waiting& one : std::exchange(waiting_, {})) one.reply(error_reply(one.id, failure));
}

}  // namespace bridge
