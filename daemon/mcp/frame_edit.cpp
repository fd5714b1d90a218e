#include "mcp/frame_edit.hpp"

#include <utility>

namespace bridge {

Frame edited(Frame frame, const Edits& edits) {
  if (edits.empty()) return frame;
  ReservedMeta& reserved = frame.reserved;
  for (Slice* const slice :
       {&frame.id, &frame.params, &frame.result, &frame.error, &frame.progress_token,
        &frame.request_id, &frame.meta, &frame.protocol_version, &frame.subscription_id,
        &frame.result_type, &reserved.client_capabilities, &reserved.client_info,
        &reserved.log_level}) {
    if (slice->present()) *slice = edits.moved(*slice);
  }
  edits.make_in(frame.bytes);
  return frame;
}

}  // namespace bridge
