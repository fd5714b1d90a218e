#pragma once

#include "jsonrpc/frame.hpp"
#include "mcp/json_edit.hpp"

namespace bridge {

/// The frame with these edits made in its bytes, and where its members stand then: one that was
/// erased is absent, and of what was added nothing is noted. So it need not be read anew.
/// REQUIRES: the edits replace whole members or values, and make no member that a frame notes out
/// of another. Pure.
Frame edited(Frame frame, const Edits& edits);

}  // namespace bridge
