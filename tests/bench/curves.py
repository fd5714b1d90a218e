"""Cost as work grows: each curve, and whether it is linear."""

import resource
import subprocess
import time

import setting
from rows import NOTIFICATION

# To 8 MiB with what is around it, which is all that --max-frame lets through when it is told nothing; what is asked for is
# exceeded by less than a hundred bytes.
LARGEST = (8 << 20) - 1024
PAYLOADS = [100, 1_000, 10_000, 100_000, 1_000_000, 4_000_000, LARGEST]
KINDS = {"base64": "an image", "escapes": "text with escapes", "values": "small values", "arrays": "deep arrays"}
CLIENTS = [1, 8, 32, 128]
MANY_CLIENTS = [300, 1000]
NOTIFICATIONS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
TOOLS = [10, 100, 1_000, 10_000]
SESSIONS = [1, 10, 100, 1_000]


def judged(ratio, unit, directly=None):
    """`directly`: the same of a call that is not relayed, which is not linear either where caches end."""
    beside = f", directly {directly:.2f}" if directly else ""
    return f"{ratio:.2f} times{beside}: {'linear' if ratio < 1.5 * max(1, directly or 1) else f'more than linear in {unit}'}"


def growth(points):
    """What one more costs at the end, beside what it costs before: [(x, y)], three and more."""
    (x0, y0), (x1, y1), (x2, y2) = points[0], points[-2], points[-1]
    before = (y1 - y0) / (x1 - x0)
    return (y2 - y1) / (x2 - x1) / before if before > 0 else 1


def a_byte(points):
    """Of the last beside the last but two."""
    return points[-1][1] / points[-3][1] / (points[-1][0] / points[-3][0])


def clients(bench):
    """(rows, (name, title, x label, y label, lines)), as the others."""
    rows, lines = [], {name: [] for name in ("directly", "mcp-bridged", "a bare libcurl relay")}
    for count in CLIENTS + ([] if bench.short else MANY_CLIENTS):
        for (_, points), rate in zip(lines.items(), bench.rate(count, [bench.direct, bench.bridge, bench.bare])):
            points.append((count, rate))
        direct, bridge, bare = (points[-1][1] for points in lines.values())
        rows.append((f"calls a second, {count} client{'s' * (count > 1)}",
                     f"{bridge:,.0f}; {bridge / direct:.2f} of direct, {bridge / bare:.2f} of the bare relay"))
    most = lines["directly"][-1][0]
    through, direct = ({count: rate for count, rate in lines[name]} for name in ("mcp-bridged", "directly"))
    rows.append((f"a call of {most} clients beside one of 32", judged(through[32] / through[most], "clients", direct[32] / direct[most])))
    return rows, ("clients", "Calls a second", "clients", "calls a second", lines)


def payload(bench):
    rows, lines = [], {}
    for kind, what in KINDS.items():
        direct_line, through = lines.setdefault(f"{what}, directly", []), lines.setdefault(f"{what}, through", [])
        for size in PAYLOADS:
            direct, bridge = bench.latency(5, 12 if size >= 1_000_000 else 60, [bench.direct, bench.bridge], kind, size)
            direct_line.append((size, direct["p50"]))
            through.append((size, bridge["p50"]))
            if size == 4_000_000:
                rows.append((f"a result of 4 MB, {what}", f"{bridge['p50'] / 1000:.1f} ms, {bridge['p50'] / direct['p50']:.1f} times direct"))
        rows.append((f"a byte in 8 MiB beside one in 1 MB, {what}",
                     judged(a_byte(through), "size", a_byte(direct_line))))
    return rows, ("payload", "A call by the size of its result", "bytes", "microseconds, p50", lines)


def notifications(bench):
    """The daemon's CPU time by how many come in a second, with nobody who reads them."""
    _, url = bench.start_upstream(name="tests/support/demo-upstream")
    daemon, path = bench.start_daemon("notifications.sock", "--url", url)
    bench.calls("latency", 1, 1, "echo", 24, f"unix:{path}")
    probe, points = setting.StatusProbe(path), []
    setting.emit(url, NOTIFICATION, 1)
    bench.wait_for(lambda: probe.newest() >= 1)
    for wanted in NOTIFICATIONS[:4] if bench.short else NOTIFICATIONS:
        seconds = 0.3 if bench.short else 3
        tick = max(0.1, 1 / wanted)
        before, cost, began, sent = probe.newest(), setting.processor_time(daemon), time.monotonic(), 0
        while sent == 0 or time.monotonic() - began < seconds:
            count = max(1, round(wanted * tick))
            setting.emit(url, NOTIFICATION, count)
            sent += count
            time.sleep(max(0, began + sent / wanted - time.monotonic()))
        bench.wait_for(lambda goal=before + sent: probe.newest() >= goal)
        elapsed = time.monotonic() - began
        points.append((sent / elapsed, (setting.processor_time(daemon) - cost) / elapsed * 1000))
    each = [cost / rate * 1000 for rate, cost in points]
    rows = [("notifications into the ring, the most a second", f"{points[-1][0]:,.0f}; {each[-1]:.2f} µs of CPU each"),
            ("a notification at that rate beside one at a tenth", judged(each[-1] / each[-2], "their rate"))]
    return rows, ("notifications", "CPU by notifications a second", "notifications a second", "ms of CPU a second", {"mcp-bridged": points})


def tools(bench):
    """A list of tools by their number."""
    lines = {"directly": [], "through": []}
    for count in TOOLS[:3] if bench.short else TOOLS:
        process, url = bench.start_upstream(count)
        daemon, path = bench.start_daemon(f"tools{count}.sock", "--url", url)
        direct, bridge = bench.latency(5, 15 if count >= 1000 else 60, [f"http:{setting.port_of(url)}", f"unix:{path}"], "list", 0)
        lines["directly"].append((count, direct["p50"]))
        lines["through"].append((count, bridge["p50"]))
        for one in (daemon, process):
            one.kill()
    through = lines["through"]
    rows = [(f"a list of {through[-1][0]:,} tools", f"{through[-1][1] / 1000:.1f} ms, {through[-1][1] / lines['directly'][-1][1]:.1f} times direct"),
            ("a tool more in it beside one in a tenth of it", judged(growth(through), "tools", growth(lines["directly"])))]
    return rows, ("tools", "A list of tools by their number", "tools", "microseconds, p50", lines)


def sessions(bench):
    """The HTTP frontend: sessions, each with a connection of its own that calls without a pause."""
    port, points, rates = setting.free_port(), [], []
    daemon, path = bench.start_daemon("sessions.sock", "--url", bench.url, "--http", f"127.0.0.1:{port}", "--http-max-sessions", "4000")
    bench.calls("latency", 1, 1, "echo", 24, f"unix:{path}")
    for count in SESSIONS[:3] if bench.short else SESSIONS:
        out = subprocess.run([bench.program("tests/bench/face-load"), str(port), "/mcp", str(count), "100" if bench.short else "2000"],
                             stdout=subprocess.PIPE, stderr=bench.log, stdin=subprocess.DEVNULL, text=True, check=True, timeout=120).stdout
        rates.append((count, float(out)))
        points.append((count, setting.memory(daemon, "RssAnon") * 1024))
    most = points[-1]
    rows = [(f"HTTP sessions, {most[0]:,} that call at once", f"{rates[-1][1]:,.0f} calls a second, {(most[1] - points[0][1]) / most[0]:.1f} KiB each"),
            ("a session more beside one of a tenth as many", judged(growth(points), "sessions")),
            (f"a call of {most[0]:,} sessions beside one of 10", judged(rates[1][1] / rates[-1][1], "sessions"))]
    return rows, ("sessions", "The HTTP frontend by its sessions", "sessions", "KiB anonymous; calls a second", {"memory, KiB": points, "calls a second": rates})


ALL = [clients, payload, notifications, tools, sessions]


def raise_limits():
    """A thousand clients of three peers are more descriptors than a shell may open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
