#pragma once

#include <cstdint>

// Asio's hooks for tracing (ASIO_CUSTOM_HANDLER_TRACKING). One is used: it reports each event that
// epoll_wait has returned, before its handler runs.

namespace asio {
class execution_context;
}

namespace bridge {

void reactor_event(asio::execution_context& context, std::uintmax_t registration, unsigned events);

}  // namespace bridge

#define ASIO_INHERIT_TRACKED_HANDLER
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER
#define ASIO_HANDLER_TRACKING_INIT (void)0
#define ASIO_HANDLER_LOCATION(args) (void)0
#define ASIO_HANDLER_CREATION(args) (void)0
#define ASIO_HANDLER_COMPLETION(args) (void)0
#define ASIO_HANDLER_INVOCATION_BEGIN(args) (void)0
#define ASIO_HANDLER_INVOCATION_END (void)0
#define ASIO_HANDLER_OPERATION(args) (void)0
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_READ_EVENT 0
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 0
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 0
#define ASIO_HANDLER_REACTOR_EVENTS(args) ::bridge::reactor_event args
#define ASIO_HANDLER_REACTOR_OPERATION(args) (void)0
