#include "mcp/request_meta.hpp"

#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "json/frame.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "text/characters.hpp"

namespace bridge {

bool has_place_for_meta(const Frame& frame) {
  const std::string_view params = frame.text(frame.params);
  return params.empty() || is_object(params) || params == "null";
}

void add_meta_members(Edits& edits, const Frame& frame, const std::string& members) {
  if (!has_place_for_meta(frame)) return;
  if (is_object(frame.text(frame.meta)))
    return add_members(edits, frame.bytes, frame.meta, members);
  const std::string meta = '{' + members + '}';
  const JsonObject params = JsonObject().add("_meta", RawJson{meta});
  if (frame.meta.present()) {
    edits.replace(frame.meta, meta);
  } else if (is_object(frame.text(frame.params))) {
    add_members(edits, frame.bytes, frame.params, params.members());
  } else if (frame.params.present()) {
    edits.replace(frame.params, params.text());
  } else {
    add_members(edits, frame.bytes, whole_value(frame.bytes),
                JsonObject().add("params", params).members());
  }
}

namespace {

constexpr std::string_view quoted_newest_version = R"("2026-07-28")";

/// The size of what is added to most requests.
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

/// The members that `_meta` must have and the message lacks; members to be replaced become
/// edits.
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
  // A token that is neither a string nor a number is replaced.
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

std::string modern_request_error(const Frame& request) {
  const auto error = [](int code, std::string_view message) {
    return JsonObject().add("code", code).add("message", message).text();
  };
  const std::string_view version = request.text(request.protocol_version);
  if (!same_id(version, quoted_newest_version))
    return unsupported_version_error(version, Era::modern);
  if (const char* missing = missing_request_meta(request))
    return error(json_rpc::invalid_params, missing);
  if (is_only_legacy(request.method)) return error(json_rpc::method_not_found, "Method not found");
  return {};
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

namespace {

/// The finalizer of SplitMix64: every bit of the value reaches every bit of the result.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

/// By words of eight bytes, since this is done for every call that may get a question, and an
/// argument may be large. `kind` keeps values of different kinds apart.
std::uint64_t hash_bytes(char kind, std::string_view bytes) {
  std::uint64_t hash = mix(bytes.size() ^ static_cast<unsigned char>(kind));
  std::uint64_t word = 0;
  while (bytes.size() >= sizeof word) {
    std::memcpy(&word, bytes.data(), sizeof word);
    bytes.remove_prefix(sizeof word);
    hash = (hash ^ word) * 0x9FB21C651E98DF25u;
    hash ^= hash >> 32;
  }
  word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return mix(hash ^ word);
}

std::uint64_t hash_string(std::string_view raw) {
  return raw.find('\\') == raw.npos ? hash_bytes('"', raw) : hash_bytes('"', unescape(raw));
}

/// By its value as a double if it is short enough to be exact, else by its spelling.
std::uint64_t hash_number(std::string_view raw) {
  constexpr std::size_t longest_double = 24;
  double value = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (raw.size() > longest_double || error != std::errc()) return hash_bytes('0', raw);
  if (value == 0) value = 0;  // -0 equals 0
  return mix(std::bit_cast<std::uint64_t>(value) ^ '0');
}

std::uint64_t hash_member(std::uint64_t key, std::uint64_t value) { return mix(key ^ mix(value)); }

/// The length of the string that starts here, with its quotes, if it has no escapes; else 0. The
/// text was accepted before, so its bytes need not be checked again.
std::size_t plain_string_length(std::string_view rest) {
  const std::size_t end = rest.find('"', 1);
  return rest.substr(0, end).find('\\') == rest.npos ? end + 1 : 0;
}

/// Hashes values that a scanner has accepted.
struct Digest {
  DigestOfNumbers numbers;

  /// Takes one from the scanner. Recursive to the scanner's depth: some hundred bytes of stack
  /// per level.
  bool value(JsonScanner& scanner, std::string_view text, std::uint64_t& hash) const {
    const char first = scanner.peek();
    std::uint64_t sum = 0;
    bool walked = false;
    if (first == '{') {
      walked = scanner.object([&](Slice key) {
        std::uint64_t member = 0;
        if (!value(scanner, text, member)) return false;
        sum += hash_member(hash_string(key.of(text)), member);  // in any order
        return true;
      });
    } else if (first == '[') {
      walked = scanner.array([&] {
        std::uint64_t element = 0;
        if (!value(scanner, text, element)) return false;
        sum = mix(sum ^ element);
        return true;
      });
    } else {
      return scalar(scanner, text, hash);
    }
    hash = mix(sum ^ static_cast<unsigned char>(first));
    return walked;
  }

 private:
  bool scalar(JsonScanner& scanner, std::string_view text, std::uint64_t& hash) const {
    const char first = scanner.peek();
    const std::string_view rest = text.substr(scanner.position());
    if (const std::size_t length = first == '"' ? plain_string_length(rest) : 0) {
      hash = hash_bytes('"', rest.substr(1, length - 2));
      scanner.skip(length);
      return true;
    }
    Slice slice;
    if (!scanner.value(slice)) return false;
    const std::string_view raw = slice.of(text);
    const bool is_number = first == '-' || is_digit(first);
    hash = first == '"' ? hash_string(raw.substr(1, raw.size() - 2))
           : is_number && numbers == DigestOfNumbers::by_value ? hash_number(raw)
                                                               : hash_bytes('n', raw);
    return true;
  }
};

}  // namespace

std::uint64_t request_digest(const Frame& request, DigestOfNumbers numbers) {
  std::uint64_t sum = hash_bytes('m', request.method);
  const std::string_view params = request.text(request.params);
  if (!is_object(params)) return mix(sum);
  const Digest digest{numbers};
  JsonScanner scanner(params);
  scanner.object([&](Slice name) {
    const std::string_view key = name.of(params);
    if (key_is(key, "_meta") || key_is(key, "inputResponses") || key_is(key, "requestState")) {
      Slice skipped;
      return scanner.value(skipped);
    }
    std::uint64_t hash = 0;
    if (!digest.value(scanner, params, hash)) return false;
    sum += hash_member(hash_string(key), hash);
    return true;
  });
  return mix(sum);
}

}  // namespace bridge
