"""Authorities and certificates of the test's own, by the openssl program."""

import os
import subprocess


def _openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


_SIGNING_FOR_THE_PAST = """
[ca]
default_ca = signing
[signing]
database = {database}
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = names
copy_extensions = copy
[names]
commonName = supplied
"""


class Authority:
    """`path` is its certificate; what it signs lies beside it, each NAME.pem with its key in NAME.key."""

    def __init__(self, folder, name="authority"):
        self.folder, self.name = folder, name
        self.path, self.key = self._at(name + ".pem"), self._at(name + ".key")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign", "-keyout", self.key, "-out", self.path)

    def _at(self, name):
        return os.path.join(self.folder, name)

    def sign(self, name, hosts="IP:127.0.0.1,DNS:localhost", expired=False):
        """The path of a certificate for these hosts."""
        stem = self._at(f"{self.name}-{name}")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                 "-addext", f"subjectAltName={hosts}", "-keyout", stem + ".key", "-out", stem + ".csr")
        if expired:
            self._sign_for_the_past(stem)
        else:
            _openssl("x509", "-req", "-in", stem + ".csr", "-CA", self.path, "-CAkey", self.key, "-CAcreateserial",
                     "-days", "2", "-copy_extensions", "copy", "-out", stem + ".pem")
        return stem + ".pem"

    def _sign_for_the_past(self, stem):
        """By the one command that takes both dates in every OpenSSL: x509 takes none in 3.0, and no negative -days in 3.5."""
        with open(stem + ".database", "w", encoding="ascii"), open(stem + ".cnf", "w", encoding="ascii") as file:
            file.write(_SIGNING_FOR_THE_PAST.format(database=stem + ".database", folder=self.folder))
        _openssl("ca", "-batch", "-config", stem + ".cnf", "-cert", self.path, "-keyfile", self.key, "-notext",
                 "-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-in", stem + ".csr", "-out", stem + ".pem")


def key_of(certificate):
    return certificate[:-len(".pem")] + ".key"
