#pragma once

#include <cstdint>

namespace bridge::record {

/// The types of records in the log (STATE.md, "Payloads"). A number is never reused for another
/// type.
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
constexpr std::uint32_t orphan = 16;
constexpr std::uint32_t ended = 17;
constexpr std::uint32_t audited = 18;
constexpr std::uint32_t audit_ended = 19;

}  // namespace bridge::record
