// Only in the static program: takes the place of libstdc++'s handler of the same name, which brings
// 50 KB to write the name of an exception that nobody caught.

#include <cstdlib>

namespace __gnu_cxx {

void __verbose_terminate_handler();
void __verbose_terminate_handler() { std::abort(); }

}  // namespace __gnu_cxx
