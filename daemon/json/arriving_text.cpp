#include "json/arriving_text.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "json/json_progress.hpp"

namespace bridge {
namespace {

/// With a larger limit the address space, too, is reserved only as needed.
constexpr std::size_t most_at_once = 64u << 20;
/// Memory is requested in steps of this size, or of an eighth of what is there: page by page it
/// would cost more than writing to it.
constexpr std::size_t memory_step = 64u << 10;
constexpr std::size_t page = 4096;

}  // namespace

ArrivingText::ArrivingText() = default;
ArrivingText::~ArrivingText() = default;
ArrivingText::ArrivingText(ArrivingText&&) noexcept = default;
ArrivingText& ArrivingText::operator=(ArrivingText&&) noexcept = default;

void ArrivingText::append(std::string_view piece, std::size_t limit) {
  const std::size_t size = bytes_.size() + piece.size();
  if (size >= large) {
    if (size > bytes_.capacity()) make_room(size, limit);
    while (prepared_ < size) prepare_memory();
  } else if (bytes_.empty()) {
    expect(size);
  }
  bytes_.append(piece);
  if (size < JsonProgress::worthwhile) return;
  if (!progress_) progress_ = std::make_unique<JsonProgress>();
  // The last byte may be removed again.
  progress_->read_on(std::string_view(bytes_).substr(0, size - 1));
}

void ArrivingText::make_room(std::size_t size, std::size_t limit) {
  const std::size_t room = std::max(std::min(limit, most_at_once) + room_behind(size), size * 2);
  try {
    bytes_.reserve(room);
  } catch (const std::bad_alloc&) {
    // Address space is limited here: the buffer grows as needed.
  }
  prepared_ = 0;
}

/// Requests the pages of the next step, as far as reserved. If this fails they are paged in on use.
void ArrivingText::prepare_memory() {
  const std::size_t begin = std::max(prepared_, bytes_.size());
  prepared_ = begin + std::max(memory_step, begin / 8);
#ifdef MADV_POPULATE_WRITE
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(bytes_.data()) % page;
  const std::size_t from = (into_page + begin + page - 1) / page * page;
  const std::size_t to = (into_page + std::min(prepared_, bytes_.capacity())) / page * page;
  if (from < to) madvise(bytes_.data() + (from - into_page), to - from, MADV_POPULATE_WRITE);
#endif
}

ReceivedText ArrivingText::take() {
  std::unique_ptr<const CheckedJson> checked;
  if (progress_) {
    if (auto found = progress_->finish(bytes_))
      checked = std::make_unique<const CheckedJson>(*std::move(found));
    progress_.reset();
  }
  prepared_ = 0;
  return {std::exchange(bytes_, {}), std::move(checked)};
}

void ArrivingText::clear() {
  std::string().swap(bytes_);
  progress_.reset();
  prepared_ = 0;
}

std::optional<LineSplitter::Item> LineSplitter::next(std::string_view& chunk) {
  while (!chunk.empty()) {
    const std::size_t newline = chunk.find('\n');
    const std::string_view part = chunk.substr(0, newline);
    // One byte more than the limit may still be the \r of a line of exactly that size.
    const std::size_t length = pending_.size() + part.size();
    if (discarding_) {
      ends_.add(part);
    } else if (length <= max_line_ || (length == max_line_ + 1 && last_of(part) == '\r')) {
      pending_.append(part, max_line_ + 1);
    } else {
      discarding_ = true;
      ends_.add(pending_.bytes());
      ends_.add(part);
      pending_.clear();
      chunk.remove_prefix(part.size());
      return Oversized{};
    }
    chunk.remove_prefix(newline == chunk.npos ? chunk.size() : newline + 1);
    if (newline == chunk.npos) break;
    if (auto line = finish()) return line;
  }
  return std::nullopt;
}

std::optional<LineSplitter::Item> LineSplitter::finish() {
  if (std::exchange(discarding_, false)) return std::exchange(ends_, {});
  if (last_of({}) == '\r') pending_.drop_last();
  if (pending_.empty()) return std::nullopt;
  return pending_.take();
}

}  // namespace bridge
