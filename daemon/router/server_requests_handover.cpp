// What another image of the program goes on with.
#include <utility>

#include "router/server_requests.hpp"

namespace bridge {

std::vector<KeptQuestion> ServerRequests::to_keep() {
  std::vector<KeptQuestion> all;
  table_.each([&](const ServerRequest& request) {
    const bool survives_upgrade = !request.origin || in_flight_.survives_upgrade(*request.origin);
    if (survives_upgrade) all.push_back(kept_question(request));
  });
  return all;
}

void ServerRequests::go_on_with(KeptQuestion kept) {
  ServerRequest& request = table_.add(server_request_of(std::move(kept)));
  if (!request.asked) {
    parking_.set_at_latest(request.parked_until);
  } else if (context_.clients.find(request.asked) == nullptr) {
    ask_another(request, true, true);  // it was asked over HTTP
  }
}

}  // namespace bridge
