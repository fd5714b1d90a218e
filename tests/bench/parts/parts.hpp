#pragma once

#include "harness/peers.hpp"
#include "harness/report.hpp"

namespace bench {

/// The environment of a part. Each part starts its own processes.
struct Setting {
  const Programs& programs;
  Folder& folder;
  Report& report;
};

void measure_latency(Setting& setting);
void measure_throughput(Setting& setting);
void measure_connect(Setting& setting);
void measure_process(Setting& setting);
void measure_idle(Setting& setting);
void measure_bytes(Setting& setting);
void measure_results(Setting& setting);
void measure_notifications(Setting& setting);
void measure_stdio(Setting& setting);

}  // namespace bench
