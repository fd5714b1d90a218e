#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"

namespace bridge {

/// The open descriptors above stderr that the ends of arguments name, `/proc/self/fd/N`, in their
/// order and each once: files passed in this way by the starting process, which the next process
/// reads again.
std::vector<int> named_descriptors(const std::vector<std::string>& arguments);

/// The bytes of a file, mapped during its lifetime.
class MappedFile {
 public:
  explicit MappedFile(const Descriptor& file) {
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || status.st_size <= 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    is_readable_ = bytes_ != MAP_FAILED;
    if (!is_readable_) size_ = 0;
  }
  ~MappedFile() {
    if (size_ > 0) munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool is_readable() const { return is_readable_; }
  std::string_view bytes() const { return {static_cast<const char*>(bytes_), size_}; }

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
  bool is_readable_ = true;
};

/// Seals a memory file against every change (fcntl(2), "File Sealing"). On failure returns false
/// with errno. The kernel refuses with EBUSY while it holds pages of the file itself, for example
/// to compact memory; the call then retries for about a second in total.
bool seal(int memory_file);

/// A file in memory that can no longer be changed (memfd_create(2), fcntl(2) "File
/// Sealing"). On failure none, with errno. Closed by exec unless its owner clears that
/// flag.
Descriptor make_memory_file(std::string_view bytes);

/// The content of such a file; nullopt if the descriptor is another kind of file.
std::optional<std::string> read_memory_file(int descriptor);

}  // namespace bridge
