"""Authorities and certificates of the test's own, by the openssl program."""

import os
import subprocess


def _openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


class Authority:
    """`path` is its certificate; what it signs lies beside it, each NAME.pem with its key in NAME.key."""

    def __init__(self, folder, name="authority"):
        self.folder, self.name = folder, name
        self.path, self.key = self._at(name + ".pem"), self._at(name + ".key")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign", "-keyout", self.key, "-out", self.path)

    def _at(self, name):
        return os.path.join(self.folder, name)

    def sign(self, name, hosts="IP:127.0.0.1,DNS:localhost", days=2):
        """The path of a certificate for these hosts; with `days` below 0 one that has expired."""
        stem = self._at(f"{self.name}-{name}")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                 "-addext", f"subjectAltName={hosts}", "-keyout", stem + ".key", "-out", stem + ".csr")
        _openssl("x509", "-req", "-in", stem + ".csr", "-CA", self.path, "-CAkey", self.key, "-CAcreateserial",
                 "-days", str(days), "-copy_extensions", "copy", "-out", stem + ".pem")
        return stem + ".pem"


def key_of(certificate):
    return certificate[:-len(".pem")] + ".key"
