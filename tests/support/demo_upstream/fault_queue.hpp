#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// The faults waiting for a matching request. Thread-safe.
class FaultQueue {
 public:
  struct Fault {
    std::string http_method;  ///< empty: any
    std::string method;       ///< empty: any; "-": none, which means a response
    std::int64_t nth = 1;
    std::int64_t times = 1;  ///< negative: always
    std::string action;      ///< JSON text, in which `$ID` may replace a value
  };
  void add(Fault fault);

  /// The action for that request, if there is one.
  std::optional<std::string> take(std::string_view http_method, std::string_view method);

  void clear();

 private:
  struct Entry {
    Fault fault;
    std::int64_t seen = 0;  ///< requests that match
  };

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::atomic<bool> any_{false};  ///< avoids the lock on the hot path
};

}  // namespace demo
