"""A wheel that carries the program: `pip install` and `uvx` put it on the PATH. It holds no Python."""

import base64
import hashlib

from archive import File, zipped


def build(package):
    base = f"interlingua-{package.version}"
    platform = f"manylinux_{package.glibc.replace('.', '_')}_{package.machine}"
    info = f"{base}.dist-info"
    files = [
        File(f"{base}.data/scripts/interlingua", package.program, 0o755),
        *(File(f"{info}/licenses/{name}", content) for name, content in sorted(package.licences.items())),
        File(f"{info}/METADATA", metadata(package).encode()),
        File(f"{info}/WHEEL", wheel(platform).encode()),
    ]
    files.append(File(f"{info}/RECORD", record(files, f"{info}/RECORD").encode()))
    return {f"{base}-py3-none-{platform}.whl": zipped(files)}


def metadata(package):
    licences = "".join(f"License-File: {name}\n" for name in sorted(package.licences))
    return (
        f"Metadata-Version: 2.4\nName: interlingua\nVersion: {package.version}\nSummary: {package.summary}\n"
        f"License-Expression: {package.licence}\n{licences}Requires-Python: >=3.8\n"
        f"Description-Content-Type: text/markdown\n\n{package.readme}"
    )


def wheel(platform):
    return f"Wheel-Version: 1.0\nGenerator: interlingua-dist\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"


def record(files, own):
    lines = []
    for file in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.content).digest()).rstrip(b"=").decode()
        lines.append(f"{file.path},sha256={digest},{len(file.content)}\n")
    return "".join(lines) + f"{own},,\n"
