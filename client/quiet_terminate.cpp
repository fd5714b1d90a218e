// Only in the static program: replaces libstdc++'s handler of the same name, which adds 50 KB to
// print the name of an uncaught exception.

#include <cstdlib>

namespace __gnu_cxx {

void __verbose_terminate_handler();
void __verbose_terminate_handler() { std::abort(); }

}  // namespace __gnu_cxx
