#include "verbs/tell_notification.hpp"

#include "json/message.hpp"
#include "render/notification_line.hpp"

namespace client {

void tell_notification(Console& console, std::string_view line) {
  const json::Message message = json::parse_message(line);
  // Whatever stderr is, a person is to see what to do.
  const bool is_ours = message.method == "notifications/bridge/question_refused";
  if ((console.error_is_terminal() || is_ours) &&
      message.kind == json::Message::Kind::notification) {
    console.note(notification_line(message));
  } else {
    console.pass_on(line);
  }
}

}  // namespace client
