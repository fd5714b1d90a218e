#include <malloc.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "base/journal.hpp"
#include "base/start_error.hpp"
#include "daemon.hpp"
#include "downstream/unix/start_refusal.hpp"
#include "options/descriptor_shares.hpp"
#include "options/options.hpp"
#include "process/first_process.hpp"
#include "process/process_start.hpp"
#include "process/standard_descriptors.hpp"

namespace {

/// One thread allocates; large frames go back to the system as soon as they are done.
void tune_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

/// There may be no log yet: one line on stderr, an error for the journal.
void complain(const char* prefix, const char* what) {
  const bool journal = bridge::stderr_is_journal();
  std::fprintf(stderr, "%smcp-bridged: %s%s\n", journal ? "<3>" : "", prefix, what);
}

int run(bridge::ProcessStart& start) {
  bridge::ParsedOptions parsed = bridge::parse_options(start.argc(), start.argv());
  if (parsed.informed) {
    std::fputs(parsed.informed->text.c_str(), stdout);
    return 0;
  }
  if (parsed.options.check) {
    std::fputs("all options are valid\n", stdout);
    return 0;
  }
  bridge::let_be_inspected(parsed.options.debuggable);
  bridge::Log log(parsed.options.log);
  bridge::share_descriptors(parsed.options, log);
  bridge::Daemon daemon(
      parsed,
      [&start, &parsed] { return bridge::parse_options(start.argc(), start.argv(), &parsed); },
      log);
  return daemon.run();
}

}  // namespace

int main(int argc, char** argv) {
  bridge::ensure_standard_descriptors();
  // Before anything is forked or read: what holds secrets is nobody else's from the first moment.
  bridge::let_be_inspected(false);
  bridge::ProcessStart start(argc, argv);
  start.redact_originals();
  bridge::leave_first_process_behind();
  tune_memory();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of whoever writes it
  std::signal(SIGCHLD, SIG_DFL);  // inherited as ignored it would hide how a token command ended
  const bridge::StartRefusal refusal;
  try {
    return run(start);
  } catch (const bridge::StartError& error) {
    complain("", error.what());
    refusal.tell_waiting_clients(error.code());
    return error.code();
  } catch (const std::exception& error) {
    complain("unexpected: ", error.what());
    return 70;
  }
}
