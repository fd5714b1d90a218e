"""An upstream that needs a name server and a certificate authority: TLS before the server at PORT, under a name that
only a name server at ADDRESS knows. Writes FOLDER/authority.pem and FOLDER/url, and runs until it is killed.

    secured_upstream.py PORT FOLDER ADDRESS
"""

import os
import pathlib
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness.certificates import Authority  # noqa: E402
from harness.tls_front import TlsFront  # noqa: E402

NAME = "upstream.test"
A = 1


def question(packet):
    """The name asked for, its type, and the bytes of the question (RFC 1035 4.1.2)."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode("ascii", "replace"))
        at += 1 + packet[at]
    kind, = struct.unpack_from("!H", packet, at + 1)
    return ".".join(labels).lower(), kind, packet[12:at + 5]


def answer(packet):
    name, kind, asked = question(packet)
    known = name == NAME
    has_address = known and kind == A
    head = packet[:2] + struct.pack("!HHHHH", 0x8180 if known else 0x8183, 1, int(has_address), 0, 0)
    record = struct.pack("!HHHIH", 0xC00C, A, 1, 60, 4) + socket.inet_aton("127.0.0.1") if has_address else b""
    return head + asked + record


def main(port, folder, address):
    authority = Authority(folder)
    front = TlsFront(int(port), authority.sign("server", f"DNS:{NAME}"))
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((address, 53))
    temporary = os.path.join(folder, "url.new")
    with open(temporary, "w", encoding="ascii") as file:
        file.write(f"https://{NAME}:{front.port}/mcp\n")
    os.rename(temporary, os.path.join(folder, "url"))
    while True:
        packet, asker = names.recvfrom(512)
        names.sendto(answer(packet), asker)


main(*sys.argv[1:])
