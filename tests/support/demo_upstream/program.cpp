#include "program.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include "fault_player.hpp"
#include "seen.hpp"

namespace demo {

Program::Program(Options options)
    : upstream_(std::move(options)),
      endpoint_(upstream_),
      server_(upstream_.pool, upstream_.options.keep_alive_seconds,
              [this](const HttpRequest& request) { return handle(request); }),
      control_(upstream_, endpoint_, [this] { return server_.connections(); }) {}

void Program::run() {
  std::atomic<bool> ended{false};
  std::thread serving([&] {
    server_.run();
    ended = true;
  });

  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  int which = 0;
  sigwait(&signals, &which);

  // Repeatedly, as a connection or a call may just be starting.
  while (!ended) {
    endpoint_.close();
    upstream_.sessions.remove_all(false);
    server_.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  serving.join();
}

Answer Program::handle(const HttpRequest& request) {
  if (request.path().starts_with("/control/")) return control_.handle(request);
  if (request.path() != "/mcp") return Answer::json(R"({"error":"the path is /mcp"})", 404);
  const auto message = Message::parse(request.body());
  // Before it appears in the log: a test waiting for that may then send what the fault is not for.
  const auto action = upstream_.faults.take(request.method(), message.method);
  if (upstream_.options.log) upstream_.log.add(seen(request, message));
  if (action) {
    return play_fault(*action, request, message, endpoint_);
  }
  return endpoint_.handle(request, message, {});
}

}  // namespace demo
