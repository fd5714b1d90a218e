#include "state/archive.hpp"

#include <array>

namespace bridge {
namespace {

constexpr std::size_t number_size = sizeof(std::uint64_t);
using Number = std::array<char, number_size>;

/// Little-endian.
Number bytes_of(std::uint64_t number) {
  Number bytes;
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xff);
    number >>= 8;
  }
  return bytes;
}

}  // namespace

void Archive::put_number(std::uint64_t number) {
  if (mode_ == Mode::measure) {
    size_ += number_size;
  } else {
    const Number bytes = bytes_of(number);
    bytes_.append(bytes.data(), bytes.size());
  }
}

std::uint64_t Archive::take_number() {
  if (rest_.size() < number_size) {
    fail();
    return 0;
  }
  std::uint64_t number = 0;
  for (std::size_t byte = number_size; byte-- > 0;)
    number = number << 8 | static_cast<unsigned char>(rest_[byte]);
  rest_.remove_prefix(number_size);
  return number;
}

void Archive::value(std::string& text) {
  std::uint64_t size = text.size();
  number(size);
  if (mode_ == Mode::write) {
    bytes_.append(text);
  } else if (mode_ == Mode::measure) {
    size_ += text.size();
  } else if (size > rest_.size()) {
    fail();
  } else {
    text = rest_.substr(0, size);
    rest_.remove_prefix(text.size());
  }
}

/// On disk microseconds since 1970 (0: none); clamped on reading to the clock's range.
void Archive::value(WallTime& time) {
  using std::chrono::microseconds;
  if (kind_ == Kind::memory) {
    auto passed = time.time_since_epoch();
    value(passed);
    time = WallTime(passed);
    return;
  }
  const auto passed = std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count();
  auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(passed, 0));
  number(count);
  if (mode_ != Mode::read) return;
  constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max() / 1000;
  time = WallTime(std::chrono::duration_cast<WallTime::duration>(
      microseconds(static_cast<std::int64_t>(std::min(count, latest)))));
}

/// On disk by the calendar; "none" is kept.
void Archive::value(SteadyTime& time) {
  if (kind_ == Kind::memory) {
    auto passed = time.time_since_epoch();
    value(passed);
    time = SteadyTime(passed);
    return;
  }
  // Far enough for any job, and within the clock's range.
  constexpr std::chrono::hours furthest{24 * 366 * 100};
  WallTime on_calendar{};
  if (time != SteadyTime{}) {
    const auto off = std::clamp<SteadyTime::duration>(time - now_.steady, -furthest, furthest);
    on_calendar = now_.wall + std::chrono::duration_cast<WallTime::duration>(off);
  }
  value(on_calendar);
  if (mode_ != Mode::read) return;
  const auto off = std::clamp<WallTime::duration>(on_calendar - now_.wall, -furthest, furthest);
  time = on_calendar == WallTime{}
             ? SteadyTime{}
             : now_.steady + std::chrono::duration_cast<SteadyTime::duration>(off);
}

std::size_t Archive::begin_struct() {
  const std::size_t at = bytes_.size();
  put_number(0);
  return at;
}

/// Fills in the length, which is known now.
void Archive::end_struct(std::size_t at) {
  if (mode_ != Mode::write) return;
  const Number length = bytes_of(bytes_.size() - at - number_size);
  std::copy(length.begin(), length.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace bridge
