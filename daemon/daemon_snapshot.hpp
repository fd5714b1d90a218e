#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "downstream/http/http_frontend.hpp"
#include "downstream/unix/connection.hpp"
#include "downstream/unix/pipes_folder.hpp"
#include "jobs/job_runner.hpp"
#include "jobs/job_waiters.hpp"
#include "notifications/ring.hpp"
#include "router/audit_trail.hpp"
#include "router/router_upgrade.hpp"
#include "session/saved_session.hpp"
#include "sockets/listening_socket.hpp"
#include "upstream/stdio/child_process.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// How this process was started, and data that belongs to no single part.
struct ProcessSnapshot {
  std::string proof;    ///< random for each snapshot; returning it proves that it was read
  std::string version;  ///< of the program that wrote it
  std::string program;  ///< the path as given at the start
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::map<std::string, std::string> given;    ///< ParsedOptions
  std::map<std::string, std::string> answers;  ///< ParsedOptions
  std::string notify_socket;
  std::uint64_t watchdog = 0;          ///< microseconds; 0: none
  std::uint64_t soft_descriptors = 0;  ///< the original limit of file descriptors
  std::uint64_t hard_descriptors = 0;
  std::string instance;
  ClientId last_client{};
  bool in_session = false;     ///< the session is there, and this process can go on in it
  int frontend_listener = -1;  ///< of the HTTP frontend
  int metrics_listener = -1;
  std::string login;  ///< LoginDesk::save_login()

  template <class A>
  void each_field(A& archive) {
    archive(proof, version, program, arguments, environment, given, answers, notify_socket,
            watchdog, soft_descriptors, hard_descriptors, instance, last_client, in_session,
            frontend_listener, metrics_listener, login);
  }
};

/// Everything that one process of the daemon hands over to the next in an upgrade: a value. It
/// contains secrets, and is kept in memory only.
struct DaemonSnapshot {
  ProcessSnapshot process;
  Ring::Saved ring;
  SavedSession session;
  std::string session_id;     ///< SessionReference
  std::string last_event_id;  ///< SessionReference
  SavedStreams streams;       ///< of a modern upstream
  ListeningSocket::Saved socket;
  std::vector<Connection::Saved> connections;
  HttpFrontend::Saved frontend;
  RouterSnapshot router;
  std::vector<SavedMessage> messages;  ///< at the upstream
  std::optional<SavedToken> token;     ///< if it would have to be fetched again
  std::optional<SavedRun> run;         ///< of a local server
  JobRunner::Saved jobs;
  std::vector<JobWaiters::Delivery> deliveries;  ///< of jobs
  std::vector<AuditTrail::Saved> audit;          ///< requests that have not ended
  AuditLog::Saved audit_log;
  ListeningSocket::Saved http_socket;  ///< of the HTTP frontend
  PipesFolder::Saved pipes;

  /// The descriptors that are handed over with it.
  std::vector<int> descriptors() const;

  template <class A>
  void each_field(A& archive) {
    archive(process, ring, session, session_id, last_event_id, streams, socket, connections,
            frontend, router, messages, token, run, jobs, deliveries, audit, audit_log, http_socket,
            pipes);
  }
};

/// As a log (STATE.md) of one record, that of an upgrade. Empty: larger than 4 GiB.
std::string write_snapshot(const DaemonSnapshot& snapshot);

/// Reads it, or returns why it cannot be restored. Pure.
std::variant<DaemonSnapshot, std::string> read_snapshot(std::string_view bytes);

/// What the previous process has left to this one.
struct PassedSnapshot {
  bool only_check = false;  ///< it asks whether it could be restored
  DaemonSnapshot snapshot;
};

/// Reads it, if the arguments say so. All descriptors that come with it are closed by exec from now
/// on. Throws StartError if it cannot be restored.
std::optional<PassedSnapshot> passed_snapshot(int argc, char** argv);

}  // namespace bridge
