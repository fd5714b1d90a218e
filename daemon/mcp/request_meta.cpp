#include "mcp/request_meta.hpp"

#include <string>
#include <unordered_set>
#include <utility>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"
#include "mcp/handshake.hpp"

namespace bridge {
namespace {

/// Of what is added to most requests.
constexpr std::size_t usual_members = 256;

void append_member(std::string& members, std::string_view name, std::string_view value) {
  if (!members.empty()) members += ',';
  members += '"';
  members += name;
  members += "\":";
  members += value;
}

bool is_identity(std::string_view key) {
  return key_is(key, meta_key::protocol_version) || key_is(key, meta_key::client_capabilities) ||
         key_is(key, meta_key::client_info) || key_is(key, meta_key::log_level);
}

Slice meta_member(const Frame& frame, std::string_view name) {
  Slice found;
  for_each_member(frame.bytes, frame.meta, [&](std::string_view key, Slice, Slice value) {
    if (key_is(key, name)) found = value;
  });
  return found;
}

/// The members that `_meta` is to have and the message does not; what is to be replaced becomes an
/// edit.
std::string missing_members(Edits& edits, const Frame& frame, const RequestIdentity& identity,
                            const MetaOptions& options) {
  const ReservedMeta& has = frame.reserved;
  const std::string version = '"' + std::string(newest_version) + '"';
  std::string members;
  members.reserve(usual_members);
  if (!frame.protocol_version.present()) {
    const Slice unusable = meta_member(frame, meta_key::protocol_version);
    if (unusable.present()) {
      edits.replace(unusable, version);
    } else {
      append_member(members, meta_key::protocol_version, version);
    }
  }
  if (!has.client_capabilities.present()) {
    append_member(members, meta_key::client_capabilities, identity.client_capabilities);
  } else if (options.override_capabilities) {
    edits.replace(has.client_capabilities, std::string(identity.client_capabilities));
  }
  if (!identity.client_info.empty() && !has.client_info.present()) {
    append_member(members, meta_key::client_info, identity.client_info);
  }
  if (!identity.log_level.empty() && !has.log_level.present()) {
    append_member(members, meta_key::log_level, identity.log_level);
  }
  if (options.progress_token.empty() || frame.progress_token.present()) return members;
  // One that is no string and no number is replaced.
  const Slice unusable = meta_member(frame, meta_key::progress_token);
  if (unusable.present()) {
    edits.replace(unusable, std::string(options.progress_token));
  } else {
    append_member(members, meta_key::progress_token, options.progress_token);
  }
  return members;
}

}  // namespace

Frame with_request_meta(Frame frame, const RequestIdentity& identity, const MetaOptions& options) {
  if (!has_place_for_meta(frame)) return frame;
  Edits edits;
  const std::string members = missing_members(edits, frame, identity, options);
  if (!members.empty()) add_meta_members(edits, frame, members);
  return edited(std::move(frame), edits);
}

Frame without_request_meta(Frame frame) {
  const Edits edits = meta_removal(frame, is_identity);
  return edited(std::move(frame), edits);
}

const char* missing_request_meta(const Frame& frame) {
  if (!frame.protocol_version.present()) {
    return "Invalid params: _meta has no io.modelcontextprotocol/protocolVersion";
  }
  if (!is_object(frame.text(frame.reserved.client_capabilities))) {
    return "Invalid params: _meta has no io.modelcontextprotocol/clientCapabilities";
  }
  return nullptr;
}

std::string merge_capabilities(std::string_view base, std::string_view add) {
  const Slice object = whole_value(base);
  if (!is_object(object.of(base))) return merge_capabilities("{}", add);
  std::unordered_set<std::string> names;
  for_each_member(base, object,
                  [&](std::string_view key, Slice, Slice) { names.insert(unescape(key)); });
  std::string members;
  for_each_member(add, whole_value(add), [&](std::string_view key, Slice whole, Slice) {
    if (!names.insert(unescape(key)).second) return;
    if (!members.empty()) members += ',';
    members += whole.of(add);
  });
  if (members.empty()) return std::string(base);
  Edits edits;
  add_members(edits, base, object, members);
  return edits.made_in(base);
}

}  // namespace bridge
