#include "audit/audit_record.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <utility>

#include "json/canonical_json.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace bridge {

namespace {

/// A method or a name that a peer has written is not longer than that in a line.
constexpr std::size_t longest_text = 1024;

/// Writes a line, member by member: what comes behind the brace, or another member, has its comma.
/// Each call of a client pays for it.
class LineWriter {
 public:
  /// It appends to this.
  explicit LineWriter(std::string& text) : text_(text) {}

  /// `name` with comma, quotes and colon; `value` is JSON.
  LineWriter& raw(std::string_view name, std::string_view value) {
    text_.append(name).append(value);
    return *this;
  }
  LineWriter& number(std::string_view name, std::uint64_t value) {
    std::array<char, 20> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return raw(name, {digits.data(), static_cast<std::size_t>(written.ptr - digits.data())});
  }
  /// Nothing is added if it is empty; what is long is cut.
  LineWriter& text(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    if (value.size() > longest_text) value = whole_characters(value, longest_text);
    const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
      return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    });
    if (!is_plain) return json(name, quote(value));
    text_.append(name) += '"';
    text_.append(value) += '"';
    return *this;
  }
  /// JSON on one line that a peer has written. What a terminal would act on is escaped, as it is in
  /// the log.
  LineWriter& json(std::string_view name, std::string_view value) {
    const bool is_ascii =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (is_ascii) return raw(name, value);
    text_.append(name);
    append_visible(text_, value);
    return *this;
  }
  /// A timestamp().
  LineWriter& time(std::string_view name, std::uint64_t ticks, WrittenSecond& second) {
    constexpr auto whole = static_cast<std::uint64_t>(
        std::chrono::duration_cast<WallTime::duration>(std::chrono::seconds(1)).count());
    if (second.text.empty() || ticks < second.ticks || ticks - second.ticks >= whole) {
      second.ticks = ticks - ticks % whole;
      second.text =
          timestamp(WallTime(WallTime::duration(static_cast<WallTime::rep>(second.ticks))));
      second.text.resize(second.text.size() - milliseconds_behind);
    }
    text_.append(name) += '"';
    text_ += second.text;
    digits(static_cast<unsigned>((ticks - second.ticks) / (whole / 1000)), 'Z');
    text_ += '"';
    return *this;
  }
  /// Milliseconds with three digits of their fraction.
  LineWriter& milliseconds(std::string_view name, std::chrono::microseconds time) {
    const auto count = static_cast<std::uint64_t>(time.count());
    number(name, count / 1000);
    text_ += '.';
    digits(static_cast<unsigned>(count % 1000));
    return *this;
  }

 private:
  static constexpr std::size_t milliseconds_behind = 4;  // and the Z

  /// Three of them.
  void digits(unsigned value, char behind = '\0') {
    text_ += static_cast<char>('0' + value / 100);
    text_ += static_cast<char>('0' + value / 10 % 10);
    text_ += static_cast<char>('0' + value % 10);
    if (behind != '\0') text_ += behind;
  }

  std::string& text_;
};

void describe(LineWriter& line, const AuditRecord& record, std::string_view client,
              WrittenSecond& second) {
  line.time("{\"time\":", record.time, second);
  line.text(",\"id\":", record.id);
  line.raw(",\"client\":", client);
  if (record.method.empty()) line.raw(",\"method\":", "\"\"");
  line.text(",\"method\":", record.method);
  line.text(",\"tool\":", record.tool);
  line.text(",\"prompt\":", record.prompt);
  line.text(",\"uri\":", record.uri);
  line.text(",\"job\":", record.job);
  line.text(",\"traceparent\":", record.traceparent);
  line.number(",\"bytesIn\":", record.bytes_in);
  if (!record.arguments_sha256.empty())
    line.raw(",\"argumentsSha256\":\"", record.arguments_sha256).raw("\"", {});
  if (!record.arguments.empty()) line.json(",\"arguments\":", record.arguments);
}

/// Whether `"isError"` stands somewhere in it, by a letter that is seldom.
bool names_error(std::string_view text) {
  constexpr std::string_view name = "\"isError\"";
  constexpr std::size_t seldom = 3;
  for (auto at = text.find('E', seldom); at != text.npos; at = text.find('E', at + 1)) {
    if (text.substr(at - seldom, name.size()) == name) return true;
  }
  return false;
}

bool says_error(std::string_view response) {
  return names_error(response) &&
         find_member(find_member(response, "result").value_or(""), "isError") == "true";
}

/// Whether it is written as most are: then it has a result, and nothing has to be looked for.
bool begins_as_usual(std::string_view response, std::string_view raw_id) {
  constexpr std::string_view before = "{\"jsonrpc\":\"2.0\",\"id\":";
  if (raw_id.empty() || !response.starts_with(before)) return false;
  response.remove_prefix(before.size());
  if (!response.starts_with(raw_id)) return false;
  response.remove_prefix(raw_id.size());
  return response.starts_with(",\"result\":");
}

/// `data`: of the error.
void take_error(AuditEnd& end, std::string_view data) {
  end.outcome = AuditOutcome::error;
  if (!is_object(data) || find_string(data, "source") != "bridge") return;
  end.kind = find_string(data, "kind").value_or("");
  if (end.kind == "denied") {
    end.outcome = AuditOutcome::denied;
  } else if (end.kind == "rate_limited") {
    end.outcome = AuditOutcome::rate_limited;
  } else if (find_string(data, "delivered") == "unknown") {
    end.outcome = AuditOutcome::unknown;
  }
}

/// Minus and digits.
std::optional<std::int64_t> to_code(std::string_view raw) {
  const bool is_negative = raw.starts_with('-');
  const auto number = to_unsigned(raw.substr(is_negative ? 1 : 0));
  if (!number || *number > 1'000'000'000) return std::nullopt;
  return is_negative ? -static_cast<std::int64_t>(*number) : static_cast<std::int64_t>(*number);
}

}  // namespace

std::string_view name_of(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::ok: return "ok";
    case AuditOutcome::tool_error: return "tool_error";
    case AuditOutcome::error: return "error";
    case AuditOutcome::denied: return "denied";
    case AuditOutcome::rate_limited: return "rate_limited";
    case AuditOutcome::cancelled: return "cancelled";
    case AuditOutcome::unknown: break;
  }
  return "unknown";
}

AuditEnd end_of_response(std::string_view response, bool is_call, std::string_view raw_id) {
  AuditEnd end;
  end.outcome = AuditOutcome::ok;
  end.bytes_out = response.size();
  if (begins_as_usual(response, raw_id)) {
    if (is_call && says_error(response)) end.outcome = AuditOutcome::tool_error;
    return end;
  }
  // A result may be large: whether there is an error is known before it was walked through.
  bool is_result = false;
  std::string_view error;
  JsonScanner scanner(response);
  scanner.skip_space();
  scanner.object([&](Slice key) {
    is_result = key_is(key.of(response), "result");
    if (is_result) return false;
    Slice value;
    if (!scanner.value(value)) return false;
    if (key_is(key.of(response), "error")) error = value.of(response);
    return error.empty();
  });
  if (is_result) {
    if (is_call && says_error(response)) end.outcome = AuditOutcome::tool_error;
    return end;
  }
  take_error(end, find_member(error, "data").value_or(""));
  end.code = to_code(find_member(error, "code").value_or(""));
  return end;
}

std::string described(const AuditClient& client) {
  std::string text;
  LineWriter writer(text);
  if (client.http) {
    writer.raw("{\"http\":", "true").text(",\"remote\":", client.remote);
  } else {
    writer.number("{\"uid\":", client.uid).number(",\"pid\":", client.pid);
    writer.text(",\"command\":", client.command);
  }
  text += '}';
  if (!client.grant.empty()) writer.raw(",\"grant\":", client.grant);
  return text;
}

std::string beginning_line(const AuditRecord& record) {
  std::string text;
  LineWriter line(text);
  WrittenSecond second;
  describe(line, record, described(record.client), second);
  return text += "}\n";
}

void append_ended_line(std::string& out, const AuditRecord& record, std::string_view client,
                       const AuditEnd& end, std::chrono::microseconds took, WrittenSecond& second) {
  LineWriter line(out);
  describe(line, record, client, second);
  line.raw(",\"outcome\":\"", name_of(end.outcome)).raw("\"", {});
  if (end.code) line.raw(",\"code\":", std::to_string(*end.code));
  line.text(",\"kind\":", end.kind);
  line.milliseconds(",\"ms\":", took);
  line.number(",\"bytesOut\":", end.bytes_out).raw("}", "\n");
}

std::string unknown_line(std::string_view beginning) {
  const std::string_view object = beginning.substr(0, beginning.find_last_of('}'));
  return fmt::format("{},\"outcome\":\"unknown\"}}\n", object);
}

namespace {

/// Two digits for each byte.
constexpr std::array<char, 512> pairs = [] {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<char, 512> all{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    all[2 * byte] = digits[byte >> 4];
    all[2 * byte + 1] = digits[byte & 15];
  }
  return all;
}();

}  // namespace

ArgumentsDigest::ArgumentsDigest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

std::string ArgumentsDigest::of(std::string_view arguments) {
  constexpr std::size_t most_kept = 64u << 10;
  text_.clear();
  append_canonical_json(text_, arguments);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  EVP_DigestInit_ex(context_.get(), nullptr, nullptr);  // the same again
  EVP_DigestUpdate(context_.get(), text_.data(), text_.size());
  EVP_DigestFinal_ex(context_.get(), hash.data(), &size);
  if (text_.capacity() > most_kept) text_ = {};
  std::array<char, std::size_t{EVP_MAX_MD_SIZE} * 2> hex;
  char* next = hex.data();
  for (std::size_t at = 0; at < size; ++at) {
    std::memcpy(next, &pairs[std::size_t{hash[at]} * 2], 2);
    next += 2;
  }
  return std::string(hex.data(), std::size_t{size} * 2);
}

}  // namespace bridge
