#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/descriptor.hpp"

namespace bench {

/// Blocking, with TCP_NODELAY.
Descriptor connect_tcp(std::uint16_t port);
Descriptor connect_unix(const std::string& path);
bool can_connect_unix(const std::string& path);

/// `port` 0 chooses a free one and sets it.
Descriptor listen_tcp(std::uint16_t& port);
Descriptor listen_unix(const std::string& path);

void set_no_delay(int fd);
/// To a socket or a pipe. REQUIRES: SIGPIPE is ignored.
void write_all(int fd, std::string_view bytes);

}  // namespace bench
