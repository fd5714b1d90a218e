#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Where lines of the audit go.
class AuditOutput {
 public:
  enum class Reopened {
    failed,   ///< fault() says why, and write() tries again
    same,     ///< it is what was open before: a line may go on in it
    another,  ///< the next line begins in it
  };
  /// Writes as much of these whole lines as it can now; never waits. Returns how many bytes; less
  /// than all: fault() says why.
  virtual std::size_t write(std::string_view lines) = 0;
  /// Why the last open or write failed; empty: it did not.
  virtual const std::string& fault() const = 0;
  /// Whether it took less than all only because its reader is behind: it may take more soon.
  virtual bool is_busy() const { return false; }
  /// Waits for at most `time` until it may take more. False if it does not.
  virtual bool wait(std::chrono::milliseconds time) const {
    static_cast<void>(time);
    return false;
  }
  /// SIGHUP: opens it again.
  virtual Reopened reopen() = 0;
  virtual ~AuditOutput() = default;
};

/// What an output does if it cannot be opened when it is made.
enum class AuditStart : std::uint8_t {
  must_open,   ///< throws StartError (73)
  may_be_shut  ///< fault() says why, and write() or reopen() tries again: for an upgrade
};

/// A file that lines are appended to: 0600, of this user alone, in a folder that others cannot
/// write. A line that an earlier daemon has left without its end gets one. Daemons may share it.
class AuditFile final : public AuditOutput {
 public:
  explicit AuditFile(std::string path, AuditStart start = AuditStart::must_open);
  ~AuditFile() override;
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  std::size_t write(std::string_view lines) override;
  const std::string& fault() const override { return fault_; }
  Reopened reopen() override;

  /// The lines that have an id and no outcome, and whose id no later line has: of an earlier daemon
  /// that died; none while another daemon has the file open (flock(2)). Looks at the last 64 MiB.
  std::vector<std::string> unended() const;

 private:
  Reopened open();
  bool end_cut_line();

  std::string path_;
  std::string fault_;
  int file_ = -1;
  bool has_cut_line_ = false;  ///< the file ends within a line
  bool is_shared_ = false;     ///< another daemon had it open
};

/// Why AuditFile could not be opened, with its path, for display; empty: it could. Changes nothing.
std::string fault_of_audit_file(const std::string& path);

/// Standard output or error: a container's log, for example. Never waits for its reader. A line of
/// up to 4096 bytes is never split by another writer's.
class AuditStream final : public AuditOutput {
 public:
  /// Of the process; it stays open. Throws StartError (73) if it is closed and `start` asks for
  /// that.
  explicit AuditStream(int descriptor, AuditStart start = AuditStart::must_open);

  std::size_t write(std::string_view lines) override;
  const std::string& fault() const override { return fault_; }
  bool is_busy() const override { return is_busy_; }
  Reopened reopen() override;

 private:
  const int descriptor_;
  std::string fault_;
  bool is_busy_ = false;
};

/// The journal of systemd, by its own protocol (systemd, "Native Journal Protocol"): an entry a
/// line, with SYSLOG_IDENTIFIER=mcp-bridged-audit.
class AuditJournal final : public AuditOutput {
 public:
  /// `path`: of its socket.
  explicit AuditJournal(AuditStart start = AuditStart::must_open,
                        std::string path = "/run/systemd/journal/socket");
  ~AuditJournal() override;
  AuditJournal(const AuditJournal&) = delete;
  AuditJournal& operator=(const AuditJournal&) = delete;

  std::size_t write(std::string_view lines) override;
  const std::string& fault() const override { return fault_; }
  bool is_busy() const override { return is_busy_; }
  bool wait(std::chrono::milliseconds time) const override;
  Reopened reopen() override;

 private:
  std::string path_;
  std::string fault_;
  int socket_ = -1;
  bool is_busy_ = false;
};

}  // namespace bridge
