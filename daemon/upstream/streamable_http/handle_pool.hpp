#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_budget.hpp"
#include "http/client/curl_handle.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

/// curl's handles for requests to one upstream, with everything set that all of them need.
///
/// The loop's thread only; a part of HttpContext. Memory: at most 16 handles that nobody uses, some
/// 70 KiB each; but for the second after a burst, in which as many clients call again.
class HandlePool {
 public:
  /// All of them outlive this.
  HandlePool(CurlLoop& curl, const HttpOptions& options, ByteBudget& budget);

  /// One of those given back, or a new one.
  CurlHandle take();
  /// For what is not to stay with a handle: it is not given back.
  CurlHandle make();
  /// For the next taker. One whose last transfer had no connection is destroyed instead: libcurl
  /// 8.14 loses the name that it looked up for it when it is used again.
  void give_back(CurlHandle handle);
  /// Where their requests go.
  void set_url(const std::string& url);
  /// The options have changed: none of those given back is used again.
  void clear() { idle_.clear(); }

 private:
  struct UrlCleanup {
    void operator()(void* url) const;
  };

  void drop_surplus();

  CurlLoop& curl_;
  const HttpOptions& options_;
  ByteBudget& budget_;                     ///< is told what a burst has left behind
  std::unique_ptr<void, UrlCleanup> url_;  ///< parsed once: else curl parses it for every request
  std::vector<CurlHandle> idle_;
  std::size_t unused_ = 0;  ///< of the idle ones, since the timer was set
  DeadlineTimer surplus_timer_;
};

}  // namespace bridge
