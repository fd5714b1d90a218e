#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <string_view>

#include "base/descriptor.hpp"

namespace bridge {

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

}  // namespace bridge
