"""The clients: on the Unix socket and on the HTTP frontend."""
