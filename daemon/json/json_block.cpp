#include "json/json_block.hpp"

#include <algorithm>
#include <array>

namespace bridge {

bool can_run(VectorCode code) {
#ifdef __x86_64__
  switch (code) {
    case VectorCode::none:
    case VectorCode::sse2: return true;
    case VectorCode::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
  }
#endif
  return code == VectorCode::none;
}

VectorCode fastest_code() {
  constexpr std::array best_first{VectorCode::avx2, VectorCode::sse2, VectorCode::none};
  return *std::find_if(best_first.begin(), best_first.end(), can_run);
}

}  // namespace bridge
