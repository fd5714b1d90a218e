#include "mcp/meta_edit.hpp"

#include <fmt/format.h>

#include "text/json_text.hpp"

namespace bridge {

bool has_place_for_meta(const Frame& frame) {
  const std::string_view params = frame.text(frame.params);
  return params.empty() || is_object(params) || params == "null";
}

void add_meta_members(Edits& edits, const Frame& frame, const std::string& members) {
  if (!has_place_for_meta(frame)) return;
  if (is_object(frame.text(frame.meta))) {
    return add_members(edits, frame.bytes, frame.meta, members);
  }
  const std::string meta = fmt::format("{{{}}}", members);
  if (frame.meta.present()) {
    edits.replace(frame.meta, meta);
  } else if (is_object(frame.text(frame.params))) {
    add_members(edits, frame.bytes, frame.params, "\"_meta\":" + meta);
  } else if (frame.params.present()) {
    edits.replace(frame.params, fmt::format(R"({{"_meta":{}}})", meta));
  } else {
    add_members(edits, frame.bytes, whole_value(frame.bytes),
                fmt::format(R"("params":{{"_meta":{}}})", meta));
  }
}

}  // namespace bridge
