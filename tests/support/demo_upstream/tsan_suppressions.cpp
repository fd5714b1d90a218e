#if defined(__SANITIZE_THREAD__)

/// The HTTP library is not instrumented: the thread sanitizer does not see how it guards its own
/// function-local statics, such as the last chunk. Nothing of ours is called below this function.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:httplib::detail::send_socket\n";
}

#endif
