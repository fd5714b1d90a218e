#if defined(__SANITIZE_THREAD__)

/// The HTTP library is not instrumented: the thread sanitizer does not see how it guards its own
/// function-local statics, so the library's own accesses are excluded; our handlers are not.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libcpp-httplib.so\n";
}

#endif
