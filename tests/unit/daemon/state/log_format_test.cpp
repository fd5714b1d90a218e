// The log of the state, by value: only what was written is read, whatever the bytes are.
#include "state/log_format.hpp"

#include <doctest/doctest.h>

#include <random>
#include <utility>
#include <vector>

using namespace bridge;

namespace {

using Records = std::vector<std::pair<std::uint32_t, std::string>>;

LogHeader a_header() {
  LogHeader header;
  header.salt = 0x0123456789abcdef;
  for (std::size_t i = 0; i < header.target.size(); ++i)
    header.target[i] = static_cast<unsigned char>(i * 7);
  return header;
}

std::string log_of(const Records& records, const LogHeader& header = a_header()) {
  std::string bytes = header_bytes(header);
  for (const auto& [type, payload] : records) append_record(bytes, 0, header, type, payload);
  return bytes;
}

struct Replay {
  LogReading reading;
  Records records;
};

Replay replay(std::string_view bytes) {
  Replay result;
  result.reading = read_log(bytes, [&](std::uint32_t type, std::string_view payload) {
    result.records.emplace_back(type, payload);
    return true;
  });
  return result;
}

const Records some = {{1, "one"}, {2, ""}, {3, std::string(1000, 'x')}, {1, "12345678"}};

}  // namespace

TEST_CASE("the checksum is that of RFC 3720") {
  CHECK(crc32c("123456789") == 0xE3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);
  CHECK(crc32c("6789", crc32c("12345")) == crc32c("123456789"));
}

TEST_CASE("a log is read as it was written") {
  for (const Records& records : {some, Records{}}) {
    const Replay all = replay(log_of(records));
    CHECK(all.reading.verdict == LogVerdict::good);
    CHECK(all.records == records);
    CHECK(all.reading.records == records.size());
    CHECK(all.reading.end == log_of(records).size());
    CHECK(all.reading.header.salt == a_header().salt);
    CHECK(all.reading.header.target == a_header().target);
  }
}

TEST_CASE("a record that is appended piece by piece stands as in one") {
  const LogHeader header = a_header();
  std::string file = header_bytes(header);
  for (const auto& [type, payload] : some) {
    std::string piece;
    append_record(piece, file.size(), header, type, payload);
    CHECK(piece.size() == record_size(payload.size()));
    file += piece;
  }
  CHECK(file == log_of(some));
}

TEST_CASE("wherever its last record is torn, all before it is kept and the place to cut is told") {
  const std::string whole = log_of(some);
  const std::size_t last = whole.size() - record_size(some.back().second.size());
  for (std::size_t size = last + 1; size < whole.size(); ++size) {
    const Replay cut = replay(whole.substr(0, size));
    REQUIRE(cut.reading.verdict == LogVerdict::torn);
    REQUIRE(cut.reading.end == last);
    REQUIRE(cut.records.size() == some.size() - 1);
  }
  CHECK(replay(whole.substr(0, last)).reading.verdict == LogVerdict::good);
}

TEST_CASE("an end of zeros or of anything else is torn, not damage") {
  const std::string whole = log_of(some);
  for (const std::string& end :
       {std::string(4096, '\0'), std::string(100, '\xff'), std::string(3, 'x')}) {
    const Replay read = replay(whole + end);
    CHECK(read.reading.verdict == LogVerdict::torn);
    CHECK(read.reading.end == whole.size());
    CHECK(read.records == some);
  }
}

TEST_CASE("a bit that has changed before the last record is damage, in it a torn end") {
  const std::string whole = log_of(some);
  const std::size_t last = whole.size() - record_size(some.back().second.size());
  for (std::size_t at = log_header_size; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const Replay read = replay(changed);
    // Padding bytes have no meaning.
    if (read.reading.verdict == LogVerdict::good) {
      REQUIRE(read.records == some);
      continue;
    }
    REQUIRE(read.reading.verdict == (at < last ? LogVerdict::damaged : LogVerdict::torn));
    REQUIRE(read.records.size() < some.size());
  }
}

TEST_CASE("whatever is wrong with its header, nothing of it is read") {
  const std::string whole = log_of(some);
  for (std::size_t at = 0; at < log_header_size; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x01);
    const Replay read = replay(changed);
    REQUIRE(read.reading.verdict != LogVerdict::good);
    REQUIRE(read.reading.verdict != LogVerdict::torn);
    REQUIRE(read.records.empty());
  }
  for (std::size_t size = 0; size < log_header_size; ++size)
    REQUIRE(replay(whole.substr(0, size)).reading.verdict == LogVerdict::damaged);
}

TEST_CASE("another format is told from damage, whatever follows its number") {
  for (const auto& [format, verdict] :
       {std::pair{log_format_version + 1, LogVerdict::later_format},
        std::pair{log_format_version - 1, LogVerdict::earlier_format}}) {
    std::string other = log_of(some);
    other[8] = static_cast<char>(format);
    CHECK(replay(other).reading.verdict == verdict);
    CHECK(replay(other.substr(0, 12)).reading.verdict == verdict);
  }
  std::string none = log_of(some);
  none[8] = 0;
  CHECK(replay(none).reading.verdict == LogVerdict::damaged);
}

TEST_CASE("a record counts only in its file and at its place") {
  LogHeader other = a_header();
  other.salt = 1;
  std::string foreign = header_bytes(a_header());
  append_record(foreign, 0, other, 1, "of another file");
  CHECK(replay(foreign).reading.verdict == LogVerdict::torn);

  // A notification that quotes a log does not become a part of it.
  std::string torn = log_of({{1, log_of(some)}, {2, "last"}});
  torn[log_header_size + 4] = 9;
  CHECK(replay(torn).reading.verdict == LogVerdict::damaged);
  torn = log_of({{1, log_of(some)}});
  torn[log_header_size + 4] = 9;
  CHECK(replay(torn).reading.verdict == LogVerdict::torn);
}

TEST_CASE("a record that is not understood is damage") {
  int seen = 0;
  const LogReading reading =
      read_log(log_of(some), [&](std::uint32_t, std::string_view) { return ++seen < 2; });
  CHECK(reading.verdict == LogVerdict::damaged);
  CHECK(reading.records == 1);
}

TEST_CASE("no bytes make the reader read past them") {
  std::mt19937 random(17);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = log_of(some);
    for (int change = 0; change < 8; ++change)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    const Replay read = replay(bytes);
    REQUIRE(read.reading.end <= bytes.size());
  }
}
