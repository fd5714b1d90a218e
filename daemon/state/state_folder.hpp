#pragma once

#include <string>

#include "base/descriptor.hpp"

namespace bridge {

/// The folder of the state (STATE.md): checked, and locked for as long as this lives. Files are
/// named in it by its descriptor, so that nobody puts another folder in its place.
///
/// Throws StartError (73) if it cannot be had; all else are values.
class StateFolder {
 public:
  /// Makes it (0700) if it is not there. It must be a real folder, of root or of this user, that
  /// others cannot write.
  explicit StateFolder(std::string path);

  /// As it was given, for people.
  const std::string& path() const { return path_; }
  int descriptor() const { return folder_.get(); }

  /// Opens a file of the state for reading and writing, or if that cannot be had only for reading.
  /// None if there is none. Throws StartError if it is not a file of the state's owner alone.
  struct Opened {
    Descriptor file;
    bool is_writable = false;
  };
  Opened open(const std::string& name) const;
  /// A new, empty file in the place of what has that name. None and errno if it cannot be had.
  Descriptor create(const std::string& name) const;
  /// False and errno if it cannot be.
  bool rename(const std::string& from, const std::string& to) const;
  void remove(const std::string& name) const;
  /// What was renamed is there after a loss of power, too.
  bool sync() const;

 private:
  void lock();

  std::string path_;
  Descriptor folder_;
  Descriptor lock_;
};

}  // namespace bridge
