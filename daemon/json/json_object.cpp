#include "json/json_object.hpp"

#include "json/json_text.hpp"

namespace bridge {

JsonObject& JsonObject::add(std::string_view name, std::string_view text) {
  return add(name, RawJson{quote(text)});
}

JsonObject& JsonObject::add(std::string_view name, RawJson json) {
  if (text_.size() > 1) text_ += ',';
  text_ += '"';
  text_ += name;
  text_ += "\":";
  text_ += json.text;
  return *this;
}

JsonObject& JsonObject::add(RawJson name, RawJson json) {
  if (text_.size() > 1) text_ += ',';
  text_ += name.text;
  text_ += ':';
  text_ += json.text;
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, const JsonArray& array) {
  return add(name, RawJson{array.text()});
}

JsonObject& JsonObject::add(std::string_view name, const JsonObject& object) {
  return add(name, RawJson{object.text()});
}

JsonArray& JsonArray::add(std::string_view text) { return add(RawJson{quote(text)}); }

}  // namespace bridge
