#pragma once

namespace demo {

/// Lets a thread wait for a stream's events and for its client's leaving at the same time.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void signal();

  /// Waits for a signal since the last wait (true) or until the peer of the socket has closed.
  bool wait(int socket);

 private:
  int event_;
};

}  // namespace demo
