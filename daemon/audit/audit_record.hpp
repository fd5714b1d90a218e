#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

extern "C" {
struct evp_md_ctx_st;
}

namespace bridge {

/// Whose request it is. A value.
struct AuditClient {
  bool http = false;
  std::uint64_t uid = 0;
  std::uint64_t pid = 0;  ///< 0: not known
  std::string command;
  std::string remote;  ///< of the HTTP frontend: the caller's address; empty: not known
  std::string grant;   ///< JSON: what its lines have of its grant; empty: it has none

  template <class A>
  void each_field(A& archive) {
    archive(http, uid, pid, command, remote, grant);
  }
};

/// A request that a client has made, for a line of the audit (BEHAVIOUR, "Audit"). A value.
struct AuditRecord {
  std::string id;          ///< of the two lines of one request; empty: it has one line
  std::uint64_t time = 0;  ///< when it came, in ticks of WallTime
  std::uint64_t came = 0;  ///< the same, by the monotonic clock
  AuditClient client;
  std::string method;
  std::string tool;  ///< likewise: what a request about one names
  std::string prompt;
  std::string uri;
  std::string job;
  std::string traceparent;
  std::string arguments_sha256;  ///< empty: it has none
  std::string arguments;         ///< --audit-arguments: JSON
  std::uint64_t bytes_in = 0;
  std::uint64_t number = 0;  ///< in the order of arrival, for the state
  bool is_begun = false;     ///< the first of its two lines is there

  template <class A>
  void each_field(A& archive) {
    archive(id, time, came, client, method, tool, prompt, uri, job, traceparent, arguments_sha256,
            arguments, bytes_in, number, is_begun);
  }
};

enum class AuditOutcome { ok, tool_error, error, denied, rate_limited, cancelled, unknown };
std::string_view name_of(AuditOutcome outcome);

/// How a request has ended. A value.
struct AuditEnd {
  AuditOutcome outcome = AuditOutcome::unknown;
  std::optional<std::int64_t> code{};  ///< of the error
  std::string kind{};  ///< of an error of the bridge (ErrorKind); empty: another error, or none
  std::size_t bytes_out = 0;
};

/// How the response says that it has. `is_call`: it may say that the tool has failed. `raw_id`: the
/// request's, if that is known. Pure.
AuditEnd end_of_response(std::string_view response, bool is_call, std::string_view raw_id = {});

/// The second that was written last, as the beginning of a timestamp: many lines are of one.
struct WrittenSecond {
  std::uint64_t ticks = 0;  ///< of WallTime, when it began; 0 with an empty text
  std::string text;         ///< `2026-01-31T12:00:00.`
};

/// What a line has of a client, as JSON, and of its grant, as the member behind that.
std::string described(const AuditClient& client);
/// The line that stands before a request is sent, with its line end. REQUIRES: it has an id.
std::string beginning_line(const AuditRecord& record);
/// Appends the line of a request that has ended. `client`: described() of its client.
void append_ended_line(std::string& out, const AuditRecord& record, std::string_view client,
                       const AuditEnd& end, std::chrono::microseconds took, WrittenSecond& second);
/// The line of one whose beginning_line() an earlier daemon has written, and no more.
std::string unknown_line(std::string_view beginning);

/// SHA-256 of arguments by value, canonical_json() of them. Keeps what OpenSSL looks up for it.
class ArgumentsDigest {
 public:
  ArgumentsDigest();
  /// As 64 hexadecimal digits. `arguments`: JSON that a JsonScanner has accepted.
  std::string of(std::string_view arguments);

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
  std::string text_;  ///< canonical; its memory is kept
};

}  // namespace bridge
