"""nginx before a server: TLS and HTTP/2 as they are met in the world."""

import os
import shutil
import socket

from .certificates import key_of
from .pages import block_of
from .processes import Process
from .waiting import eventually

_CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr info;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/nginx-body;
  proxy_temp_path {folder}/nginx-proxy;
  fastcgi_temp_path {folder}/nginx-fastcgi;
  uwsgi_temp_path {folder}/nginx-uwsgi;
  scgi_temp_path {folder}/nginx-scgi;
  log_format requests '$connection $server_protocol $request_method $status';
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    keepalive_requests {keepalive_requests};
    access_log {folder}/nginx.access requests;
    {location}
  }}
}}
"""


def location_of_page(to_port):
    """What daemon/HTTP.md recommends, before this port."""
    return block_of("daemon/HTTP.md", "Behind a gateway").text.replace("127.0.0.1:8080", f"127.0.0.1:{to_port}")


class Nginx(Process):
    def __init__(self, name, folder, marker, port, to_port, certificate, keepalive_requests=1000):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        assert os.path.exists(program), "nginx is not installed: bash tests/run.sh installs it"
        configuration = os.path.join(folder, "nginx.conf")
        with open(configuration, "w", encoding="ascii") as file:
            file.write(_CONFIGURATION.format(folder=folder, port=port, location=location_of_page(to_port), certificate=certificate,
                                             key=key_of(certificate), keepalive_requests=keepalive_requests))
        super().__init__(name, [program, "-p", folder, "-c", configuration], folder, marker)
        self.access = os.path.join(folder, "nginx.access")
        self.url = f"https://127.0.0.1:{port}/mcp"
        eventually(lambda: self._accepts(port), lambda: "nginx: " + self.stderr())

    def _accepts(self, port):
        assert self.running(), self.stderr()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def requests(self):
        """(connection, protocol, method, status) of each that is over."""
        with open(self.access, encoding="ascii") as file:
            return [tuple(line.split()) for line in file]
