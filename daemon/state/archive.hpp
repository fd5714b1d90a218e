#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/clock.hpp"

namespace bridge {

/// The same moment on both clocks.
struct Moment {
  SteadyTime steady{};
  WallTime wall{};
};

/// Converts to any type, to count the members of a struct.
struct AnyMember {
  template <class Member>
  operator Member() const noexcept;
};
template <class Struct, std::size_t... Places>
constexpr bool takes_members(std::index_sequence<Places...>) {
  return requires { Struct{(static_cast<void>(Places), AnyMember{})...}; };
}
/// The size of a class with these members, in this order.
template <class... Members>
constexpr std::size_t size_with() {
  std::size_t size = 0;
  ((size = (size + alignof(Members) - 1) / alignof(Members) * alignof(Members) + sizeof(Members)),
   ...);
  constexpr std::size_t alignment = std::max({alignof(Members)...});
  return (size + alignment - 1) / alignment * alignment;
}
/// Whether a struct has exactly these members: an aggregate by their number, a base counted as one;
/// a class with private ones by its size, so that only one that fits in its padding is missed.
template <class Struct, class... Members>
constexpr bool has_members() {
  if constexpr (std::is_aggregate_v<Struct>) {
    return takes_members<Struct>(std::make_index_sequence<sizeof...(Members)>()) &&
           !takes_members<Struct>(std::make_index_sequence<sizeof...(Members) + 1>());
  } else {
    return sizeof(Struct) == size_with<Members...>();
  }
}

/// Writes, measures or reads values as bytes (STATE.md, "Values"). A struct lists its members once,
/// in `template <class A> void each_field(A& archive)`, which passes all of them to the archive: a
/// missing one does not compile. `archive.not_saved(member)` names one to leave out. An enum has
/// `last_of(E)`, its last value, next to it; a 64-bit enum is an id and may have any value. A class
/// with a private constructor declares Archive a friend.
///
/// Two kinds. Disk: every member is present, and the steady clock is written as calendar time, it
/// differs after a reboot. Memory, for the next process after an upgrade: the clocks are the same,
/// and each struct follows its length, so that an older one may lack the last members.
///
/// Pure. Reading: any bytes are accepted; they bound the memory used, since an element of a list
/// takes at least 8.
class Archive {
 public:
  enum class Kind : std::uint8_t { disk, memory };

  template <class... Values>
  static std::string write(Kind kind, const Moment& now, const Values&... values) {
    Archive archive(kind, now, Mode::write, {});
    (archive.add(values), ...);
    return std::move(archive.bytes_);
  }
  /// The size of the values in bytes.
  template <class... Values>
  static std::size_t measure(Kind kind, const Values&... values) {
    Archive archive(kind, {}, Mode::measure, {});
    (archive.add(values), ...);
    return archive.size_;
  }
  /// False if the bytes are not exactly these values; some values may then have been changed.
  template <class... Values>
  [[nodiscard]] static bool read(Kind kind, const Moment& now, std::string_view bytes,
                                 Values&... values) {
    Archive archive(kind, now, Mode::read, bytes);
    (archive.value(values), ...);
    return archive.is_good_ && archive.rest_.empty();
  }

  /// A copy of the value, without what is not saved.
  template <class Value>
  static Value copy(const Value& one) {
    Value same{};
    [[maybe_unused]] const bool is_read =
        read(Kind::memory, {}, write(Kind::memory, {}, one), same);
    assert(is_read);
    return same;
  }

 private:
  enum class Mode : std::uint8_t { write, measure, read };

  Archive(Kind kind, const Moment& now, Mode mode, std::string_view bytes)
      : kind_(kind), mode_(mode), now_(now), rest_(bytes) {}

  // On a failure the value is unchanged.
  template <class Value>
  void add(const Value& one) {
    value(const_cast<Value&>(one));
  }

  template <class Member>
  struct NotSaved {
    using Type = Member;
  };
  template <class Member>
  struct Named {
    using Type = Member;
  };
  template <class Member>
  struct Named<NotSaved<Member>> : NotSaved<Member> {};
  /// Called by each_field(): passes the members of this struct to the archive.
  template <class Struct>
  class Members {
   public:
    explicit Members(Archive& archive) : archive_(archive) {}
    template <class... Fields>
    void operator()(Fields&&... fields) const {
      static_assert(has_members<Struct, typename Named<std::remove_cvref_t<Fields>>::Type...>(),
                    "each_field() lacks a member");
      (archive_.member(fields), ...);
    }
    template <class Field>
    NotSaved<Field> not_saved(const Field&) const {
      return {};
    }

   private:
    Archive& archive_;
  };

  template <class Member>
  void member(Member& one) {
    const bool is_missing = kind_ == Kind::memory && mode_ == Mode::read && rest_.empty();
    if (!is_missing) value(one);
  }
  template <class Member>
  void member(NotSaved<Member>&) {}

  void number(std::uint64_t& number) {
    if (mode_ == Mode::read) {
      number = take_number();
    } else {
      put_number(number);
    }
  }
  void put_number(std::uint64_t number);
  std::uint64_t take_number();
  void fail() {
    is_good_ = false;
    rest_ = {};
  }

  void value(std::string& text);
  void value(WallTime& time);
  void value(SteadyTime& time);

  template <std::integral Number>
  void value(Number& one) {
    auto wide = static_cast<std::uint64_t>(one);
    number(wide);
    if (mode_ != Mode::read) return;
    one = static_cast<Number>(wide);
    if (static_cast<std::uint64_t>(one) != wide) fail();
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void value(Enum& one) {
    auto wide = static_cast<std::uint64_t>(one);
    number(wide);
    if (mode_ != Mode::read) return;
    if constexpr (sizeof(Enum) < sizeof(std::uint64_t)) {
      if (wide > static_cast<std::uint64_t>(last_of(Enum{}))) {
        fail();
        return;
      }
    }
    one = static_cast<Enum>(wide);
  }
  template <class Rep, class Period>
  void value(std::chrono::duration<Rep, Period>& time) {
    auto count = static_cast<std::uint64_t>(time.count());
    number(count);
    // On disk bounded, so that sums do not overflow: none here is negative.
    constexpr std::uint64_t longest = std::uint64_t{1} << 40;
    if (kind_ == Kind::disk) count = std::min(count, longest);
    if (mode_ == Mode::read) time = std::chrono::duration<Rep, Period>(static_cast<Rep>(count));
  }

  template <class Value>
  void value(std::optional<Value>& one) {
    bool is_there = one.has_value();
    value(is_there);
    if (mode_ == Mode::read) one = is_there ? std::optional<Value>(Value{}) : std::nullopt;
    if (one) value(*one);
  }
  template <class Value>
  void value(std::unique_ptr<Value>& one) {
    bool is_there = one != nullptr;
    value(is_there);
    using Plain = std::remove_const_t<Value>;
    if (mode_ != Mode::read) {
      if (is_there) add(*one);
    } else if (auto read = std::make_unique<Plain>(); is_there) {
      value(*read);
      one = std::move(read);
    } else {
      one.reset();
    }
  }
  template <class First, class Second>
  void value(std::pair<First, Second>& both) {
    value(const_cast<std::remove_const_t<First>&>(both.first));  // of a map; it is only written
    value(both.second);
  }

  template <class Value>
  struct Element {
    using Type = Value;
  };
  template <class Key, class Value>
  struct Element<std::pair<const Key, Value>> {
    using Type = std::pair<Key, Value>;
  };
  template <class List>
  requires requires(List& list) { list.insert(list.end(), std::move(*list.begin())); }
  void value(List& list) {
    std::uint64_t size = list.size();
    number(size);
    if (mode_ != Mode::read) {
      for (const auto& one : list) add(one);
      return;
    }
    list.clear();
    if (size > rest_.size() / sizeof(std::uint64_t)) fail();
    for (; size > 0 && is_good_; --size) {
      typename Element<typename List::value_type>::Type one{};
      value(one);
      list.insert(list.end(), std::move(one));
    }
  }

  template <class Struct>
  requires requires(Struct& one, Members<Struct>& members) { one.each_field(members); }
  void value(Struct& one) {
    Members<Struct> members(*this);
    if (kind_ == Kind::disk) {
      one.each_field(members);
    } else if (mode_ == Mode::read) {
      const std::uint64_t size = take_number();
      if (size > rest_.size()) fail();
      const std::string_view behind = rest_.substr(std::min<std::uint64_t>(size, rest_.size()));
      rest_.remove_suffix(behind.size());
      one.each_field(members);
      if (!rest_.empty()) is_good_ = false;  // of a later version
      rest_ = is_good_ ? behind : std::string_view();
    } else {
      const std::size_t at = begin_struct();
      one.each_field(members);
      end_struct(at);
    }
  }
  std::size_t begin_struct();
  void end_struct(std::size_t at);

  const Kind kind_;
  const Mode mode_;
  const Moment now_;
  std::string bytes_;      ///< written
  std::size_t size_ = 0;   ///< measured
  std::string_view rest_;  ///< not read yet
  bool is_good_ = true;
};

}  // namespace bridge
