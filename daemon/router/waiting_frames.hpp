#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"

namespace bridge {

/// A frame of a client that has not been started upstream.
struct WaitingFrame {
  Frame frame;
  SteadyTime since;
};

/// What waits of one client, in the order it came. Pure. The owner bounds it by held(), which
/// counts against --max-buffered.
///
/// A client may pipeline tens of thousands of frames, so nothing here looks through them: requests
/// and notifications are two lists, and an index finds a request by its id. Few clients ever
/// cancel, so a request enters the index only when a cancellation comes while it waits.
class WaitingFrames {
 public:
  explicit WaitingFrames(ByteBudget& budget) : share_(budget) {}

  /// What a waiting frame holds, in bytes: many short ones take more than their text.
  static std::size_t charge_of(const Frame& frame) {
    return frame.bytes.size() + sizeof(WaitingFrame);
  }

  void push(Frame&& frame, SteadyTime now);

  bool empty() const { return requests_.empty() && notifications_.empty(); }
  std::size_t size() const { return requests_.size() + notifications_.size(); }
  std::size_t held() const { return share_.held(); }
  bool has_request() const { return !requests_.empty(); }

  /// All of them, in the order they came.
  template <class Visit>
  void each(Visit&& visit) const {
    auto request = requests_.begin();
    auto notification = notifications_.begin();
    while (request != requests_.end() || notification != notifications_.end()) {
      const bool is_request = notification == notifications_.end() ||
                              (request != requests_.end() && request->place < notification->place);
      visit((is_request ? request++ : notification++)->content.frame);
    }
  }

  /// The one that came first. REQUIRES: not empty().
  const WaitingFrame& front() const;
  WaitingFrame take_front();

  /// The first request of this id (see same_id); null if there is none.
  const WaitingFrame* find_request(std::string_view raw_id);
  /// REQUIRES: find_request() finds it.
  WaitingFrame take_request(std::string_view raw_id);

 private:
  struct Waiting {
    Waiting(Frame&& frame, SteadyTime since, std::uint64_t its_place)
        : content{std::move(frame), since}, place(its_place) {}

    WaitingFrame content;
    std::uint64_t place;  ///< in the order of all
    bool indexed = false;
    std::unique_ptr<const std::string> unescaped_id;  ///< if it is in the index, and has escapes
  };
  using List = std::list<Waiting>;
  /// The keys lie in what waits. Equal ones stand in the order they came.
  using Index = std::multimap<std::string_view, List::iterator>;

  bool front_is_request() const;
  void complete_index();
  static std::string_view key_of(Waiting& request);
  Index::iterator find(std::string_view raw_id);
  WaitingFrame take(List& list, List::iterator at);

  List requests_;
  List notifications_;
  Index by_id_;
  std::uint64_t last_place_ = 0;
  ByteBudget::Share share_;
};

}  // namespace bridge
