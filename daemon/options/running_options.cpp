#include "options/option_groups.hpp"

#include "options/option_builder.hpp"

namespace bridge {

void add_running_options(OptionBuilder& build, Options& options, RawOptions& raw) {
  build.group("Running");
  build.text("--options-file", raw.options_file, "FILE", "More options, one 'name = value' a line");
  build.choice("--log-level", options.log_level,
               {{"debug", LogLevel::debug}, {"info", LogLevel::info}, {"warning", LogLevel::warning},
                {"error", LogLevel::error}, {"off", LogLevel::off}},
               "What is logged on stderr");
}

}  // namespace bridge
