"""An RPM with the files of the Debian package: a lead, a header of checksums, a header, and a cpio archive.

The format is that of RPM 4: https://rpm-software-management.github.io/rpm/manual/format_v4.html
"""

import hashlib
import lzma
import struct
from dataclasses import replace

import deb
from archive import epoch

INT16, INT32, STRING, BINARY, STRINGS, TRANSLATED = 3, 4, 6, 7, 8, 9
LESS_OR_EQUAL, GREATER_OR_EQUAL, EQUAL, RPMLIB, BEFORE_INSTALL = 10, 12, 8, 1 << 24, 1 << 9
CONFIGURATION = 1 | 1 << 4
REGULAR_FILE = 0o100000
SHA256 = 8
SHELL = "/bin/sh"
BEFORE = """\
getent passwd interlingua >/dev/null ||
  useradd --system --user-group --no-create-home --home-dir /var/lib/interlingua --shell /sbin/nologin interlingua
"""
AFTER = """\
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart interlingua.service
fi
"""
BEFORE_REMOVAL = """\
if [ "$1" = 0 ] && [ -d /run/systemd/system ]; then
  systemctl disable --now --quiet interlingua.service
fi
"""


def build(package):
    files = installed(package)
    archive = cpio(files)
    payload = lzma.compress(archive, preset=6)
    head = header(63, tags(package, files, payload))
    checksums = header(62, [
        (269, STRING, hashlib.sha1(head).hexdigest()),
        (273, STRING, hashlib.sha256(head).hexdigest()),
        (1000, INT32, [len(head) + len(payload)]),
        (1004, BINARY, hashlib.md5(head + payload).digest()),
        (1007, INT32, [len(archive)]),
    ])
    name = f"interlingua-{package.version}-1.{package.machine}"
    return {f"{name}.rpm": lead(name) + checksums + b"\0" * (-len(checksums) % 8) + head + payload}


def installed(package):
    """Zsh looks for completions elsewhere; the configuration is for the service's group alone."""
    moved = ("zsh/vendor-completions", "zsh/site-functions")
    files = [replace(file, path=file.path.replace(*moved)) for file in deb.installed(package)]
    files = [replace(file, mode=0o640) if file.path == deb.CONFIGURATION else file for file in files]
    return sorted(files, key=lambda file: file.path)


def tags(package, files, payload):
    folders = sorted({folder(file) for file in files})
    requires = [
        ("/bin/sh", 0, ""),
        ("/usr/sbin/useradd", BEFORE_INSTALL, ""),
        (f"libc.so.6(GLIBC_{package.glibc})(64bit)", 0, ""),
        ("rpmlib(CompressedFileNames)", RPMLIB | LESS_OR_EQUAL, "3.0.4-1"),
        ("rpmlib(FileDigests)", RPMLIB | LESS_OR_EQUAL, "4.6.0-1"),
        ("rpmlib(PayloadFilesHavePrefix)", RPMLIB | LESS_OR_EQUAL, "4.0-1"),
        ("rpmlib(PayloadIsXz)", RPMLIB | LESS_OR_EQUAL, "5.2-1"),
    ]
    count = len(files)
    return [
        (100, STRINGS, ["C"]),
        (1000, STRING, "interlingua"), (1001, STRING, package.version), (1002, STRING, "1"),
        (1004, TRANSLATED, [package.summary.rstrip(".")]),
        (1005, TRANSLATED, ["The hub speaks NLIP, MCP, A2A, AIP and NLWeb, and each peer keeps its own protocol."]),
        (1006, INT32, [epoch()]), (1007, STRING, "localhost"),
        (1009, INT32, [sum(len(file.content) for file in files)]),
        (1014, STRING, package.licence), (1016, TRANSLATED, ["Applications/Internet"]),
        (1021, STRING, "linux"), (1022, STRING, package.machine),
        (1023, STRING, BEFORE), (1024, STRING, AFTER), (1025, STRING, BEFORE_REMOVAL),
        (1028, INT32, [len(file.content) for file in files]),
        (1030, INT16, [REGULAR_FILE | file.mode for file in files]),
        (1033, INT16, [0] * count),
        (1034, INT32, [epoch()] * count),
        (1035, STRINGS, [hashlib.sha256(file.content).hexdigest() for file in files]),
        (1036, STRINGS, [""] * count),
        (1037, INT32, [CONFIGURATION * is_configuration(file) for file in files]),
        (1039, STRINGS, ["root"] * count),
        (1040, STRINGS, ["interlingua" if is_configuration(file) else "root" for file in files]),
        # Without the name of a source package rpm takes this for one.
        (1044, STRING, f"interlingua-{package.version}-1.src.rpm"),
        (1047, STRINGS, ["interlingua"]),
        (1048, INT32, [flags for _, flags, _ in requires]),
        (1049, STRINGS, [name for name, _, _ in requires]),
        (1050, STRINGS, [version for _, _, version in requires]),
        (1085, STRING, SHELL), (1086, STRING, SHELL), (1087, STRING, SHELL),
        (1095, INT32, [1] * count), (1096, INT32, list(range(1, count + 1))), (1097, STRINGS, [""] * count),
        (1112, INT32, [EQUAL]), (1113, STRINGS, [f"{package.version}-1"]),
        (1116, INT32, [folders.index(folder(file)) for file in files]),
        (1117, STRINGS, [file.path.rsplit("/", 1)[1] for file in files]),
        (1118, STRINGS, folders),
        (1124, STRING, "cpio"), (1125, STRING, "xz"), (1126, STRING, "6"),
        (5011, INT32, [SHA256]), (5062, STRING, "utf-8"),
        (5092, STRINGS, [hashlib.sha256(payload).hexdigest()]), (5093, INT32, [SHA256]),
    ]


def folder(file):
    return "/" + file.path.rsplit("/", 1)[0] + "/"


def is_configuration(file):
    return file.path == deb.CONFIGURATION


def header(region, entries):
    """An index of the tags and the store of their values. The region, whose trailer ends the store, covers all of it."""
    index, store = b"", b""
    for tag, kind, value in entries:
        width = {INT16: 2, INT32: 4}.get(kind, 1)
        store += b"\0" * (-len(store) % width)
        packed, count = encoded(kind, value)
        index += struct.pack(">4I", tag, kind, len(store), count)
        store += packed
    size = 16 * (len(entries) + 1)
    index = struct.pack(">4I", region, BINARY, len(store), 16) + index
    store += struct.pack(">2IiI", region, BINARY, -size, 16)
    return b"\x8e\xad\xe8\x01" + bytes(4) + struct.pack(">2I", len(entries) + 1, len(store)) + index + store


def encoded(kind, value):
    if kind == BINARY:
        return value, len(value)
    if kind == STRING:
        return value.encode() + b"\0", 1
    if kind in (STRINGS, TRANSLATED):
        return b"".join(text.encode() + b"\0" for text in value), len(value)
    return struct.pack(f">{len(value)}{'H' if kind == INT16 else 'I'}", *value), len(value)


def lead(name):
    """Read by nobody any more but for its first bytes: version 3.0, a binary package, the headers follow."""
    return b"\xed\xab\xee\xdb\x03\x00" + struct.pack(">2H66s2H16x", 0, 1, name.encode()[:65], 1, 5)


def cpio(files):
    """The archive in the format `newc`."""
    members = [(f"./{file.path}", REGULAR_FILE | file.mode, number, file.content) for number, file in enumerate(files, 1)]
    archive = b""
    for name, mode, number, content in [*members, ("TRAILER!!!", 0, 0, b"")]:
        fields = [number, mode, 0, 0, 1, epoch() if content else 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        archive += padded(head) + padded(content)
    return archive


def padded(content):
    return content + b"\0" * (-len(content) % 4)
