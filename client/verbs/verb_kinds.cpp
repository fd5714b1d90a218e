#include "verbs/verb_kinds.hpp"

#include "verbs/verbs.hpp"

namespace client {

bool keeps_notifications(const Options& options) {
  switch (options.verb) {
    case Verb::tools:
    case Verb::resources:
    case Verb::prompts:
    case Verb::jobs:
    case Verb::wait:
    case Verb::answer:
    case Verb::cancel:
    case Verb::forget:
    case Verb::skills:
    case Verb::tasks:
    case Verb::templates:
    case Verb::grep:
    case Verb::server:
    case Verb::ping:
    case Verb::complete:
    case Verb::agent_help:
    case Verb::subscribe:
    case Verb::unsubscribe:
    case Verb::log_level:
    case Verb::login:
    case Verb::logout:
    case Verb::status: return true;
    case Verb::call: return options.keep || is_job(options);
    default: return options.keep;
  }
}

bool asks_server(const Options& options) {
  switch (options.verb) {
    case Verb::tools:
    case Verb::resources:
    case Verb::prompts:
    case Verb::call:
    case Verb::read:
    case Verb::prompt:
    case Verb::request:
    case Verb::replay:
    case Verb::skills:
    case Verb::tasks:
    case Verb::templates:
    case Verb::grep:
    case Verb::server:
    case Verb::subscribe:
    case Verb::unsubscribe:
    case Verb::log_level:
    case Verb::complete:
    case Verb::agent_help: return !options.names;
    default: return false;
  }
}

}  // namespace client
