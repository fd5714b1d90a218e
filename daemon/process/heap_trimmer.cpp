#include "process/heap_trimmer.hpp"

#include <malloc.h>

namespace bridge {
namespace {

constexpr std::chrono::milliseconds quiet_time{1000};

}  // namespace

HeapTrimmer::HeapTrimmer(EventLoop& loop, ByteBudget& budget)
    : budget_(budget), timer_(loop, [this] { trim(); }) {}

void HeapTrimmer::begin() {
  budget_.take_peak();
  timer_.set_after(quiet_time);
}

void HeapTrimmer::trim() {
  if (is_worth_it()) return;  // it goes on: look() begins anew at the end of this turn
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace bridge
