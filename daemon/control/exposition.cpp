#include "control/exposition.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cassert>
#include <limits>

namespace bridge {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return prometheus::MetricType::Counter;
    case MetricKind::gauge: return prometheus::MetricType::Gauge;
    case MetricKind::histogram: break;
  }
  return prometheus::MetricType::Histogram;
}

prometheus::ClientMetric labelled(const Labels& common, const Labels& own) {
  prometheus::ClientMetric metric;
  for (const Labels* labels : {&common, &own}) {
    for (const auto& [name, value] : *labels) metric.label.push_back({name, value});
  }
  return metric;
}

}  // namespace

struct Exposition::Families {
  std::vector<prometheus::MetricFamily> all;
};

Exposition::Exposition(Labels common)
    : common_(std::move(common)), families_(std::make_unique<Families>()) {}

Exposition::~Exposition() = default;

void Exposition::family(MetricKind kind, std::string name, std::string help) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type_of(kind);
  families_->all.push_back(std::move(family));
}

void Exposition::sample(double value, const Labels& labels) {
  assert(!families_->all.empty());
  prometheus::MetricFamily& family = families_->all.back();
  prometheus::ClientMetric metric = labelled(common_, labels);
  if (family.type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(std::move(metric));
}

void Exposition::histogram(const std::vector<std::pair<double, std::uint64_t>>& cumulative,
                           std::uint64_t count, double sum, const Labels& labels) {
  assert(!families_->all.empty());
  prometheus::ClientMetric metric = labelled(common_, labels);
  for (const auto& [bound, below] : cumulative) metric.histogram.bucket.push_back({below, bound});
  metric.histogram.bucket.push_back({count, std::numeric_limits<double>::infinity()});
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = sum;
  families_->all.back().metric.push_back(std::move(metric));
}

void Exposition::counter(std::string name, std::string help, std::uint64_t value) {
  family(MetricKind::counter, std::move(name), std::move(help));
  sample(static_cast<double>(value));
}

void Exposition::gauge(std::string name, std::string help, double value) {
  family(MetricKind::gauge, std::move(name), std::move(help));
  sample(value);
}

std::string Exposition::text() const {
  return prometheus::TextSerializer().Serialize(families_->all);
}

}  // namespace bridge
