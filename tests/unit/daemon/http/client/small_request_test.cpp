#include "http/client/small_request.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "../../event/loop_fixture.hpp"
#include "base/files.hpp"
#include "http/client/curl_loop.hpp"
#include "http/client/http_options.hpp"

using namespace bridge;

namespace {

/// Listens on 127.0.0.1, and tells whether a peer has connected.
struct Listener {
  Listener() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(listen(socket.get(), 8) == 0);
    REQUIRE(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port = ntohs(address.sin_port);
  }
  bool was_connected_to() const {
    return Descriptor(::accept(socket.get(), nullptr, nullptr)).get() >= 0;
  }

  Descriptor socket;
  std::uint16_t port = 0;
};

struct SmallRequestFixture : LoopFixture {
  SmallAnswer ask(const std::string& host) {
    std::optional<SmallAnswer> answer;
    const std::string url = "http://" + host + ":" + std::to_string(listener.port) + "/token";
    const SmallRequest request(curl, options, url, nullptr, {},
                               [&](const SmallAnswer& given) { answer = given; });
    run_until([&] { return answer.has_value() || is_connected(); });
    return answer.value_or(SmallAnswer());
  }
  bool is_connected() {
    was_connected = was_connected || listener.was_connected_to();
    return was_connected;
  }

  CurlLoop curl{loop};
  HttpOptions options;
  Listener listener;
  bool was_connected = false;
};

}  // namespace

TEST_CASE_FIXTURE(SmallRequestFixture,
                  "what a public server names is not even connected to if it is private") {
  options.public_only = true;
  // A name is judged by what it resolves to, and an address in any notation.
  for (const char* host : {"127.0.0.1", "localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]"}) {
    CAPTURE(host);
    const SmallAnswer answer = ask(host);
    CHECK(contains(answer.fault, "--oauth-allow-private"));
    CHECK(!answer.was_sent);
    CHECK(!is_connected());
  }
}

TEST_CASE_FIXTURE(SmallRequestFixture, "what anybody else names is") {
  ask("localhost");
  CHECK(is_connected());
}
