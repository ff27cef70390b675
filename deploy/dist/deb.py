"""A Debian package: the program, its unit with a user of its own, configuration, completions and manual pages."""

import hashlib
import lzma
import os

import manual
from archive import File, epoch, gzipped, tar

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGURATION = "etc/interlingua/hub.yaml"


def build(package):
    architecture = ARCHITECTURES[package.machine]
    files = installed(package)
    scripts = [File(name, read(f"debian/{name}"), 0o755) for name in ("postinst", "prerm", "postrm")]
    control = [
        File("control", description(package, architecture, files).encode()),
        File("conffiles", f"/{CONFIGURATION}\n".encode()),
        File("md5sums", md5sums(files).encode()),
        *scripts,
    ]
    archive = ar([
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", packed(control)),
        ("data.tar.xz", packed(files)),
    ])
    return {f"interlingua_{package.version}_{architecture}.deb": archive}


def installed(package):
    document = "usr/share/doc/interlingua"
    return [
        File("usr/bin/interlingua", package.program, 0o755),
        File("usr/lib/systemd/system/interlingua.service", unit(package.unit).encode()),
        File(CONFIGURATION, read("hub.yaml")),
        *manual.completions(package.path),
        *manual.pages(package.path, package.version),
        File(f"{document}/copyright", b"".join(content for _, content in sorted(package.licences.items()))),
        File(f"{document}/changelog.gz", gzipped(package.changelog.encode())),
    ]


def unit(text):
    """The unit of deploy/, for a program in /usr/bin and the user that the package makes."""
    _, _, sections = text.partition("\n[Unit]\n")
    sections = replaced(sections, "/usr/local/bin/interlingua", "/usr/bin/interlingua")
    sections = replaced(sections, "man:systemd.exec(5)", "man:interlingua(1)")
    sections = replaced(sections, "DynamicUser=yes\n", "User=interlingua\nGroup=interlingua\nRemoveIPC=yes\n")
    return (
        "# A hub as a service of its own user, with nothing of the machine but its data and its configuration.\n"
        "# Start it with: systemctl enable --now interlingua\n\n[Unit]\n" + sections
    )


def replaced(text, old, new):
    if text.count(old) != 1:
        raise SystemExit(f"error: deploy/interlingua.service has not exactly one {old!r}")
    return text.replace(old, new)


def description(package, architecture, files):
    size = sum(len(file.content) for file in files) // 1024
    return (
        f"Package: interlingua\nVersion: {package.version}\nArchitecture: {architecture}\n"
        f"Maintainer: The Interlingua project\nInstalled-Size: {size}\n"
        f"Depends: libc6 (>= {package.glibc}), adduser\nRecommends: ca-certificates\nSection: net\nPriority: optional\n"
        f"Description: {package.summary.rstrip('.')}\n"
        " The hub speaks NLIP, MCP, A2A, AIP and NLWeb, and each peer keeps its own protocol.\n"
    )


def md5sums(files):
    """What `dpkg --verify` compares; the configuration is the administrator's to change."""
    kept = sorted((file for file in files if file.path != CONFIGURATION), key=lambda file: file.path)
    return "".join(f"{hashlib.md5(file.content).hexdigest()}  {file.path}\n" for file in kept)


def packed(files):
    return lzma.compress(tar(files, root="./"), preset=6)


def ar(members):
    archive = b"!<arch>\n"
    for name, content in members:
        head = f"{name:<16}{epoch():<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
        archive += head.encode() + content + b"\n" * (len(content) % 2)
    return archive


def read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()
