#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "../router/router_fixture.hpp"
#include "jobs/job_methods.hpp"
#include "jobs/job_runner.hpp"
#include "jobs/job_waiters.hpp"

namespace bridge {

/// A router with jobs, with an open session unless the test opens it.
struct JobFixture : RouterFixture {
  explicit JobFixture(JobOptions job_options = {}, const RouterOptions& options = {},
                      bool opened = true)
      : RouterFixture(options),
        runner(loop, router, log, job_options),
        collectors(loop, runner, router.clients()),
        methods(loop, runner, collectors),
        jobs_control(methods, collectors) {
    router.set_control(jobs_control);
    if (opened) open();
  }

  /// The router's callers other than clients.
  int other_callers() const {
    int count = 0;
    router.clients().each_caller([&count](Caller& one) { count += one.client() == nullptr; });
    return count;
  }

  struct JobsControl final : Control {
    bool list_tools(Reply /*done*/) override { return false; }
    JobsControl(JobMethods& methods_, JobWaiters& job_waiters_)
        : methods(methods_), collectors(job_waiters_) {}
    void answer(const Frame& request, Client& asker, Reply reply) override {
      if (request.method == "bridge/collect") {
        methods.collect(request, asker, std::move(reply));
      } else {
        const std::map<std::string_view, std::string (JobMethods::*)(const Frame&, const Client&)>
            all = {{"bridge/submit", &JobMethods::submit},
                   {"bridge/jobs", &JobMethods::list},
                   {"bridge/answer", &JobMethods::answer_question},
                   {"bridge/cancel", &JobMethods::cancel},
                   {"bridge/forget", &JobMethods::forget}};
        reply((methods.*all.at(request.method))(request, asker));
      }
    }
    ControlFacts facts_of(std::string_view method) const override {
      const bool is_collect = method == "bridge/collect";
      return {.is_handled_again = is_collect, .is_answered_in_order = is_collect};
    }
    std::string keep_for_later(const Frame& request, Client& asker, const Reply& reply) override {
      return methods.keep_for_later(request, asker, reply);
    }
    bool cancel(const Client& asker, std::string_view raw_id) override {
      return collectors.cancel(asker, raw_id);
    }
    void client_half_closed(const Client& client) override {
      collectors.client_half_closed(client);
    }
    void client_drained(Client& client) override { collectors.client_drained(client); }
    void client_left(const Client& client) override { collectors.client_left(client); }

    JobMethods& methods;
    JobWaiters& collectors;
  };

  /// The immediate response to `bridge/<method>` of this client.
  std::string bridge(FakeClient& client, std::string_view method, std::string_view params) {
    send(client, fmt::format(R"({{"jsonrpc":"2.0","id":"q","method":"bridge/{}","params":{}}})",
                             method, params));
    const Lines lines = client.take_lines();
    REQUIRE(lines.size() == 1);
    return lines.front();
  }
  /// Submits a call of this tool; returns the job's id.
  std::string submit(FakeClient& client, std::string_view tool, std::string_view more = {}) {
    const std::string answer =
        bridge(client, "submit",
               fmt::format(R"({{"method":"tools/call","params":{{"name":"{}"}}{}}})", tool, more));
    return find_string(find_member(answer, "result").value_or("{}"), "job").value_or("");
  }
  std::string state_of(const std::string& job) {
    const Job* const found = runner.store().find_job(job);
    return found == nullptr ? "none" : std::string(name_of(found->state));
  }
  /// Begins to wait for it; `more` are further params.
  void collect(FakeClient& client, const std::string& job, std::string_view id = "\"c\"",
               std::string_view more = {}) {
    send(
        client,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"bridge/collect","params":{{"job":"{}","waitMs":60000{}}}}})",
            id, job, more));
  }

  JobRunner runner;
  JobWaiters collectors;
  JobMethods methods;
  JobsControl jobs_control;
};

}  // namespace bridge
