"""The daemon's options of a round: small bounds and short patience, so that all of them are met."""

# Everything ends by itself within these.
PATIENCE = ["--request-timeout", "1500ms", "--request-max", "6s", "--connect-wait", "3s", "--connect-timeout", "3s",
            "--client-stall", "2s", "--park-requests", "700ms", "--input-wait", "2s",
            "--grace", "500ms"]
FACE_PATIENCE = ["--http", "127.0.0.1:0", "--http-timeout", "3s", "--http-session-idle", "2s", "--sse-keepalive", "300ms"]


def draw(choices):
    """(options, whether the ring may push out what nobody has taken)."""
    options = list(PATIENCE) + FACE_PATIENCE
    options += choices.pick({(): 5, ("--max-inflight", "1"): 1, ("--max-inflight", "3"): 1})
    options += choices.pick({(): 4, ("--client-inflight", "2"): 1})
    options += choices.pick({(): 4, ("--client-buffer", "64K"): 2, ("--client-buffer", "1K"): 1})
    options += choices.pick({(): 5, ("--ring", "5"): 1, ("--ring-bytes", "100K"): 1})
    options += choices.pick({(): 1, ("--orphans", "cancel"): 1, ("--orphans", "finish"): 1})
    options += choices.pick({(): 4, ("--handshake", "eager"): 1})
    options += choices.pick({(): 4, ("--http-stream-buffer", "20K"): 1})
    options += choices.pick({(): 5, ("--max-buffered", "2M"): 1})
    options += choices.pick({(): 4, ("--keepalive", "500ms"): 1})
    options += choices.pick({(): 5, ("--http-async",): 1})
    return options
