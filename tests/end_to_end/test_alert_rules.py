#!/usr/bin/env python3
"""The alert rules: each fires for what it is about, and for nothing else. Needs promtool."""

import json
import re
import unittest

from harness import Case, main
from harness.binaries import ROOT
from harness.metrics import promtool

RULES = ROOT / "docker" / "prometheus" / "rules.yaml"
LABELS = 'instance="host",socket="/tmp/mcp.sock"'

# What a healthy daemon shows over 30 minutes, in promtool's notation: start, step, how often.
HEALTHY = {
    "mcp_bridge_upstream_ready": "1x30",
    "mcp_bridge_metrics_time_seconds": "0+60x30",
    'mcp_bridge_session_state{state="refused"}': "0x30",
    "mcp_bridge_jobs_refused_total": "0x30",
    "mcp_bridge_jobs_pushed_out_total": "0x30",
    "mcp_bridge_session_reopenings_total": "0x30",
    "mcp_bridge_child_restarts_total": "0x30",
    'mcp_bridge_requests_total{outcome="result"}': "0+60x30",
    'mcp_bridge_requests_total{outcome="bridge_error"}': "0+1x30",
    'mcp_bridge_added_latency_seconds_bucket{le="0.001"}': "0+600x30",
    'mcp_bridge_added_latency_seconds_bucket{le="1"}': "0+601x30",
    'mcp_bridge_added_latency_seconds_bucket{le="+Inf"}': "0+601x30",
    "mcp_bridge_token_failures_total": "0x30",
    'mcp_bridge_login_state{state="needed"}': "0x30",
    "mcp_bridge_state_durable": "1x30",
    "mcp_bridge_audit_failing": "0x30",
    "mcp_bridge_audit_lines_lost_total": "0x30",
    'mcp_bridge_policy_denied_total{reason="tool"}': "0+1x30",
    'mcp_bridge_policy_denied_total{reason="no_rule"}': "0x30",
    "mcp_bridge_policy_rate_limited_total": "0+1x30",
    'mcp_bridge_grants_refused_total{reason="expired"}': "0+1x30",
    'mcp_bridge_grants_refused_total{reason="invalid"}': "0x30",
    "mcp_bridge_ring_dropped_total": "0x30",
    "mcp_bridge_ring_untaken": "700x30",
    "mcp_bridge_ring_capacity": "1000x30",
    "mcp_bridge_clients_stalled_total": "0x30",
    "mcp_bridge_buffered_bytes": "1000x30",
    "mcp_bridge_buffered_limit_bytes": "100000x30",
    "mcp_bridge_open_fds": "20x30",
    "mcp_bridge_max_fds": "1024x30",
}
# What is otherwise when the alert is due.
ILL = {
    "McpBridgeUpstreamNotReady": {"mcp_bridge_upstream_ready": "0x30"},
    # A server that refuses is one that can be reached.
    "McpBridgeUpstreamRefuses": {"mcp_bridge_upstream_ready": "0x30", 'mcp_bridge_session_state{state="refused"}': "1x30"},
    "McpBridgeGone": {name: "1x10 _x20" for name in ("mcp_bridge_upstream_ready",)},
    "McpBridgeJobsWithoutRoom": {"mcp_bridge_jobs_refused_total": "0x15 1x15"},
    "McpBridgeSessionKeepsBeingLost": {"mcp_bridge_session_reopenings_total": "0+1x30"},
    "McpBridgeChildKeepsCrashing": {"mcp_bridge_child_restarts_total": "0+1x30"},
    "McpBridgeRequestsFail": {'mcp_bridge_requests_total{outcome="bridge_error"}': "0+10x30"},
    "McpBridgeAddsLatency": {'mcp_bridge_added_latency_seconds_bucket{le="0.001"}': "0+300x30"},
    "McpBridgeTokenFails": {"mcp_bridge_token_failures_total": "0x15 1x15"},
    "McpBridgeLoginNeeded": {'mcp_bridge_login_state{state="needed"}': "1x30"},
    "McpBridgeStateNotDurable": {"mcp_bridge_state_durable": "0x30"},
    "McpBridgeAuditFails": {"mcp_bridge_audit_failing": "0x15 1x15"},
    "McpBridgePolicyDenies": {'mcp_bridge_policy_denied_total{reason="no_rule"}': "0x15 10x15", 'mcp_bridge_policy_denied_total{reason="tool"}': "0x15 15x15"},
    "McpBridgePolicyLimitsRate": {"mcp_bridge_policy_rate_limited_total": "0x10 30x20"},
    "McpBridgeGrantsRefused": {'mcp_bridge_grants_refused_total{reason="expired"}': "0x15 10x15",
                               'mcp_bridge_grants_refused_total{reason="invalid"}': "0x15 15x15"},
    "McpBridgeNotificationsDropped": {"mcp_bridge_ring_dropped_total": "0x15 7x15"},
    "McpBridgeRingNearlyFull": {"mcp_bridge_ring_untaken": "900x30"},
    "McpBridgeClientsStall": {"mcp_bridge_clients_stalled_total": "0x15 1x15"},
    "McpBridgeBuffersNearlyFull": {"mcp_bridge_buffered_bytes": "90000x30"},
    "McpBridgeDescriptorsRunOut": {"mcp_bridge_open_fds": "1000x30"},
}
OTHER_REASONS = (
    # The metrics file of a killed daemon is not a sign of life.
    ("McpBridgeGone", {"mcp_bridge_metrics_time_seconds": "0+60x10 600x20"}),
    ("McpBridgeAuditFails", {"mcp_bridge_audit_lines_lost_total": "0x15 1x15"}),
    ("McpBridgeJobsWithoutRoom", {"mcp_bridge_jobs_pushed_out_total": "0x15 1x15"}),
)
# Well again, or not for long enough.
PASSING = (
    {"mcp_bridge_upstream_ready": "1x18 0x2 1x10"},
    {"mcp_bridge_session_reopenings_total": "0x15 1x15"},
    {'mcp_bridge_session_state{state="refused"}': "0x18 1x2 0x10"},
    {'mcp_bridge_requests_total{outcome="bridge_error"}': "0x15 20x15"},
    {"mcp_bridge_ring_untaken": "100x18 1000x12"},
    {"mcp_bridge_policy_rate_limited_total": "0x15 15x15"},
)


def scenario(changed, fires):
    series = [{"series": re.sub(r"(\{|$)", lambda found: "{" + LABELS + ("," if found[1] else "}"), name, count=1), "values": values}
              for name, values in {**HEALTHY, **changed}.items()]
    return {"interval": "1m", "input_series": series,
            "promql_expr_test": [{"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "20m",
                                  "exp_samples": [{"labels": '{alertname="%s"}' % name, "value": 1} for name in fires]}]}


class Rules(Case):
    def judge(self, *scenarios):
        path = self.write("rules_test.yaml", json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": scenarios}))
        verdict = promtool("test", "rules", path)
        if verdict is None:
            raise unittest.SkipTest("promtool (Debian's prometheus) is not installed")
        self.assertEqual(verdict, "")

    def test_every_alert_is_known_here(self):
        self.assertEqual(set(re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8"))), set(ILL))

    def test_each_fires_alone_for_what_it_is_about(self):
        self.judge(*(scenario(changed, [name]) for name, changed in (*ILL.items(), *OTHER_REASONS)))

    def test_nothing_fires_in_health_nor_for_what_passes(self):
        self.judge(*(scenario(changed, []) for changed in ({}, *PASSING)))


if __name__ == "__main__":
    main()
