#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "http/server/kept_http_connection.hpp"

namespace bridge {

// What the HTTP face leaves to another image of the program, in the same process and with the same
// clocks: values. Connections are not part of it: their callers come again and resume.

/// What was sent on streams, for whoever resumes them: an EventStore.
struct KeptEvents {
  struct Event {
    std::uint64_t stream = 0;
    std::uint64_t number = 0;
    std::string message;         ///< empty: it is in the ring
    std::uint64_t sequence = 0;  ///< of the ring
    std::string answers;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(stream, number, message, sequence, answers);
    }
  };

  std::vector<Event> events;
  std::vector<Event> lost;
  std::uint64_t last = 0;
  std::uint64_t forgotten = 0;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(events, lost, last, forgotten);
  }
};

/// A session.
struct KeptDownstreamSession {
  struct Queued {
    std::string message;
    std::uint64_t behind = 0;  ///< of the ring
    std::string answers;
    bool was_sent = false;
    std::uint64_t stream = 0;  ///< of the event that it was sent as
    std::uint64_t number = 0;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(message, behind, answers, was_sent, stream, number);
    }
  };
  /// A POST whose answers have not all come.
  struct Post {
    std::uint64_t number = 0;
    std::vector<std::string> ids;      ///< raw JSON, of the unanswered requests
    std::vector<std::string> answers;  ///< that wait for the last one
    bool is_batch = false;
    bool is_stream = false;
    std::uint64_t form = 0;  ///< AnswerForm
    bool primes = false;
    std::vector<std::string> headers;  ///< of its response: each name before its value
    std::uint64_t began = 0;
    KeptHttpConnection connection;  ///< on which the caller waits

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(number, ids, answers, is_batch, is_stream, form, primes, headers, began, connection);
    }
  };

  std::string name;
  std::string agent;
  std::uint64_t client = 0;  ///< ClientId
  std::uint64_t connected = 0;
  std::uint64_t last_used = 0;
  std::uint64_t feed = 0;  ///< RingFeed
  std::uint64_t sent_from_ring = 0;
  KeptEvents events;
  std::vector<Queued> queued;
  std::vector<std::string> later;  ///< ids whose answers come on the session's stream
  std::vector<Post> posts;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(name, agent, client, connected, last_used, feed, sent_from_ring, events, queued, later,
           posts);
  }
};

/// What belongs to no session.
struct KeptFace {
  std::uint64_t last_post = 0;
  std::uint64_t fan_out = 0;  ///< the number of the stream in event ids
  bool fan_out_used = false;
  std::uint64_t fan_out_seen = 0;  ///< of the ring
  KeptEvents fan_out_events;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(last_post, fan_out, fan_out_used, fan_out_seen, fan_out_events);
  }
};

}  // namespace bridge
