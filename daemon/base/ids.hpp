#pragma once

#include <cstdint>

namespace bridge {

/// A downstream client, unique during this daemon's life; never reused.
enum class ClientId : std::uint64_t {};

/// One message sent upstream. For a request it is also its JSON-RPC id and its progress token;
/// notifications and answers get one too, so that the transport can name what it reports on. 0:
/// none.
enum class UpstreamId : std::uint64_t {};

/// The place of a notification in the ring; 1 is the first one of the daemon's life.
enum class Sequence : std::uint64_t {};

/// The position of a job in the order of submission; never reused. 0: none.
enum class JobNumber : std::uint64_t {};

constexpr std::uint64_t value_of(ClientId id) { return static_cast<std::uint64_t>(id); }
constexpr std::uint64_t value_of(UpstreamId id) { return static_cast<std::uint64_t>(id); }
constexpr std::uint64_t value_of(Sequence id) { return static_cast<std::uint64_t>(id); }
constexpr std::uint64_t value_of(JobNumber id) { return static_cast<std::uint64_t>(id); }

/// Hands out upstream ids in increasing order. Owned by the daemon, shared by router and session.
class UpstreamIdSource {
 public:
  UpstreamIdSource() = default;
  /// The first id follows `last`.
  explicit UpstreamIdSource(UpstreamId last) : last_(value_of(last)) {}

  UpstreamId next() { return static_cast<UpstreamId>(++last_); }
  /// The last id that was handed out.
  UpstreamId last() const { return static_cast<UpstreamId>(last_); }

  template <class A>
  void each_field(A& archive) {
    archive(last_);
  }

 private:
  std::uint64_t last_ = 0;
};

/// Hands out the ids of clients, in the order of connecting. Owned by the daemon, shared by the
/// transports on the clients' side.
class ClientIdSource {
 public:
  /// The first id follows `last`.
  explicit ClientIdSource(ClientId last = {}) : last_(value_of(last)) {}

  ClientId next() { return static_cast<ClientId>(++last_); }
  /// The last id that was handed out.
  ClientId last() const { return static_cast<ClientId>(last_); }

 private:
  std::uint64_t last_;
};

}  // namespace bridge
