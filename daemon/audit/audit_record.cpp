#include "audit/audit_record.hpp"

#include <fmt/format.h>

#include "json/json_object.hpp"
#include "json/json_text.hpp"

namespace bridge {
namespace {

/// A method or a name that a peer has written is not longer than that in a line.
constexpr std::size_t longest_text = 1024;

std::string_view shortened(std::string_view text) { return text.substr(0, longest_text); }

JsonObject described(const AuditRecord& record) {
  JsonObject client;
  if (record.client.http) {
    client.add("http", true).add_unless_empty("remote", record.client.remote);
  } else {
    client.add("uid", record.client.uid).add("pid", record.client.pid);
    client.add_unless_empty("command", record.client.command);
  }
  const WallTime time(WallTime::duration(static_cast<WallTime::rep>(record.time)));
  JsonObject line;
  line.add("time", timestamp(time))
      .add_unless_empty("id", record.id)
      .add("client", client)
      .add("method", shortened(record.method))
      .add_unless_empty("tool", shortened(record.tool))
      .add_unless_empty("prompt", shortened(record.prompt))
      .add_unless_empty("uri", shortened(record.uri))
      .add_unless_empty("job", record.job)
      .add_unless_empty("traceparent", record.traceparent)
      .add("bytesIn", record.bytes_in)
      .add_unless_empty("argumentsSha256", record.arguments_sha256)
      .add_unless_empty("arguments", RawJson{record.arguments});
  return line;
}

bool has_part(std::string_view text, std::string_view part) {
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

AuditOutcome outcome_of_error(std::string_view data) {
  if (!is_object(data) || find_string(data, "source") != "bridge") return AuditOutcome::error;
  const auto kind = find_string(data, "kind");
  if (kind == "denied") return AuditOutcome::denied;
  if (kind == "rate_limited") return AuditOutcome::rate_limited;
  return find_string(data, "delivered") == "unknown" ? AuditOutcome::unknown : AuditOutcome::error;
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

AuditEnd end_of_response(std::string_view response, bool is_call) {
  AuditEnd end;
  end.outcome = AuditOutcome::ok;
  end.bytes_out = response.size();
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
    if (is_call && has_part(response, "\"isError\"") &&
        find_member(find_member(response, "result").value_or(""), "isError") == "true")
      end.outcome = AuditOutcome::tool_error;
    return end;
  }
  end.outcome = outcome_of_error(find_member(error, "data").value_or(""));
  end.code = to_code(find_member(error, "code").value_or(""));
  return end;
}

std::string beginning_line(const AuditRecord& record) { return described(record).text() + '\n'; }

std::string ended_line(const AuditRecord& record, const AuditEnd& end,
                       std::chrono::microseconds took) {
  JsonObject line = described(record);
  line.add("outcome", name_of(end.outcome));
  if (end.code) line.add("code", *end.code);
  const auto count = static_cast<std::uint64_t>(took.count());
  line.add("ms", RawJson{fmt::format("{}.{:03}", count / 1000, count % 1000)})
      .add("bytesOut", end.bytes_out);
  return line.text() + '\n';
}

std::string unknown_line(std::string_view beginning) {
  const std::string_view object = beginning.substr(0, beginning.find_last_of('}'));
  return fmt::format("{},\"outcome\":\"unknown\"}}\n", object);
}

}  // namespace bridge
