#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"

namespace bridge {

/// Decides which large responses of an HTTP upstream are received further while there is little
/// room in --max-buffered: each asks before it grows beyond what it was granted, and is held (not
/// read) until there is room for the rest of it.
///
/// 1. A response smaller than ByteBudget::small() never asks.
/// 2. If all that is announced of it fits beside the others, it is granted at once; of unknown
///    length, as much again as has come. Grants count as held bytes.
/// 3. Otherwise it waits. Room goes to the one that holds most, then to the one that came first.
/// 4. So that one can always finish, the one that holds most goes on piece by piece: into the room
///    left for small things, and beyond the limit if it is responses that fill the buffers. If
///    clients fill them by not reading, it waits, and --client-stall ends those.
/// 5. If nothing was granted for a second, an eighth of the limit is granted to
///    them nevertheless: the clients that fill the buffers are not theirs.
/// 6. One that has hardly grown for a second while others wait loses its grant and its precedence
///    (note_time()). If the limit is exceeded nevertheless, the largest of those ends.
///
/// Pure. Owned by HttpContext, outlives its responses; the loop's thread only. Bound: the limit,
/// and one response of --max-frame.
class AnswerRoom {
 public:
  /// Room granted at a time beyond what fits.
  static constexpr std::size_t piece = 64u << 10;

  explicit AnswerRoom(ByteBudget& budget) : budget_(budget) {}
  AnswerRoom(const AnswerRoom&) = delete;
  AnswerRoom& operator=(const AnswerRoom&) = delete;

  /// A large response, from when it is one until it is complete. Counts what it holds and what it
  /// was granted.
  class Answer {
   public:
    /// `most`: the limit of its size.
    Answer(AnswerRoom& room, UpstreamId id, std::size_t most)
        : room_(room), id_(id), most_(most), share_(room.budget_) {
      room_.answers_.push_back(this);
    }
    ~Answer() { std::erase(room_.answers_, this); }
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;

    /// So much of it has come.
    void set_size(std::size_t size) {
      size_ = size;
      share_.set(std::max(size, granted_));
    }
    /// Whether it may grow now. False: it is held until AnswerRoom::admit() names it. `announced`:
    /// its whole size; 0: unknown.
    bool may_grow(std::size_t announced) { return size_ < granted_ || room_.ask(*this, announced); }
    std::size_t granted() const { return granted_; }
    bool is_held() const { return held_; }
    /// It is not read for another reason: it needs no room meanwhile.
    void set_paused(bool paused) { paused_ = paused; }

   private:
    friend class AnswerRoom;

    void grant(std::size_t size) {
      granted_ = size;
      fresh_ = true;
      set_size(size_);
    }

    void take_grant_back() {
      granted_ = size_;
      set_size(size_);
    }

    AnswerRoom& room_;
    UpstreamId id_;
    std::size_t most_;
    ByteBudget::Share share_;
    std::size_t size_ = 0;
    std::size_t granted_ = 0;
    std::size_t wanted_ = 0;       ///< the size for which it is held
    std::size_t size_before_ = 0;  ///< at the last note_time()
    bool held_ = false;
    bool paused_ = false;
    bool fresh_ = false;  ///< granted since the last note_time()
    bool idle_ = false;   ///< has hardly grown
  };

  bool has_held() const {
    return std::any_of(answers_.begin(), answers_.end(),
                       [](const Answer* one) { return one->held_; });
  }
  /// Whether it is one of the large responses.
  bool has(UpstreamId id) const {
    return std::any_of(answers_.begin(), answers_.end(),
                       [id](const Answer* one) { return one->id_ == id; });
  }
  /// Grants room to those that are held, as far as there is some; returns them, to be read.
  std::vector<UpstreamId> admit();
  /// A second has passed. Then admit().
  void note_time();
  /// With the limit exceeded by responses: the largest of those that have hardly grown.
  std::optional<UpstreamId> most_useless() const;
  /// Whether responses hold more than half of all that is held.
  bool fills_buffers() const;

 private:
  bool ask(Answer& one, std::size_t announced);
  bool grant(Answer& one);
  bool holds_most(const Answer& one) const;

  ByteBudget& budget_;
  std::vector<Answer*> answers_;  ///< in the order in which they became large
  bool has_granted_ = false;      ///< since the last note_time()
  std::size_t extra_ = 0;         ///< may be granted although it does not fit
};

/// What one message under way holds: what has come of its response, which is an AnswerRoom::Answer
/// while it is large, and the rest. Owned by its Exchange.
class HeldAnswer {
 public:
  /// `most`: the limit of the response.
  HeldAnswer(AnswerRoom& room, ByteBudget& budget, UpstreamId id, std::size_t most)
      : room_(room), budget_(budget), id_(id), most_(most), share_(budget) {}

  void count(std::size_t answer, std::size_t rest) {
    if (large_ && answer < budget_.small()) large_.reset();  // it is complete
    if (large_) large_->set_size(answer);
    share_.set(large_ ? rest : rest + answer);
  }
  /// Whether the response, of which so much has come, may grow now. False: its reading waits until
  /// AnswerRoom::admit() names it. `announced`: its whole size; 0: unknown.
  bool has_room(std::size_t answer, std::size_t announced) {
    if (answer < budget_.small()) return true;
    if (!large_) {
      share_.remove(std::min(answer, share_.held()));
      large_ = std::make_unique<AnswerRoom::Answer>(room_, id_, most_);
      large_->set_size(answer);
    }
    return large_->may_grow(announced);
  }
  bool is_held() const { return large_ && large_->is_held(); }
  std::size_t granted() const { return large_ ? large_->granted() : 0; }
  /// Its client does not read.
  void set_paused(bool paused) {
    if (large_) large_->set_paused(paused);
  }
  /// Nothing more of it comes.
  void end() { large_.reset(); }

 private:
  AnswerRoom& room_;
  ByteBudget& budget_;
  UpstreamId id_;
  std::size_t most_;
  std::unique_ptr<AnswerRoom::Answer> large_;
  ByteBudget::Share share_;  ///< without large_
};

}  // namespace bridge
