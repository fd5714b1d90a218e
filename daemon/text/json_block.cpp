#include "text/json_block.hpp"

#include <algorithm>
#include <array>

namespace bridge {

bool can_run(VectorCode code) {
#ifdef __x86_64__
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
  switch (code) {
    case VectorCode::none:
    case VectorCode::sse2: return true;
    case VectorCode::avx2: return avx2;
    case VectorCode::avx512:
      return avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
  }
#endif
  return code == VectorCode::none;
}

VectorCode fastest_code() {
  constexpr std::array best_first{VectorCode::avx512, VectorCode::avx2, VectorCode::sse2,
                                  VectorCode::none};
  return *std::find_if(best_first.begin(), best_first.end(), can_run);
}

}  // namespace bridge
