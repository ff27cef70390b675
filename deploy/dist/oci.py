"""An image for containers: an OCI image layout in one file, made of the program and of files of Debian packages, without a daemon.

The image has no shell, no package manager and no program but the hub, which runs as a user that owns nothing but `/data`. Of the packages it
holds the libraries that the program needs, the certificates of authorities, and their licences.
"""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from datetime import datetime, timezone

from archive import File, Folder, Link, epoch, gzipped, tar

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
HERE = os.path.dirname(os.path.abspath(__file__))
# The user of the hub: a number that no system gives to a person, as images without a shell have it.
USER = 65532
PROGRAM = "usr/local/bin/interlingua"
CONFIGURATION = "etc/interlingua/hub.yaml"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
# What the C library loads by name when it looks up hosts and users.
BY_NAME = {"libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"}


@dataclass(frozen=True)
class Debian:
    """A package of Debian: its description, and its files and links by their paths."""

    name: str
    control: str
    entries: dict


def build(package, debs, revision):
    """Nothing without packages: this machine cannot get them."""
    if not debs:
        return {}
    architecture = ARCHITECTURES[package.machine]
    layers = [tar(base([debian(path) for path in sorted(debs)], package.path)), tar(program(package))]
    blobs = {}

    def blob(kind, content, **more):
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        blobs[digest] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest, "size": len(content), **more}

    packed = [blob("layer.v1.tar+gzip", gzipped(layer)) for layer in layers]
    described = blob("config.v1+json", document(configuration(package, architecture, layers, revision)))
    labels = annotations(package, revision)
    manifest = {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described, "layers": packed, "annotations": labels,
    }
    named = {"org.opencontainers.image.ref.name": package.version}
    platform = {"architecture": architecture, "os": "linux"}
    index = {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [blob("manifest.v1+json", document(manifest), platform=platform, annotations=named)],
    }
    files = [File(f"blobs/{digest.replace(':', '/')}", content) for digest, content in blobs.items()]
    layout = [File("oci-layout", document({"imageLayoutVersion": "1.0.0"})), File("index.json", document(index)), *files]
    return {f"interlingua-{package.version}-{architecture}.oci.tar": tar(layout)}


def document(value):
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def moment():
    return datetime.fromtimestamp(epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def annotations(package, revision):
    prefix = "org.opencontainers.image."
    return {
        prefix + "title": "interlingua", prefix + "description": package.summary, prefix + "version": package.version,
        prefix + "licenses": package.licence, prefix + "created": moment(), prefix + "revision": revision,
    }


def configuration(package, architecture, layers, revision):
    program = f"/{PROGRAM}"
    return {
        "architecture": architecture, "os": "linux", "created": moment(),
        "config": {
            "User": f"{USER}:{USER}",
            "Env": [f"PATH={os.path.dirname(program)}", "HOME=/data", "INTERLINGUA_DATA=/data", f"SSL_CERT_FILE=/{CERTIFICATES}"],
            "Entrypoint": [program],
            "Cmd": ["serve", "-c", f"/{CONFIGURATION}"],
            "WorkingDir": "/data",
            "ExposedPorts": {"7447/tcp": {}},
            "Volumes": {"/data": {}},
            "StopSignal": "SIGTERM",
            "Labels": annotations(package, revision),
            # No part of OCI's own configuration; Docker reads it here too.
            "Healthcheck": {
                "Test": ["CMD", program, "health"], "Interval": 30_000_000_000, "Timeout": 10_000_000_000,
                "StartPeriod": 30_000_000_000, "Retries": 3,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]},
        "history": [
            {"created": moment(), "created_by": "libraries and certificates of Debian packages"},
            {"created": moment(), "created_by": "the program and its configuration"},
        ],
    }


def program(package):
    """What changes with every release, in a layer of its own."""
    with open(os.path.join(HERE, "image.yaml"), "rb") as file:
        configuration = file.read()
    licences = [File(f"usr/share/doc/interlingua/{name}", content) for name, content in package.licences.items()]
    return [File(PROGRAM, package.program, 0o755), File(CONFIGURATION, configuration), *licences]


def base(packages, program):
    """The folders of a system, the user, and what is needed of the packages."""
    users = f"root:x:0:0:root:/:/nonexistent\ninterlingua:x:{USER}:{USER}:interlingua:/data:/nonexistent\n"
    files = [
        Folder("data", 0o700, USER), Folder("tmp", 0o1777), Folder("dev"), Folder("proc"), Folder("sys"),
        File("etc/passwd", users.encode()),
        File("etc/group", f"root:x:0:\ninterlingua:x:{USER}:\n".encode()),
        File("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n"),
    ]
    known = {package.name: package for package in packages}
    if "ca-certificates" not in known:
        raise SystemExit("error: the package ca-certificates is missing")
    libraries, providers = libraries_of(packages, program)
    files += [certificates(known["ca-certificates"]), *libraries]
    for name in sorted(providers | {"ca-certificates"}):
        files += about(known[name], known)
    return files


def about(package, known):
    """The licence of a package, and its description where tools that look for known holes find it."""
    folder = f"usr/share/doc/{package.name}"
    # Packages of one source may share a folder, which one of them has.
    shared = package.entries.get(folder)
    holder = known[shared.target] if isinstance(shared, Link) else package
    licence = holder.entries[f"usr/share/doc/{holder.name}/copyright"]
    return [File(f"{folder}/copyright", licence), File(f"var/lib/dpkg/status.d/{package.name}", package.control.encode())]


def certificates(package):
    """All of them in one file, as `update-ca-certificates` makes it."""
    found = sorted(path for path in package.entries if path.startswith("usr/share/ca-certificates/") and path.endswith(".crt"))
    return File(CERTIFICATES, b"".join(package.entries[path].rstrip(b"\n") + b"\n" for path in found))


def libraries_of(packages, program):
    """The libraries that the program needs, those that these need, the loader, and the packages that they are from."""
    places = {}
    for package in packages:
        for path, content in package.entries.items():
            if re.search(r"(^|/)lib(64|/[a-z0-9_]+-linux-gnu)/[^/]+\.so(\.[0-9]+)*$", path):
                places.setdefault(os.path.basename(path), []).append((package, path, content))
    wanted, files, providers = [*needed(program), *sorted(BY_NAME), loader(program)], {}, set()
    while wanted:
        name = wanted.pop()
        if name not in places:
            raise SystemExit(f"error: no package has {name}, which the program needs")
        for package, path, content in places[name]:
            if path in files:
                continue
            providers.add(package.name)
            if isinstance(content, Link):
                files[path] = content
                wanted.append(os.path.basename(content.target))
            else:
                # The loader is started by the kernel.
                files[path] = File(path, content, 0o755 if name.startswith("ld-") else 0o644)
                wanted += needed_by(content)
    return list(files.values()), providers


def needed(path):
    """The names in the dynamic section."""
    listed = subprocess.run(["objdump", "--private-headers", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s+NEEDED\s+(\S+)$", listed, re.MULTILINE)


def needed_by(content):
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return needed(file.name)


def loader(path):
    """The name of the program that the kernel starts to load this one."""
    listed = subprocess.run(["readelf", "--program-headers", path], capture_output=True, text=True, check=True).stdout
    return os.path.basename(re.search(r"program interpreter: (\S+)\]", listed).group(1))


def debian(path):
    """Reads a package: an `ar` archive of two tar archives."""
    with open(path, "rb") as file:
        members = dict(ar(file.read()))
    control, data = (next(members[name] for name in members if name.startswith(part)) for part in ("control.tar", "data.tar"))
    described = unpacked(control)["control"].decode()
    name = re.search(r"^Package: (\S+)$", described, re.MULTILINE).group(1)
    return Debian(name, described, unpacked(data))


def ar(content):
    place = len(b"!<arch>\n")
    while place + 60 <= len(content):
        head = content[place : place + 60]
        name, size = head[:16].decode().strip().rstrip("/"), int(head[48:58])
        yield name, content[place + 60 : place + 60 + size]
        place += 60 + size + size % 2


def unpacked(content):
    """Regular files as bytes, symbolic links as links. Nothing is written to the disk."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for entry in archive:
            path = os.path.normpath(entry.name).lstrip("/")
            if entry.isreg():
                found[path] = archive.extractfile(entry).read()
            elif entry.issym():
                found[path] = Link(path, entry.linkname)
    return found
