#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

/// A modern client's call that a legacy upstream has asked something in, for another image of the
/// program to go on with, in the same process and with the same clocks. A value. The request is a
/// KeptRequest.
struct KeptCall {
  struct Question {
    std::string raw_id;
    std::string key;
    std::string method;
    std::string params;
    bool is_of_session = false;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(raw_id, key, method, params, is_of_session);
    }
  };

  std::uint64_t id = 0;  ///< UpstreamId
  std::string state;
  std::vector<Question> questions;
  std::vector<std::string> messages;
  std::uint64_t rounds = 0;
  std::string end;  ///< the response that nobody has had yet; empty: none has come
  std::uint64_t due = 0;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, state, questions, messages, rounds, end, due);
  }
};

/// A request that a modern upstream has answered with questions, likewise. The questions that
/// nobody has answered are KeptQuestions.
struct KeptRound {
  struct Question {
    std::string key;
    std::string method;
    std::string result;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(key, method, result);
    }
  };

  std::uint64_t id = 0;  ///< UpstreamId
  std::uint64_t waits = 0;
  std::vector<Question> questions;
  std::string request_state;
  std::uint64_t due = 0;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, waits, questions, request_state, due);
  }
};

}  // namespace bridge
