#pragma once

#include <memory>
#include <string>
#include <string_view>

extern "C" {
struct evp_md_ctx_st;
}

namespace bridge {

/// SHA-256 of arguments by value, canonical_json() of them. Keeps what OpenSSL looks up for it.
class ArgumentsDigest {
 public:
  ArgumentsDigest();
  /// As 64 hexadecimal digits. `arguments`: JSON that a JsonScanner has accepted.
  std::string of(std::string_view arguments);

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
  std::string text_;  ///< canonical; its memory is kept
};

}  // namespace bridge
