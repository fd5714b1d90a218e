#pragma once

#include "answer.hpp"

namespace demo {

/// Writes a spoilt response without the HTTP library, and ends the connection (FIN or RST).
void write_spoilt(const Answer& answer, int descriptor);

}  // namespace demo
