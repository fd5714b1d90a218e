#include "jobs/job_client.hpp"

#include <utility>

#include "jobs/server_task.hpp"
#include "json/json_text.hpp"

namespace bridge {
namespace {

JobNumber number_of(std::string_view request_id) {
  if (const auto number = job_of_task_request(request_id)) return *number;
  return static_cast<JobNumber>(to_unsigned(request_id).value_or(0));
}

}  // namespace

JobClient::JobClient(ClientId id, const User& user, SteadyTime now, JobClientEvents& events)
    : events_(events) {
  identity_.id = id;
  identity_.kind = "job";
  identity_.uid = user.uid;
  identity_.connected = now;
  identity_.on_behalf_of = user;
}

void JobClient::send(std::string frame) {
  events_.job_heard(*this, JobNumber{}, JobClientEvents::Kind::about, std::move(frame));
}

void JobClient::answer(std::string_view request_id, std::string frame, AnswerOrder) {
  events_.job_heard(*this, number_of(request_id), JobClientEvents::Kind::answer, std::move(frame));
}

void JobClient::send_about(std::string_view request_id, std::string frame) {
  events_.job_heard(*this, number_of(request_id), JobClientEvents::Kind::about, std::move(frame));
}

void JobClient::no_answer(std::string_view request_id) {
  events_.job_heard(*this, number_of(request_id), JobClientEvents::Kind::no_answer, {});
}

// What is asked about a task is asked anew.
bool JobClient::acts_for_client(std::string_view request_id) const {
  return !job_of_task_request(request_id) && events_.is_for_later(number_of(request_id));
}

bool JobClient::survives_upgrade(std::string_view request_id) const {
  return !job_of_task_request(request_id) && events_.survives_upgrade(number_of(request_id));
}

void JobClient::request_starting(std::string_view request_id, UpstreamId id) {
  if (!job_of_task_request(request_id)) events_.job_starting(number_of(request_id), id);
}

std::optional<ResumePoint> JobClient::resume_point(std::string_view request_id) const {
  if (job_of_task_request(request_id)) return std::nullopt;
  return events_.resume_point(number_of(request_id));
}

std::optional<Submitter> JobClient::submitted_by(std::string_view request_id) const {
  if (job_of_task_request(request_id)) return std::nullopt;
  return events_.submitter(number_of(request_id));
}

void JobClient::request_asked(std::string_view request_id, std::string_view result) {
  if (!job_of_task_request(request_id)) events_.job_asked(number_of(request_id), result);
}

}  // namespace bridge
