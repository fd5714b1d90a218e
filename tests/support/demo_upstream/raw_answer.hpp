#pragma once

#include "answer.hpp"

namespace demo {

/// Writes an answer past the HTTP library, spoilt as it says, and ends the connection (FIN or RST).
void write_spoilt(const Answer& answer, int descriptor);

}  // namespace demo
