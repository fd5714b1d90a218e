#include "http/accept.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace bridge {
namespace {

/// The type without its parameters, lower case.
std::string type_of(std::string_view range) {
  range = range.substr(0, range.find(';'));
  std::string type;
  for (const char c : range) {
    if (c != ' ' && c != '\t')
      type.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return type;
}

/// The `q` of a range; 1 if it has none or a wrong one.
double quality_of(std::string_view range) {
  for (auto at = range.find(';'); at != range.npos; at = range.find(';', at + 1)) {
    std::string parameter(range.substr(at + 1));
    parameter.erase(std::remove_if(parameter.begin(), parameter.end(),
                                   [](char c) { return c == ' ' || c == '\t'; }),
                    parameter.end());
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) continue;
    char* end = nullptr;
    const double value = std::strtod(parameter.c_str() + 2, &end);
    return end == parameter.c_str() + 2 ? 1.0 : std::clamp(value, 0.0, 1.0);
  }
  return 1.0;
}

template <class Visit>
void each_range(std::string_view accept, Visit&& visit) {
  while (!accept.empty()) {
    const auto comma = accept.find(',');
    const std::string_view range = accept.substr(0, comma);
    const double quality = quality_of(range);
    if (quality > 0) visit(type_of(range), quality);
    accept = comma == accept.npos ? std::string_view() : accept.substr(comma + 1);
  }
}

}  // namespace

AnswerForm answer_form(std::string_view accept) {
  std::optional<double> stream;
  std::optional<double> json;
  bool stream_first = false;
  each_range(accept, [&](const std::string& type, double quality) {
    if (type == "text/event-stream" && !stream) {
      stream = quality;
      stream_first = !json;
    } else if (type == "application/json" && !json) {
      json = quality;
    }
  });
  if (!stream) return AnswerForm::json;
  if (!json || *stream > *json || (*stream == *json && stream_first)) return AnswerForm::stream;
  return AnswerForm::either;
}

bool accepts_stream(std::string_view accept) {
  bool accepted = accept.find_first_not_of(" \t") == accept.npos;
  each_range(accept, [&](const std::string& type, double) {
    accepted = accepted || type == "text/event-stream" || type == "text/*" || type == "*/*";
  });
  return accepted;
}

bool is_json_type(std::string_view content_type) {
  const std::string type = type_of(content_type);
  return type == "application/json" ||
         (type.starts_with("application/") && type.ends_with("+json"));
}

}  // namespace bridge
