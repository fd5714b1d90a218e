#include "http/client/dead_connections.hpp"

#include <curl/curl.h>

#include <utility>

namespace bridge {
namespace {

curl_socket_t no_socket(void*, curlsocktype, curl_sockaddr*) { return CURL_SOCKET_BAD; }

}  // namespace

void DeadConnections::stop() {
  if (std::exchange(running_, false)) loop_.remove(handle_, *this);
  if (handle_ != nullptr) curl_easy_cleanup(std::exchange(handle_, nullptr));
}

void DeadConnections::note_begin(std::chrono::steady_clock::time_point now) {
  if (now >= next_look()) last_look_ = now;
}

void DeadConnections::close() {
  if (running_) return;
  if (handle_ == nullptr) {
    handle_ = curl_easy_init();
    curl_easy_setopt(handle_, CURLOPT_URL, "http://127.0.0.1/");  // a number: no name is asked for
    curl_easy_setopt(handle_, CURLOPT_PROXY, "");
    curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle_, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &no_socket);
  }
  running_ = true;
  loop_.add(handle_, *this);
}

void DeadConnections::transfer_progressed(bool done, int) {
  if (done) running_ = false;
}

}  // namespace bridge
