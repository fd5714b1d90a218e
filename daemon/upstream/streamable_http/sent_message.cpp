#include "upstream/streamable_http/sent_message.hpp"

#include <curl/curl.h>

#include <utility>

namespace bridge {
namespace {

/// A larger message gets a handle of its own.
constexpr std::size_t large_body = 128u << 10;
/// The longest idle time of a connection for a request that only reads.
constexpr long max_idle_to_read = 118;

}  // namespace

void SentMessage::prepare_post() {
  token_generation_ = context_.token().generation();
  session_named_by_ = named_by();
  is_large_ = message_.body.size() > large_body;
  reached_ = is_continued_ = false;
  CURL* const h =
      transfer_.prepare(is_large_ ? context_.handles().make() : context_.handles().take_handle(),
                        with_lines(message_.headers, context_.post_headers(message_)));
  if (is_large_) set_large_upload(h);
  curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message_.body.size()));
  curl_easy_setopt(h, CURLOPT_POSTFIELDS, message_.body.data());  // makes it a POST
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN,
                   message_.may_repeat && !context_.answers_elsewhere()
                       ? max_idle_to_read
                       : static_cast<long>(context_.max_idle().count()));
  curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, &before_request);
  curl_easy_setopt(h, CURLOPT_PREREQDATA, this);
  context_.counts().sent_bytes += message_.body.size();
}

void SentMessage::prepare_get(const std::string& last_event_id) {
  token_generation_ = context_.token().generation();
  is_continued_ = true;
  CURL* const h =
      transfer_.prepare(context_.handles().take_handle(), context_.stream_headers(last_event_id));
  set_get(h);
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, max_idle_to_read);
}

/// A message that opens a session is sent outside of the one that there may be.
SessionNamedBy SentMessage::named_by() const {
  const SessionNamedBy usual = context_.session_named_by(is_stateful());
  const bool is_outside = message_.opens_session && usual == SessionNamedBy::header;
  return is_outside ? SessionNamedBy::nothing : usual;
}

void SentMessage::restore() {
  reached_ = true;
  session_named_by_ = context_.session_named_by(is_stateful());
}

// curl would repeat a request itself when a reused connection turns out to be dead. That is the
// session's decision, unless no byte was sent.
int SentMessage::before_request(void* self, char*, char*, int, int) {
  auto& sent = *static_cast<SentMessage*>(self);
  const bool has_left = sent.has_left();
  sent.reached_ = true;
  return has_left ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/// Whether a byte of the POST may have been sent. Over HTTP/2 that is so as soon as there is a
/// connection: curl does not count the bytes there, nor report what the server's GOAWAY excluded.
bool SentMessage::has_left() const {
  if (!reached_ || context_.options().http2) return reached_;
  long bytes = 0;
  curl_easy_getinfo(transfer_.handle(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

void SentMessage::note_end_of_post() { reached_ = transfer_.head().complete || has_left(); }

void SentMessage::close() {
  if (transfer_.handle() == nullptr) return;
  CurlHandle handle = transfer_.close();
  if (!std::exchange(is_large_, false)) context_.handles().give_back(std::move(handle));
}

void SentMessage::forget_body() {
  if (message_.body.empty()) return;
  if (message_.may_repeat && (context_.answers_elsewhere() || !is_stateful())) return;
  if (!is_continued_) {
    curl_off_t uploaded = 0;
    curl_easy_getinfo(transfer_.handle(), CURLINFO_SIZE_UPLOAD_T, &uploaded);
    if (uploaded != static_cast<curl_off_t>(message_.body.size())) return;
  }
  drop_body();
}

}  // namespace bridge
