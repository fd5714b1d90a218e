#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// Operations that the HTTP library does not offer on its socket. The descriptor belongs to the
/// library, which closes it after the handler has returned; these functions never close it.
namespace demo::tcp {

/// The descriptor of the connection from that peer to our `local_port`, -1 if there is none. Costs
/// a system call for each lower descriptor: for streams and faults, not for every call.
int find(const std::string& peer_address, int peer_port, int local_port);

/// Sends FIN to the peer at once. The library notices and closes.
void finish(int descriptor);

/// Sends RST to the peer at once; unsent data is lost.
void reset(int descriptor);

/// `finish` for every connection to `local_port`, so that no thread stays in a read.
void finish_all(int local_port);

/// The peer has closed its side, or the connection is broken.
bool peer_is_gone(int descriptor);

/// Waits until the peer has closed (true) or the timeout. Negative: without a timeout.
bool wait_until_peer_is_gone(int descriptor, std::chrono::milliseconds limit);

/// While on, written data is held back until a segment is full.
void cork(int descriptor, bool on);

/// False if the connection is broken. Blocks.
bool send_all(int descriptor, std::string_view bytes);

}  // namespace demo::tcp
