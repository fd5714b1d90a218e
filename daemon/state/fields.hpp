#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

/// Writes the fields of a record (STATE.md): numbers of eight bytes, the lowest first; texts with
/// their length before them. A value.
class FieldWriter {
 public:
  FieldWriter& number(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      bytes_.push_back(static_cast<char>(value & 0xff));
      value >>= 8;
    }
    return *this;
  }
  FieldWriter& text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads them again, whatever the bytes are: what is not there is 0 or empty, and is_good() says
/// so. The texts are parts of what is read. A value.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    if (rest_.size() < 8) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t byte = 8; byte-- > 0;)
      value = value << 8 | static_cast<unsigned char>(rest_[byte]);
    rest_.remove_prefix(8);
    return value;
  }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(value.size());
    return value;
  }

  /// All that was asked for was there.
  bool is_good() const { return good_; }
  /// And nothing else.
  bool is_done() const { return good_ && rest_.empty(); }
  bool is_at_end() const { return rest_.empty(); }

 private:
  void fail() {
    good_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace bridge
