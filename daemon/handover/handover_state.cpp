#include "handover/handover_state.hpp"

#include <fmt/format.h>

#include <utility>

#include "durable/record_types.hpp"
#include "durable/replayed_state.hpp"
#include "durable/ring_records.hpp"
#include "durable/session_records.hpp"
#include "handover/field_archive.hpp"
#include "state/log_format.hpp"
#include "upstream/stdio/watcher.hpp"

namespace bridge {
namespace {

/// Records that are never written to a disk. A number is never used for anything else.
enum class HandoverRecord : std::uint32_t {
  start = 1000,
  socket = 1001,
  connection = 1002,
  client = 1003,
  run = 1004,
  end = 1005,  ///< the last one, with how many there are before it
  job = 1006,
  job_key = 1007,
  message = 1008,
  request = 1009,
  question = 1010,
  streams = 1011,
  listens = 1012,
  token = 1013,
  running_job = 1014,
  face = 1015,
  face_session = 1016,
  delivery = 1017,
  call = 1018,
  round = 1019,
};

class HandoverWriter {
 public:
  HandoverWriter() : bytes_(header_bytes(header_)) {}

  void add(std::uint32_t type, std::string_view payload) {
    append_record(bytes_, 0, header_, type, payload);
    ++records_;
  }
  template <class T>
  void add(HandoverRecord type, T& value) {
    FieldOutput fields;
    fields(value);
    add(static_cast<std::uint32_t>(type), fields.bytes());
  }
  std::string finish() {
    std::uint64_t records = records_;
    add(HandoverRecord::end, records);
    return std::move(bytes_);
  }

 private:
  LogHeader header_;
  std::string bytes_;
  std::uint64_t records_ = 0;
};

class HandoverReader {
 public:
  bool take(std::uint32_t type, std::string_view payload) {
    if (has_end_) return false;
    switch (static_cast<HandoverRecord>(type)) {
      case HandoverRecord::start: has_start_ = true; return read(payload, state.start);
      case HandoverRecord::socket: return read(payload, state.socket);
      case HandoverRecord::connection: return read(payload, state.connections.emplace_back());
      case HandoverRecord::client: return read(payload, state.clients.emplace_back());
      case HandoverRecord::run: return read(payload, state.runs.emplace_back());
      case HandoverRecord::job: return read(payload, state.jobs.emplace_back());
      case HandoverRecord::job_key: return read(payload, state.job_keys.emplace_back());
      case HandoverRecord::message: return read(payload, state.messages.emplace_back());
      case HandoverRecord::request: return read(payload, state.requests.emplace_back());
      case HandoverRecord::question: return read(payload, state.questions.emplace_back());
      case HandoverRecord::streams: return read(payload, state.streams);
      case HandoverRecord::listens: return read(payload, state.listens);
      case HandoverRecord::token: return read(payload, state.tokens.emplace_back());
      case HandoverRecord::running_job: return read(payload, state.running_jobs.emplace_back());
      case HandoverRecord::face: return read(payload, state.face);
      case HandoverRecord::face_session: return read(payload, state.face_sessions.emplace_back());
      case HandoverRecord::delivery: return read(payload, state.deliveries.emplace_back());
      case HandoverRecord::call: return read(payload, state.calls.emplace_back());
      case HandoverRecord::round: return read(payload, state.rounds.emplace_back());
      case HandoverRecord::end: has_end_ = true; return read(payload, announced_);
    }
    return durable.take(type, payload);
  }
  bool is_whole(std::size_t records) const {
    return has_start_ && has_end_ && announced_ + 1 == records;
  }

  HandoverState state;
  ReplayedState durable;

 private:
  template <class T>
  static bool read(std::string_view payload, T& value) {
    FieldInput fields(payload);
    fields(value);
    return fields.is_done();
  }

  bool has_start_ = false;
  bool has_end_ = false;
  std::uint64_t announced_ = 0;
};

}  // namespace

std::vector<int> HandoverState::descriptors() const {
  std::vector<int> all;
  const auto add = [&all](std::uint64_t descriptor) {
    if (descriptor != KeptSocket::none) all.push_back(static_cast<int>(descriptor));
  };
  add(socket.descriptor);
  add(socket.lock);
  add(start.face_listener);
  for (const KeptDownstreamSession& one : face_sessions) {
    for (const KeptDownstreamSession::Post& post : one.posts) add(post.connection.descriptor);
  }
  for (const KeptConnection& connection : connections) add(connection.descriptor);
  for (const KeptRun& run : runs) {
    for (const std::uint64_t descriptor : run.descriptors()) add(descriptor);
  }
  return all;
}

std::string handover_log(HandoverState state) {
  HandoverWriter log;
  log.add(HandoverRecord::start, state.start);
  log.add(HandoverRecord::socket, state.socket);
  for (KeptConnection& connection : state.connections)
    log.add(HandoverRecord::connection, connection);
  for (KeptClient& client : state.clients) log.add(HandoverRecord::client, client);
  for (KeptMessage& message : state.messages) log.add(HandoverRecord::message, message);
  for (KeptRequest& request : state.requests) log.add(HandoverRecord::request, request);
  for (KeptQuestion& question : state.questions) log.add(HandoverRecord::question, question);
  for (KeptCall& call : state.calls) log.add(HandoverRecord::call, call);
  for (KeptRound& round : state.rounds) log.add(HandoverRecord::round, round);
  log.add(HandoverRecord::face, state.face);
  for (KeptDownstreamSession& session : state.face_sessions)
    log.add(HandoverRecord::face_session, session);
  log.add(HandoverRecord::streams, state.streams);
  log.add(HandoverRecord::listens, state.listens);
  for (KeptToken& token : state.tokens) log.add(HandoverRecord::token, token);
  for (KeptRun& run : state.runs) log.add(HandoverRecord::run, run);
  for (KeptJob& job : state.jobs) log.add(HandoverRecord::job, job);
  for (KeptRunningJob& job : state.running_jobs) log.add(HandoverRecord::running_job, job);
  for (KeptDelivery& delivery : state.deliveries) log.add(HandoverRecord::delivery, delivery);
  for (KeptKey& key : state.job_keys) log.add(HandoverRecord::job_key, key);
  const Sequence oldest = state.ring.empty() ? Sequence{} : state.ring.front().sequence;
  log.add(record::ring_counts, ring_counts_record(state.ring_counts, oldest));
  for (const RingEntry& entry : state.ring)
    log.add(record::ring_entry, ring_entry_record(entry, {}));
  log.add(record::session, session_record(state.session, state.session_id));
  log.add(record::server_stream, server_stream_record({state.session.number, state.last_event_id}));
  log.add(record::upstream_ids, FieldWriter().number(value_of(state.session.ids.last())).bytes());
  return log.finish();
}

std::variant<HandoverState, std::string> read_handover_log(std::string_view bytes) {
  HandoverReader reader;
  const LogReading reading =
      read_log(bytes, [&reader](std::uint32_t type, std::string_view payload) {
        return reader.take(type, payload);
      });
  if (reading.verdict == LogVerdict::later_format) return "the state has a later format";
  if (reading.verdict != LogVerdict::good || !reader.is_whole(reading.records))
    return "the state cannot be read: it is of another version, or not whole";
  HandoverState& state = reader.state;
  for (const KeptRun& run : state.runs) {
    if (run.watcher != KeptRun::none && run.watcher_version != watcher_version)
      return fmt::format("the watcher of the local server has version {}, and {} is known",
                         run.watcher_version, watcher_version);
  }
  state.ring_counts = reader.durable.ring.counts();
  state.ring = reader.durable.ring.take_entries();
  state.session = std::move(reader.durable.session.kept);
  state.session.ids = UpstreamIdSource(static_cast<UpstreamId>(reader.durable.next_id));
  state.session_id = reader.durable.session.id.value_or("");
  state.last_event_id = std::move(reader.durable.stream.event_id);
  const KeptSession& session = state.session;
  if (state.start.in_session && !session.server && !session.modern)
    return "the state has no handshake";
  return std::move(state);
}

}  // namespace bridge
