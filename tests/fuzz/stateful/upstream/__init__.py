"""The scripted upstream: one server, three ways to reach it."""
