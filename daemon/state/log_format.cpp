#include "state/log_format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace bridge {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Eight bytes at a time: reading the state of a large ring takes a moment.
constexpr Table make_table() {
  constexpr std::uint32_t polynomial = 0x82F63B78;
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    table[0][byte] = value;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t step = 1; step < 8; ++step) {
      const std::uint32_t value = table[step - 1][byte];
      table[step][byte] = (value >> 8) ^ table[0][value & 0xff];
    }
  }
  return table;
}

constexpr Table table = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    value = table[7][(value ^ at[0]) & 0xff] ^ table[6][((value >> 8) ^ at[1]) & 0xff] ^
            table[5][((value >> 16) ^ at[2]) & 0xff] ^ table[4][(value >> 24) ^ at[3]] ^
            table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
  }
  for (; left > 0; --left, ++at) value = (value >> 8) ^ table[0][(value ^ *at) & 0xff];
  return ~value;
}

namespace {

constexpr std::string_view magic = "mcpstate";
constexpr std::size_t header_checksum_at = log_header_size - 4;

void put32(std::string& out, std::uint32_t value) {
  for (int byte = 0; byte < 4; ++byte, value >>= 8) out.push_back(static_cast<char>(value & 0xff));
}

void put64(std::string& out, std::uint64_t value) {
  put32(out, static_cast<std::uint32_t>(value));
  put32(out, static_cast<std::uint32_t>(value >> 32));
}

std::uint32_t get32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + byte]);
  return value;
}

std::uint64_t get64(std::string_view bytes, std::size_t at) {
  return get32(bytes, at) | std::uint64_t{get32(bytes, at + 4)} << 32;
}

struct RecordHeader {
  std::uint32_t length = 0;
  std::uint32_t type = 0;
  std::uint32_t payload_checksum = 0;
};

/// Covers the header itself, so that the length can be trusted before its payload is read.
std::uint32_t checksum_of(const RecordHeader& record, std::uint64_t offset, std::uint64_t salt) {
  std::array<char, 28> bytes;
  std::size_t at = 0;
  const auto put = [&](std::uint64_t value, std::size_t size) {
    for (; size > 0; --size, value >>= 8) bytes[at++] = static_cast<char>(value & 0xff);
  };
  put(salt, 8);
  put(offset, 8);
  put(record.length, 4);
  put(record.type, 4);
  put(record.payload_checksum, 4);
  return crc32c({bytes.data(), bytes.size()});
}

/// The payload of the record at `at`; nullopt if there is no complete one.
std::optional<std::string_view> record_at(std::string_view bytes, std::size_t at,
                                          std::uint64_t salt, std::uint32_t& type) {
  if (bytes.size() - at < record_header_size) return std::nullopt;
  const RecordHeader record{get32(bytes, at), get32(bytes, at + 4), get32(bytes, at + 8)};
  // Checked first: rejects most bytes that are not a record.
  if (record.length > bytes.size() - at - record_header_size ||
      record_size(record.length) > bytes.size() - at)
    return std::nullopt;
  if (get32(bytes, at + 12) != checksum_of(record, at, salt)) return std::nullopt;
  const std::string_view payload = bytes.substr(at + record_header_size, record.length);
  if (crc32c(payload) != record.payload_checksum) return std::nullopt;
  type = record.type;
  return payload;
}

bool is_followed_by_record(std::string_view bytes, std::size_t at, std::uint64_t salt) {
  std::uint32_t type = 0;
  for (at += record_alignment; at < bytes.size(); at += record_alignment) {
    if (record_at(bytes, at, salt, type)) return true;
  }
  return false;
}

}  // namespace

std::string header_bytes(const LogHeader& header) {
  std::string bytes(magic);
  put32(bytes, log_format_version);
  put32(bytes, 0);
  put64(bytes, header.salt);
  bytes.append(reinterpret_cast<const char*>(header.target.data()), header.target.size());
  bytes.resize(header_checksum_at, '\0');
  put32(bytes, crc32c(bytes));
  return bytes;
}

void append_record(std::string& out, std::uint64_t offset, const LogHeader& header,
                   std::uint32_t type, std::string_view payload) {
  const RecordHeader record{static_cast<std::uint32_t>(payload.size()), type, crc32c(payload)};
  const std::size_t end = out.size() + record_size(payload.size());
  const std::uint32_t checksum = checksum_of(record, offset + out.size(), header.salt);
  put32(out, record.length);
  put32(out, record.type);
  put32(out, record.payload_checksum);
  put32(out, checksum);
  out.append(payload);
  out.resize(end, '\0');
}

LogReading read_log(
    std::string_view bytes,
    const std::function<bool(std::uint32_t type, std::string_view payload)>& visit) {
  LogReading reading;
  if (bytes.size() < magic.size() + 4 || !bytes.starts_with(magic)) return reading;
  if (const std::uint32_t version = get32(bytes, magic.size()); version > log_format_version) {
    reading.verdict = LogVerdict::later_format;
    return reading;
  } else if (version < log_format_version && version > 0) {
    reading.verdict = LogVerdict::earlier_format;
    return reading;
  }
  if (bytes.size() < log_header_size || get32(bytes, magic.size()) != log_format_version ||
      get32(bytes, header_checksum_at) != crc32c(bytes.substr(0, header_checksum_at)))
    return reading;
  reading.header.salt = get64(bytes, 16);
  std::copy_n(bytes.begin() + 24, reading.header.target.size(), reading.header.target.begin());
  reading.end = log_header_size;
  while (reading.end < bytes.size()) {
    std::uint32_t type = 0;
    const auto payload = record_at(bytes, reading.end, reading.header.salt, type);
    if (!payload) {
      if (!is_followed_by_record(bytes, reading.end, reading.header.salt))
        reading.verdict = LogVerdict::torn;
      return reading;
    }
    if (!visit(type, *payload)) return reading;
    reading.end += record_size(payload->size());
    ++reading.records;
  }
  reading.verdict = LogVerdict::good;
  return reading;
}

}  // namespace bridge
