"""Archives that are the same bytes for the same content: sorted names, one time, fixed owners and modes."""

import gzip
import io
import os
import tarfile
import zipfile
from dataclasses import dataclass
from datetime import datetime, timezone


@dataclass(frozen=True)
class File:
    """A file of a package: where it is put, what it holds, and its mode."""

    path: str
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Folder:
    """A folder that is no other's alone, or is empty."""

    path: str
    mode: int = 0o755
    owner: int = 0


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: str
    target: str


def epoch():
    """The time of everything in an archive: that of the commit."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def tar(files, root=""):
    """A tar archive. Every folder above a file is an entry of its own, as dpkg wants it."""
    buffer = io.BytesIO()
    named = {entry.path: entry for entry in files if isinstance(entry, Folder)}
    others = [entry for entry in files if not isinstance(entry, Folder)]
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(set(folders(files)) | set(named)):
            folder = named.get(path, Folder(path))
            archive.addfile(head(root + path + "/", folder.mode, tarfile.DIRTYPE, folder.owner))
        for entry in sorted(others, key=lambda entry: entry.path):
            if isinstance(entry, Link):
                described = head(root + entry.path, 0o777, tarfile.SYMTYPE)
                described.linkname = entry.target
                archive.addfile(described)
            else:
                described = head(root + entry.path, entry.mode, tarfile.REGTYPE)
                described.size = len(entry.content)
                archive.addfile(described, io.BytesIO(entry.content))
    return buffer.getvalue()


def folders(files):
    found = set()
    for file in files:
        parts = file.path.split("/")[:-1]
        found.update("/".join(parts[: length + 1]) for length in range(len(parts)))
    return sorted(found)


def head(name, mode, kind, owner=0):
    made = tarfile.TarInfo(name)
    made.mode, made.type, made.mtime = mode, kind, epoch()
    made.uid = made.gid = owner
    made.uname = made.gname = "" if owner else "root"
    return made


def gzipped(content):
    """Without the name and the time that gzip writes into its head."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def zipped(files):
    """A zip archive, in the order given: readers of a wheel want its metadata last."""
    buffer = io.BytesIO()
    moment = datetime.fromtimestamp(epoch(), timezone.utc)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            described = zipfile.ZipInfo(file.path, moment.timetuple()[:6])
            described.compress_type = zipfile.ZIP_DEFLATED
            described.create_system = 3
            described.external_attr = (0o100000 | file.mode) << 16
            archive.writestr(described, file.content)
    return buffer.getvalue()
