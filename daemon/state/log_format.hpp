#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

/// CRC-32C (RFC 3720, appendix B.4) of `bytes`, going on from that of what stands before them.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// Of which upstream a state is: a hash, so that no address stands in the file.
using TargetHash = std::array<unsigned char, 32>;

/// What stands at the beginning of a log (STATE.md).
struct LogHeader {
  TargetHash target{};
  /// Drawn for each file: a record counts only in the file, and at the place, it was written for.
  std::uint64_t salt = 0;
};

constexpr std::uint32_t log_format_version = 2;
constexpr std::size_t log_header_size = 64;
constexpr std::size_t record_header_size = 16;
/// Records begin at multiples of this.
constexpr std::size_t record_alignment = 8;

std::string header_bytes(const LogHeader& header);

/// Appends a record to `out`, which will stand in the file from `offset` on. REQUIRES: a multiple
/// of record_alignment, of `offset` plus the size of `out`; a payload below 4 GiB.
void append_record(std::string& out, std::uint64_t offset, const LogHeader& header,
                   std::uint32_t type, std::string_view payload);

/// What a record takes in the file.
constexpr std::size_t record_size(std::size_t payload) {
  return (record_header_size + payload + record_alignment - 1) / record_alignment *
         record_alignment;
}

/// What a log turned out to be.
enum class LogVerdict : std::uint8_t {
  good,
  torn,            ///< good but for its end, where a record was being written: to be cut off there
  damaged,         ///< something else than its end cannot be read, or it is no log
  earlier_format,  ///< of a daemon that is older than this one
  later_format,    ///< of one that is newer
};

struct LogReading {
  LogVerdict verdict = LogVerdict::damaged;
  LogHeader header;
  std::size_t end = 0;  ///< of the last good record
  std::size_t records = 0;
};

/// Reads a log, whatever the bytes are. `visit` gets each record in order, and says whether it
/// understands it; with a damaged log it has got what stands before the damage. Pure.
LogReading read_log(std::string_view bytes,
                    const std::function<bool(std::uint32_t type, std::string_view payload)>& visit);

}  // namespace bridge
