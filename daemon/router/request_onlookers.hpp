#pragma once

#include <string>

namespace bridge {

/// Who sees the upstream's requests beside the client that is asked, and may answer what nobody was
/// asked (ClientChannel::answers_unasked). Called by the router, on the loop's thread.
class RequestOnlookers {
 public:
  /// Somebody would see one that is shown now.
  virtual bool somebody_looks_on() const = 0;
  /// `line` has the id under which an answer is taken.
  virtual void show_request(const std::string& line) = 0;

 protected:
  ~RequestOnlookers() = default;
};

}  // namespace bridge
