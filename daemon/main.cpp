#include <malloc.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/log_sinks.hpp"
#include "base/start_error.hpp"
#include "daemon.hpp"
#include "make_upstream.hpp"
#include "options/options.hpp"
#include "process/process_start.hpp"
#include "process/resources.hpp"
#include "sockets/listening_socket.hpp"
#include "state/upgrade.hpp"

namespace {

/// One thread allocates. Memory of large frames is kept for the next ones, until the HeapTrimmer
/// returns it: having pages mapped and cleared again costs as much as copying a frame.
void tune_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
}

/// Reports without a log: each line on stderr, an error for the journal.
void complain(const char* prefix, const char* what) {
  const bool journal = bridge::stderr_is_journal();
  std::istringstream lines(what);
  for (std::string line; std::getline(lines, line);)
    std::fprintf(stderr, "%smcp-bridged: %s%s\n", journal ? "<3>" : "", prefix, line.c_str());
}

/// Checks whether the running process's snapshot can be restored, and answers with its proof.
int answer_check(const bridge::DaemonSnapshot& snapshot, const bridge::ParsedOptions& parsed) {
  const std::string changed = bridge::changed_for_good(snapshot.process.given, parsed.given);
  if (!changed.empty())
    throw bridge::StartError(bridge::exit_code::configuration,
                             "what changes only with a restart has changed: " + changed);
  // The constructors that read files and may find errors in them; nothing is started.
  bridge::Log log(bridge::LogLevel::off);
  bridge::EventLoop loop;
  bridge::ByteBudget budget(parsed.options.max_buffered);
  bridge::make_upstream(loop, parsed.options.upstream, budget, log);
  std::puts(snapshot.process.proof.c_str());
  return 0;
}

/// Parses the options again from the sources that the previous process used.
bridge::ParsedOptions parse_again(bridge::ProcessStart& start,
                                  const bridge::ProcessSnapshot& earlier) {
  start.continue_from(earlier.arguments, earlier.environment);
  bridge::ParsedOptions before;
  before.answers = earlier.answers;
  bridge::ParsedOptions parsed = bridge::parse_options(start.argc(), start.argv(), &before);
  parsed.answers = earlier.answers;
  return parsed;
}

/// A socket that was passed is served without --http, too.
void serve_http_socket(bridge::Options& options, bool is_passed) {
  if (is_passed && !options.frontend.socket) options.frontend.socket.emplace();
}

int run(bridge::ProcessStart& start, std::optional<bridge::PassedSnapshot> left) {
  bridge::ParsedOptions parsed = left ? parse_again(start, left->snapshot.process)
                                      : bridge::parse_options(start.argc(), start.argv());
  if (left && left->only_check) return answer_check(left->snapshot, parsed);
  if (parsed.informed) {
    std::fputs(parsed.informed->text.c_str(), stdout);
    return 0;
  }
  if (parsed.options.check) {
    for (const std::string& warning : parsed.options.warnings)
      complain("warning: ", warning.c_str());
    std::fputs("all options are valid\n", stdout);
    if (const auto& file = parsed.options.policy)
      std::fputs(bridge::explain_grants(file->policy).c_str(), stdout);
    return 0;
  }
  bridge::let_be_inspected(parsed.options.debuggable);
  bridge::Log log(parsed.options.log);
  bridge::Beginning beginning{start, {}};
  if (left) {
    const bridge::ProcessSnapshot& earlier = left->snapshot.process;
    beginning.program = earlier.program;
    bridge::name_process(earlier.program);
    if (parsed.options.frontend.address && earlier.frontend_listener >= 0)
      parsed.options.frontend.inherited_listener = earlier.frontend_listener;
    serve_http_socket(parsed.options, left->snapshot.http_socket.descriptor >= 0);
    if (parsed.options.metrics_listener.address && earlier.metrics_listener >= 0)
      parsed.options.metrics_listener.inherited_listener = earlier.metrics_listener;
    bridge::limit_descriptors({earlier.soft_descriptors, earlier.hard_descriptors});
    beginning.earlier = std::move(left->snapshot);
  } else {
    beginning.program = bridge::program_as_started(start.arguments().at(0));
    beginning.passed = bridge::take_passed_sockets();
    serve_http_socket(parsed.options, beginning.passed.http.has_value());
  }
  bridge::share_descriptors(parsed.options, log);
  bridge::Daemon daemon(
      parsed,
      [&start, &parsed] { return bridge::parse_options(start.argc(), start.argv(), &parsed); },
      std::move(beginning), log);
  return daemon.run();
}

}  // namespace

int main(int argc, char** argv) {
  bridge::ensure_standard_descriptors();
  // Before anything is forked or read: secrets are protected from the first instant.
  bridge::let_be_inspected(false);
  bridge::ProcessStart start(argc, argv);
  start.redact_originals();
  std::optional<bridge::PassedSnapshot> left;
  try {
    left = bridge::passed_snapshot(argc, argv);
  } catch (const bridge::StartError& error) {
    complain("", error.what());
    return error.code();
  }
  if (!left) bridge::leave_first_process_behind();
  tune_memory();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit is an error for the writer
  std::signal(SIGCHLD, SIG_DFL);  // if ignored (inherited), it would hide how a token command ended
  const bridge::StartRefusal refusal;
  try {
    return run(start, std::move(left));
  } catch (const bridge::StartError& error) {
    complain("", error.what());
    refusal.tell_waiting_clients(error.code());
    return error.code();
  } catch (const std::exception& error) {
    complain("unexpected: ", error.what());
    return 70;
  }
}
