#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Whether all of `text` is matched: `*` by any characters, also none and `/`; `?` by one character
/// of UTF-8; every other byte by itself. At most `pattern * text` steps. Pure.
bool matches_glob(std::string_view pattern, std::string_view text);

/// Which items of one kind (tools, prompts, resources, methods) a rule allows. A value.
class ItemRule {
 public:
  /// Bytes of a name that a glob with a search is matched with; a rule that would have to allows no
  /// longer one.
  static constexpr std::size_t longest_searched = 8192;

  /// Everything.
  ItemRule() = default;
  /// What the last matching glob says; a glob that begins with `!` takes away. What no glob matches
  /// is not allowed.
  static ItemRule of_globs(const std::vector<std::string>& globs);
  /// The tools whose annotations say that they only read.
  static ItemRule read_only();

  bool allows_all() const { return kind_ == Kind::all && narrowed_by_.empty(); }
  bool wants_read_only() const { return wants_read_only_; }
  /// Whether there can be an item that it allows.
  bool allows_some() const;
  /// From now on it allows only what `other` allows too.
  void narrow(const ItemRule& other);
  /// `reads_only`: what is known of the tool's annotations.
  bool allows(std::string_view name, bool reads_only = false) const;

 private:
  enum class Kind { all, globs, read_only };
  struct Glob {
    /// Most have one of the forms that need no search.
    enum class Form { plain, prefix, suffix, any } form = Form::any;
    std::string pattern;  ///< of a prefix or suffix without its `*`
    bool takes_away = false;

    static Glob of(std::string_view text);
    bool matches(std::string_view name) const;
  };

  bool allows_alone(std::string_view name, bool reads_only) const;

  Kind kind_ = Kind::all;
  bool wants_read_only_ = false;       ///< it, or one of those that narrow it
  std::vector<Glob> globs_;            ///< the last one first
  std::vector<ItemRule> narrowed_by_;  ///< not narrowed themselves
};

}  // namespace bridge
