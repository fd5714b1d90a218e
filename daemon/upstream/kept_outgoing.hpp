#pragma once

#include <algorithm>
#include <utility>

#include "upstream/kept_message.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// What both kinds of transport keep of a message. Pure.
inline KeptMessage kept_message(const Outgoing& message) {
  KeptMessage kept;
  kept.id = value_of(message.id);
  kept.kind = static_cast<std::uint64_t>(message.kind);
  kept.may_repeat = message.may_repeat;
  kept.endless = message.endless;
  kept.stateful = message.notes.stateful;
  kept.body = message.body;
  kept.headers = message.headers;
  kept.authorizations = message.notes.authorizations;
  kept.session = message.notes.session;
  kept.rejections = message.notes.rejections;
  kept.repeats = message.notes.repeats;
  return kept;
}

inline Outgoing outgoing_of(KeptMessage kept) {
  Outgoing message;
  message.id = static_cast<UpstreamId>(kept.id);
  message.kind = static_cast<OutgoingKind>(
      std::min(kept.kind, static_cast<std::uint64_t>(OutgoingKind::response)));
  message.may_repeat = kept.may_repeat;
  message.endless = kept.endless;
  message.body = std::move(kept.body);
  message.headers = std::move(kept.headers);
  message.notes.stateful = kept.stateful;
  message.notes.authorizations = static_cast<std::uint8_t>(kept.authorizations);
  message.notes.session = static_cast<std::uint32_t>(kept.session);
  message.notes.rejections = static_cast<std::uint8_t>(kept.rejections);
  message.notes.repeats = static_cast<std::uint8_t>(kept.repeats);
  return message;
}

}  // namespace bridge
