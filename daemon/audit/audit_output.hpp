#pragma once

#include <cstddef>
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
  virtual const std::string& fault() const = 0;
  /// SIGHUP: opens it again.
  virtual Reopened reopen() = 0;
  virtual ~AuditOutput() = default;
};

/// A file that lines are appended to: 0600, of this user alone, in a folder that others cannot
/// write. What an earlier daemon has left without its line end gets one.
class AuditFile final : public AuditOutput {
 public:
  /// Throws StartError (73) if it cannot be used.
  explicit AuditFile(std::string path);
  ~AuditFile() override;
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  std::size_t write(std::string_view lines) override;
  const std::string& fault() const override { return fault_; }
  Reopened reopen() override;

  /// The lines that have an id and no outcome, and whose id no later line has: of an earlier daemon
  /// that died. Looks at the last 64 MiB.
  std::vector<std::string> unended() const;

 private:
  Reopened open();

  std::string path_;
  std::string fault_;
  int file_ = -1;
};

/// The journal of systemd, by its own protocol (systemd, "Native Journal Protocol"): an entry a
/// line, with SYSLOG_IDENTIFIER=mcp-bridged-audit.
class AuditJournal final : public AuditOutput {
 public:
  /// Throws StartError (73) if there is no journal. `path`: of its socket.
  explicit AuditJournal(std::string path = "/run/systemd/journal/socket");
  ~AuditJournal() override;
  AuditJournal(const AuditJournal&) = delete;
  AuditJournal& operator=(const AuditJournal&) = delete;

  std::size_t write(std::string_view lines) override;
  const std::string& fault() const override { return fault_; }
  Reopened reopen() override;

 private:
  std::string path_;
  std::string fault_;
  int socket_ = -1;
};

}  // namespace bridge
