#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "state/archive.hpp"
#include "state/log_format.hpp"

namespace bridge {

/// Appends records to one log: they are gathered, and written with one write(2) when that is asked
/// for. Owned by the StateLog; the loop's thread only. Memory: what was gathered since.
class LogWriter {
 public:
  /// Goes on behind the first `size` bytes of a log.
  LogWriter(Descriptor file, const LogHeader& header, std::uint64_t size)
      : file_(std::move(file)), header_(header), written_(size) {}
  /// Begins one in an empty file.
  LogWriter(Descriptor file, const LogHeader& header)
      : file_(std::move(file)), header_(header), gathered_(header_bytes(header)) {}

  void append(std::uint32_t type, std::string_view payload) {
    append_record(gathered_, written_, header_, type, payload);
  }
  /// Of values, as they are now.
  template <class... Values>
  void append(std::uint32_t type, const Moment& now, const Values&... values) {
    append(type, Archive::write(Archive::Kind::disk, now, values...));
  }
  /// False and errno if it fails; then nothing more is to be written.
  bool write();
  /// What was written is on the disk. False and errno if that fails.
  bool sync() { return fdatasync(file_.get()) == 0; }

  bool has_gathered() const { return !gathered_.empty(); }
  /// Of the file, when all is written.
  std::uint64_t size() const { return written_ + gathered_.size(); }

 private:
  Descriptor file_;
  LogHeader header_;
  std::uint64_t written_ = 0;
  std::string gathered_;
};

}  // namespace bridge
