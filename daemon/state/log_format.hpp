#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

/// CRC-32C (RFC 3720, appendix B.4) of `bytes`, continued from the preceding bytes' value.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// The upstream that a state belongs to: a hash, so that the file does not contain an address.
using TargetHash = std::array<unsigned char, 32>;

/// The header of a log (STATE.md).
struct LogHeader {
  TargetHash target{};
  /// Random for each file: a record is valid only in its own file, and at its own position.
  std::uint64_t salt = 0;
};

constexpr std::uint32_t log_format_version = 4;
constexpr std::size_t log_header_size = 64;
constexpr std::size_t record_header_size = 16;
/// Records start at multiples of this.
constexpr std::size_t record_alignment = 8;

std::string header_bytes(const LogHeader& header);

/// Appends a record to `out`, which will be written to the file at `offset`. REQUIRES: `offset`
/// plus the size of `out` is a multiple of record_alignment; a payload below 4 GiB.
void append_record(std::string& out, std::uint64_t offset, const LogHeader& header,
                   std::uint32_t type, std::string_view payload);

/// The size of a record in the file.
constexpr std::size_t record_size(std::size_t payload) {
  return (record_header_size + payload + record_alignment - 1) / record_alignment *
         record_alignment;
}

/// The result of reading a log.
enum class LogVerdict : std::uint8_t {
  good,
  torn,            ///< valid except for a record being written at its end: to be truncated there
  damaged,         ///< an earlier part cannot be read, or it is not a log
  earlier_format,  ///< written by an older daemon
  later_format,    ///< written by a newer daemon
};

struct LogReading {
  LogVerdict verdict = LogVerdict::damaged;
  LogHeader header;
  std::size_t end = 0;  ///< of the last valid record
  std::size_t records = 0;
};

/// Reads a log; accepts any bytes. `visit` gets each record in order, and returns whether it
/// understands it; of a damaged log it gets the records before the damage. Pure.
LogReading read_log(std::string_view bytes,
                    const std::function<bool(std::uint32_t type, std::string_view payload)>& visit);

}  // namespace bridge

namespace bridge::record {

/// The types of records in the log (STATE.md, "Payloads"). A number is never reused for another
/// type; 16 was used in format 2.
constexpr std::uint32_t instance = 1;
constexpr std::uint32_t opened = 2;
constexpr std::uint32_t ring_entry = 3;
constexpr std::uint32_t ring_marks = 4;
constexpr std::uint32_t ring_superseded = 5;
constexpr std::uint32_t ring_counts = 6;
constexpr std::uint32_t session = 7;
constexpr std::uint32_t server_stream = 8;
constexpr std::uint32_t upstream_ids = 9;
constexpr std::uint32_t unanswered = 10;
constexpr std::uint32_t job = 11;
constexpr std::uint32_t job_position = 12;
constexpr std::uint32_t job_changed = 13;
constexpr std::uint32_t job_forgotten = 14;
constexpr std::uint32_t used_key = 15;
constexpr std::uint32_t ended = 17;
constexpr std::uint32_t audited = 18;
constexpr std::uint32_t audit_ended = 19;
constexpr std::uint32_t grant = 20;
constexpr std::uint32_t grant_used = 21;
constexpr std::uint32_t grants_revoked = 22;

}  // namespace bridge::record
