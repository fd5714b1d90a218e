#include "http/sse_parser.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

/// A longer type, id or delay is not accepted; real ones are far shorter.
constexpr std::size_t max_field = 4096;
/// A line longer than this has too long a value, whatever its name: "event: " is 7 bytes.
constexpr std::size_t max_field_line = max_field + 7;
constexpr std::string_view data_begin = "data:";
constexpr std::string_view id_begin = "id:";
static_assert(header_limit::event_id <= max_field, "a cut id must not fit in a header");

std::string_view value_after(std::string_view line, std::size_t colon) {
  std::string_view value = line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return value;
}

/// Finds line ends in a chunk, in order. Remembers the next LF, so that a chunk of many CR is not
/// searched again for each of them.
class LineEnds {
 public:
  explicit LineEnds(std::string_view chunk) : chunk_(chunk), lf_(chunk.find('\n')) {}

  /// The first CR or LF at or after `from`; npos if there is none.
  std::size_t next(std::size_t from) {
    if (lf_ != chunk_.npos && lf_ < from) lf_ = chunk_.find('\n', from);
    const std::size_t cr = chunk_.substr(0, lf_).find('\r', from);
    return cr != chunk_.npos ? cr : lf_;
  }

 private:
  std::string_view chunk_;
  std::size_t lf_;
};

}  // namespace

bool SseData::begin_line(std::string_view value) {
  if (is_oversized()) {
    skip_line(value);
    return true;
  }
  if (!fits((has_lines() ? 1 : 0) + value.size())) {
    skip(text_.bytes(), value);
    return false;
  }
  if (has_lines()) text_.append("\n", limit_);
  kind_ = Kind::lines;
  line_ = text_.size();
  text_.append(value, limit_);
  return true;
}

bool SseData::add(std::string_view part) {
  if (!is_oversized() && fits(part.size())) {
    text_.append(part, limit_);
    return true;
  }
  const bool was_oversized = is_oversized();
  const std::string_view text = text_.bytes();
  if (!was_oversized) skip(text.substr(0, line_ == 0 ? 0 : line_ - 1), text.substr(line_));
  ends_.add(part);
  return was_oversized;
}

/// Keeps only the ends of what was received: the lines before the last one, and the last one.
void SseData::skip(std::string_view before, std::string_view line) {
  kind_ = Kind::oversized;
  ends_.add(before);
  skip_line(line);
  text_.clear();
}

/// A line of an oversized event, or its first part.
void SseData::skip_line(std::string_view value) {
  if (!ends_.end().empty()) ends_.add(" ");
  ends_.add(value);
}

ReceivedText SseData::take() {
  kind_ = Kind::none;
  return text_.take();
}

TextEnds SseData::take_ends() {
  kind_ = Kind::none;
  return std::exchange(ends_, {});
}

void SseParser::feed(std::string_view chunk, SseSink& sink) {
  LineEnds ends(chunk);
  for (std::size_t at = 0; at < chunk.size();) {
    if (std::exchange(after_cr_, false) && chunk[at] == '\n') {
      ++at;
      continue;
    }
    const std::size_t end = ends.next(at);
    if (end == chunk.npos) {
      hold(chunk.substr(at), sink);
      return;
    }
    after_cr_ = chunk[end] == '\r';
    const std::string_view line_part = chunk.substr(at, end - at);
    const Line in = std::exchange(in_, Line::held);
    if (in == Line::data) {
      add_data(line_part, sink);
    } else if (in == Line::skipped) {
      at_start_ = false;
    } else if (line_.empty()) {
      end_of_line(line_part, sink);
    } else {
      line_.append(line_part);
      const std::string line = std::exchange(line_, std::string());
      end_of_line(line, sink);
    }
    at = end + 1;
  }
}

/// Keeps a part of a line whose end has not arrived, unless that line can no longer count.
void SseParser::hold(std::string_view part, SseSink& sink) {
  if (in_ == Line::data) add_data(part, sink);
  if (in_ != Line::held) return;
  line_.append(part);
  std::string_view line = line_;
  if (at_start_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  // The colon may be followed by a space.
  if (line.starts_with(data_begin) && line.size() > data_begin.size()) {
    at_start_ = false;
    in_ = Line::data;
    begin_data(value_after(line, data_begin.size() - 1), sink);
    std::string().swap(line_);
  } else if (line.size() > max_field_line) {
    in_ = Line::skipped;
    if (line.starts_with(id_begin)) take_id(value_after(line, id_begin.size() - 1));
    std::string().swap(line_);
  }
}

void SseParser::begin_data(std::string_view value, SseSink& sink) {
  if (!data_.begin_line(value)) sink.on_oversized_event();
}

void SseParser::add_data(std::string_view part, SseSink& sink) {
  if (!data_.add(part)) sink.on_oversized_event();
}

void SseParser::end_of_line(std::string_view line, SseSink& sink) {
  if (std::exchange(at_start_, false) && line.substr(0, 3) == byte_order_mark)
    line.remove_prefix(3);
  if (line.empty()) {
    dispatch(sink);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == 0) return;  // a comment
  field(line.substr(0, colon), colon == line.npos ? std::string_view() : value_after(line, colon),
        sink);
}

void SseParser::field(std::string_view name, std::string_view value, SseSink& sink) {
  if (name == "data") {
    begin_data(value, sink);
  } else if (name == "id") {
    take_id(value);
  } else if (value.size() > max_field) {
    return;
  } else if (name == "event") {
    type_.assign(value);
  } else if (name == "retry") {
    const bool digits = !value.empty() && value.find_first_not_of("0123456789") == value.npos;
    unsigned milliseconds = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (digits && read.ec == std::errc()) sink.on_retry(std::chrono::milliseconds(milliseconds));
  }
}

/// Of an id that is too long, enough is kept to show that.
void SseParser::take_id(std::string_view id) {
  if (id.size() <= max_field && id.find('\0') != id.npos) return;
  event_id_.emplace(id.substr(0, max_field + 1));
}

void SseParser::dispatch(SseSink& sink) {
  const bool had_id = event_id_.has_value();
  if (had_id) last_event_id_ = *std::exchange(event_id_, std::nullopt);
  event_had_id_ = had_id && last_event_id_.size() <= max_field;
  std::string type = std::exchange(type_, std::string());
  if (data_.is_oversized()) {
    const TextEnds ends = data_.take_ends();
    sink.on_oversized_event_end(ends.beginning(), ends.end());
  } else if (data_.has_lines() || had_id) {
    sink.on_event(std::move(type), data_.take());
  }
}

}  // namespace bridge
