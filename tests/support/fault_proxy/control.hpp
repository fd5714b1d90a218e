#pragma once

#include <list>
#include <string>
#include <string_view>

#include "proxy.hpp"
#include "socket.hpp"

namespace proxy {

/// Executes one command; the answer is one line without its end. `quit` is set by that command.
std::string obey(std::string_view line, Proxy& proxy, bool& quit);

/// One connection to the control port: lines in, lines out.
class ControlConnection {
 public:
  explicit ControlConnection(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  /// False once it has ended.
  bool read(Proxy& proxy, bool& quit);

 private:
  Socket socket_;
  std::string line_;  ///< the incomplete last line
};

}  // namespace proxy
