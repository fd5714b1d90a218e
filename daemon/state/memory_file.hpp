#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace bridge {

/// The open descriptors above stderr that an argument names by its end, `/proc/self/fd/N`, in their
/// order and each once: whoever started the program has handed it files that way, and the next
/// image reads them again.
std::vector<int> named_descriptors(const std::vector<std::string>& arguments);

/// The bytes of a file, for as long as this lives.
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

/// Seals a file in memory against every change (fcntl(2), "File Sealing"). False, and errno, if
/// that fails. The kernel refuses with EBUSY while it holds pages of the file itself, for example
/// to compact memory; then it is tried again, for about a second in all.
bool seal(int memory_file);

/// A file in memory only, which nobody can change any more (memfd_create(2), fcntl(2) "File
/// Sealing"). None, and errno, if it cannot be made. Closed by exec, unless its owner says
/// otherwise.
Descriptor make_memory_file(std::string_view bytes);

/// What stands in one; none if the descriptor is no such file.
std::optional<std::string> read_memory_file(int descriptor);

}  // namespace bridge
