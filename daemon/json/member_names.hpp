#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bridge {

// What other parsers may read in a name, a method or a text that decides (BEHAVIOUR, "Framing").
// Go's encoding/json compares member names without regard to case, by Unicode folding; parsers in C
// end a text at its NUL; others drop what they cannot represent. The last member wins in nearly all
// of them. A message is only safe to judge if all of them read the same. Pure.

/// A name in the form in which lax parsers compare: unescaped, with ASCII letters in lower case and
/// for the four characters that fold to one (U+017F: s, U+212A: k; U+0130, U+0131: i), without
/// control characters, invisible characters and lone surrogates. `raw`: between its quotes.
std::string lax_form(std::string_view raw);

/// Whether some parser takes a member of this raw name for `name`, although it is another one.
/// REQUIRES: `name` is without escapes; the raw name is accepted by a JsonScanner.
bool is_similar_name(std::string_view raw, std::string_view name);

/// Whether the text of a JSON string (between its quotes) is the same for every parser: it has no
/// control characters and no lone surrogates.
bool is_clear_text(std::string_view raw);

/// Members of the params that the bridge acts on, by the method that has them. A set of bits.
namespace param {
using Set = std::uint16_t;
constexpr Set name = 1;
constexpr Set uri = 2;
constexpr Set task_id = 4;
constexpr Set arguments = 8;
constexpr Set request_state = 16;
constexpr Set input_responses = 32;
constexpr Set progress_token = 64;
constexpr Set request_id = 128;
constexpr Set ref = 256;
constexpr Set level = 512;
constexpr Set cursor = 1024;
constexpr Set notifications = 2048;
constexpr Set task = 4096;
constexpr Set meta = 8192;

/// Those that mirrored headers repeat, or that a `requestState` is bound to.
constexpr Set bound = name | uri | task_id | arguments | request_state | input_responses;
/// Those whose text decides: what is called, read or asked about.
constexpr Set judged = name | uri | task_id;
/// Those of every request, whatever its method.
constexpr Set of_all = request_state | input_responses | meta;

struct Named {
  std::string_view name;
  Set bit;
};
inline constexpr std::array<Named, 14> names = {{{"name", name},
                                                 {"uri", uri},
                                                 {"taskId", task_id},
                                                 {"arguments", arguments},
                                                 {"requestState", request_state},
                                                 {"inputResponses", input_responses},
                                                 {"progressToken", progress_token},
                                                 {"requestId", request_id},
                                                 {"ref", ref},
                                                 {"level", level},
                                                 {"cursor", cursor},
                                                 {"notifications", notifications},
                                                 {"task", task},
                                                 {"_meta", meta}}};

/// Those for which some parser takes this raw name. REQUIRES: it is none of them exactly.
Set similar(std::string_view raw);
/// Those that the bridge acts on in the params of this method.
Set acted_on(std::string_view method);
}  // namespace param

/// The method that a message is judged as: if it equals one of MCP's or the bridge's own but for
/// case, that one; else itself.
std::string judged_method(std::string method);
/// The same of the text of a JSON string, between its quotes. False: it is not clear.
bool read_method(std::string_view raw, std::string& method);

}  // namespace bridge
