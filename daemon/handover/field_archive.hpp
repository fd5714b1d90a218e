#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "state/fields.hpp"

namespace bridge {

template <class T>
concept FieldNumber = std::is_enum_v<T> || std::is_integral_v<T>;

/// Writes values as the fields of a record: a list as its length and its elements, a struct as its
/// each_field() names its members. What it writes FieldInput reads.
class FieldOutput {
 public:
  template <class... Values>
  void operator()(Values&... values) {
    (put(values), ...);
  }
  const std::string& bytes() const { return writer_.bytes(); }

 private:
  void put(const std::string& text) { writer_.text(text); }
  template <FieldNumber Number>
  void put(Number number) {
    writer_.number(static_cast<std::uint64_t>(number));
  }
  template <class T>
  void put(std::vector<T>& list) {
    writer_.number(list.size());
    for (T& one : list) put(one);
  }
  void put(const std::map<std::string, std::string>& all) {
    writer_.number(all.size());
    for (const auto& [name, value] : all) writer_.text(name).text(value);
  }
  template <class T>
  requires requires(T& value, FieldOutput& out) { value.each_field(out); }
  void put(T& value) { value.each_field(*this); }

  FieldWriter writer_;
};

/// Reads them again, whatever the bytes are. What a record of an older version does not have at its
/// end keeps its default; what is more than is known here is not understood. A value.
class FieldInput {
 public:
  explicit FieldInput(std::string_view bytes) : reader_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }
  bool is_done() const { return reader_.is_done(); }

 private:
  void take(std::string& text) {
    if (!reader_.is_at_end()) text = std::string(reader_.text());
  }
  template <FieldNumber Number>
  void take(Number& number) {
    if (!reader_.is_at_end()) number = static_cast<Number>(reader_.number());
  }
  template <class T>
  void take(std::vector<T>& list) {
    const std::uint64_t size = reader_.is_at_end() ? 0 : reader_.number();
    for (std::uint64_t i = 0; i < size && !reader_.is_at_end(); ++i) take(list.emplace_back());
    if (list.size() != size) reader_.number();  // which there is not: it is not good
  }
  void take(std::map<std::string, std::string>& all) {
    const std::uint64_t size = reader_.is_at_end() ? 0 : reader_.number();
    for (std::uint64_t i = 0; i < size && reader_.is_good(); ++i) {
      std::string name(reader_.text());
      all[std::move(name)] = std::string(reader_.text());
    }
  }
  template <class T>
  requires requires(T& value, FieldInput& in) { value.each_field(in); }
  void take(T& value) { value.each_field(*this); }

  FieldReader reader_;
};

}  // namespace bridge
