#include "verbs/log_output.hpp"

#include "json/text.hpp"
#include "terminal/visible.hpp"
#include "text/utf8.hpp"
#include "text/whole_characters.hpp"

namespace client {

std::string LogOutput::json_line(std::string_view line) {
  return "{\"line\":" +
         json::quote(bridge::is_utf8(line) ? std::string(line) : make_visible(line)) + "}\n";
}

void LogOutput::add(std::string_view piece) {
  if (!as_json_) return console_.print(piece);
  begun_ += piece;
  std::string lines;
  std::size_t done = 0;
  for (std::size_t end = begun_.find('\n'); end != begun_.npos; end = begun_.find('\n', done)) {
    lines += json_line(std::string_view(begun_).substr(done, end - done));
    done = end + 1;
  }
  begun_.erase(0, done);
  while (begun_.size() > longest_line) {
    const std::size_t length = bridge::whole_characters(begun_, longest_line).size();
    lines += json_line(std::string_view(begun_).substr(0, length));
    begun_.erase(0, length);
  }
  console_.print(lines);
}

void LogOutput::finish() {
  if (!begun_.empty()) console_.print(json_line(begun_));
  begun_.clear();
}

}  // namespace client
