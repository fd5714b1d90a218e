"""Keys, certificates and signed JWTs by the openssl program."""

import base64
import json
import subprocess


def _openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60).stdout


def make_key(path, kind):
    """`kind`: ES256 or RS256. Writes the private key there and the public one beside it (.pub)."""
    options = {"ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
               "RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]}[kind]
    _openssl("genpkey", "-algorithm", *options, "-out", path)
    _openssl("pkey", "-in", path, "-pubout", "-out", path + ".pub")
    return path


def make_certificate(path):
    """A certificate for 127.0.0.1 that is its own authority; the key is beside it (.key)."""
    _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path + ".key", "-out", path)
    return path


def _decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _der(signature):
    """JWS has R and S side by side, openssl wants them as an ASN.1 sequence."""
    def integer(number):
        raw = number.lstrip(b"\0") or b"\0"
        raw = (b"\0" if raw[0] & 0x80 else b"") + raw
        return b"\x02" + bytes([len(raw)]) + raw

    body = integer(signature[:32]) + integer(signature[32:])
    return b"\x30" + bytes([len(body)]) + body


def verified_claims(token, public_key, algorithm, scratch):
    """The claims of a JWT whose signature is right; `scratch` is a path for temporary files."""
    header, payload, signature = token.split(".")
    assert json.loads(_decoded(header)) == {"alg": algorithm, "typ": "JWT"}, _decoded(header)
    raw = _decoded(signature)
    if algorithm == "ES256":
        assert len(raw) == 64, len(raw)
        raw = _der(raw)
    with open(scratch + ".sig", "wb") as file:
        file.write(raw)
    with open(scratch + ".txt", "wb") as file:
        file.write(f"{header}.{payload}".encode())
    _openssl("dgst", "-sha256", "-verify", public_key, "-signature", scratch + ".sig", scratch + ".txt")
    return json.loads(_decoded(payload))
