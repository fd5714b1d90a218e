#include "durable/session_records.hpp"

#include "state/fields.hpp"

namespace bridge {
namespace {

Speaks speaks_of(std::uint64_t number) {
  return number > static_cast<std::uint64_t>(Speaks::not_now) ? Speaks::unknown
                                                              : static_cast<Speaks>(number);
}

}  // namespace

std::string session_record(const KeptSession& kept, const std::optional<std::string>& id) {
  FieldWriter fields;
  fields.number(kept.number).text(kept.initialize_params);
  fields.number(static_cast<std::uint64_t>(kept.eras.legacy));
  fields.number(static_cast<std::uint64_t>(kept.eras.modern));
  fields.number(kept.server.has_value()).text(kept.server ? kept.server->result() : "");
  fields.number(kept.modern.has_value());
  fields.text(kept.modern ? kept.modern->target() : "");
  fields.text(kept.modern ? kept.modern->result() : "");
  fields.number(id.has_value()).text(id.value_or(""));
  fields.text(kept.settings.log_level_params);
  for (const std::string& uri : kept.settings.subscriptions) fields.text(uri);
  return fields.bytes();
}

bool SessionReplay::take(std::string_view payload) {
  FieldReader fields(payload);
  *this = {};
  kept.number = static_cast<std::uint32_t>(fields.number());
  kept.initialize_params = fields.text();
  kept.eras.legacy = speaks_of(fields.number());
  kept.eras.modern = speaks_of(fields.number());
  const bool has_server = fields.number() != 0;
  std::string result(fields.text());
  if (has_server) kept.server.emplace(std::move(result));
  const bool has_modern = fields.number() != 0;
  std::string target(fields.text());
  std::string discovered(fields.text());
  if (has_modern)
    kept.modern = ServerDescription::discovered(std::move(discovered), std::move(target));
  const bool has_id = fields.number() != 0;
  const std::string_view name = fields.text();
  if (has_id) id = name;
  kept.settings.log_level_params = fields.text();
  while (fields.is_good() && !fields.is_at_end())
    kept.settings.subscriptions.emplace_back(fields.text());
  // A session has a handshake.
  return fields.is_done() && (kept.server || kept.number == 0);
}

std::string server_stream_record(const StreamPosition& position) {
  return FieldWriter().number(position.session).text(position.event_id).bytes();
}

std::optional<StreamPosition> read_server_stream_record(std::string_view payload) {
  FieldReader fields(payload);
  StreamPosition position;
  position.session = fields.number();
  position.event_id = fields.text();
  return fields.is_done() ? std::optional(std::move(position)) : std::nullopt;
}

std::string unanswered_record(const std::vector<UpstreamId>& ids) {
  FieldWriter fields;
  for (const UpstreamId id : ids) fields.number(value_of(id));
  return fields.bytes();
}

std::optional<std::vector<UpstreamId>> read_unanswered_record(std::string_view payload) {
  FieldReader fields(payload);
  std::vector<UpstreamId> ids;
  while (fields.is_good() && !fields.is_at_end())
    ids.push_back(static_cast<UpstreamId>(fields.number()));
  return fields.is_done() ? std::optional(std::move(ids)) : std::nullopt;
}

}  // namespace bridge
