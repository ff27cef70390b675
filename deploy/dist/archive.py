"""Archives that are the same bytes for the same content: sorted names, one time, one owner, fixed modes."""

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


def epoch():
    """The time of everything in an archive: that of the commit."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def tar(files, root=""):
    """A tar archive. Every folder above a file is an entry of its own, as dpkg wants it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in folders(files):
            archive.addfile(entry(root + folder + "/", 0o755, tarfile.DIRTYPE))
        for file in sorted(files, key=lambda file: file.path):
            head = entry(root + file.path, file.mode, tarfile.REGTYPE)
            head.size = len(file.content)
            archive.addfile(head, io.BytesIO(file.content))
    return buffer.getvalue()


def folders(files):
    found = set()
    for file in files:
        parts = file.path.split("/")[:-1]
        found.update("/".join(parts[: length + 1]) for length in range(len(parts)))
    return sorted(found)


def entry(name, mode, kind):
    head = tarfile.TarInfo(name)
    head.mode, head.type, head.mtime = mode, kind, epoch()
    head.uid = head.gid = 0
    head.uname = head.gname = "root"
    return head


def gzipped(content):
    """Without the name and the time that gzip writes into its head."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def zipped(files):
    """A zip archive, in the order given: readers of a wheel want its metadata last."""
    buffer = io.BytesIO()
    moment = datetime.fromtimestamp(epoch(), timezone.utc)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            head = zipfile.ZipInfo(file.path, moment.timetuple()[:6])
            head.compress_type = zipfile.ZIP_DEFLATED
            head.create_system = 3
            head.external_attr = (0o100000 | file.mode) << 16
            archive.writestr(head, file.content)
    return buffer.getvalue()
