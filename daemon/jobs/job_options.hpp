#pragma once

#include <chrono>

#include "jobs/job_store.hpp"

namespace bridge {

struct JobOptions {
  JobLimits limits;
  bool shared = false;  ///< --jobs-shared: everybody sees all jobs
  /// --request-max: how long a job may work in all; 0: as long as it takes.
  std::chrono::milliseconds request_max{3600000};
  /// How long a caller over HTTP may wait: an answer has to come before --http-timeout.
  std::chrono::milliseconds longest_http_wait{55000};
};

}  // namespace bridge
