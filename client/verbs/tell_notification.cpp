#include "verbs/tell_notification.hpp"

#include "json/message.hpp"
#include "render/notification_line.hpp"

namespace client {

void tell_notification(Console& console, std::string_view line) {
  const json::Message message = json::parse_message(line);
  if (console.error_is_terminal() && message.kind == json::Message::Kind::notification) {
    console.note(notification_line(message));
  } else {
    console.pass_on(line);
  }
}

}  // namespace client
