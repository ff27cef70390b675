"""Packages of a program that has been built: `scripts/dist` calls it. Everything is made in memory and written at the end."""

import argparse
import hashlib
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

import deb
import inventory
import npm
import oci
import rpm
import wheel
from archive import File, gzipped, tar


@dataclass(frozen=True)
class Package:
    """What every kind of package is made of. `path` is where the stripped program can be run."""

    program: bytes
    path: str
    machine: str
    glibc: str
    version: str
    summary: str
    licence: str
    licences: dict
    readme: str
    changelog: str
    unit: str


def main():
    asked = arguments()
    asked.program = os.path.abspath(asked.program)
    machine = asked.target.split("-")[0]
    name = f"interlingua-{version()}-{asked.target}"
    with tempfile.TemporaryDirectory() as folder:
        program, debug = os.path.join(folder, "interlingua"), os.path.join(folder, f"{name}.debug")
        split(asked.program, program, debug)
        check_symbols(program, asked.glibc)
        package = Package(
            program=content(program), path=program, machine=machine, glibc=asked.glibc, version=version(), summary=of_manifest("description"),
            licence=of_workspace("license"), licences=licences(asked), readme=text("README.md"), changelog=text("CHANGELOG.md"),
            unit=text("deploy/interlingua.service"),
        )
        made = {
            f"{name}.debug": content(debug),
            f"{name}.tar.gz": gzipped(tar(plain(package), root=f"{name}/")),
            f"{name}.cdx.json": inventory.sbom(asked.target),
            **wheel.build(package), **npm.build(package), **deb.build(package), **rpm.build(package),
            **oci.build(package, asked.debian, asked.revision),
        }
    write(asked.out, made)
    print(f"the program has {len(package.program) / 2**20:.1f} MiB; it needs glibc {asked.glibc} or later")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the program as it was built, with its debug information")
    parser.add_argument("--target", required=True, help="what it was built for, such as x86_64-unknown-linux-gnu")
    parser.add_argument("--glibc", required=True, help="the oldest glibc that it may need")
    parser.add_argument("--licence", action="append", default=[], metavar="LABEL=FILE", help="a licence of what the tools link in")
    parser.add_argument("--debian", action="append", default=[], metavar="FILE", help="a Debian package that the image needs; without any there is no image")
    parser.add_argument("--revision", default="unknown", help="the commit that the program was built from")
    parser.add_argument("--out", required=True, help="the folder for the packages")
    return parser.parse_args()


def split(built, program, debug):
    """The program without its debug information, and a file with it, which debuggers find by the name in the program."""
    subprocess.run(["objcopy", "--only-keep-debug", "--compress-debug-sections=zlib", built, debug], check=True)
    os.chmod(debug, 0o644)
    folder = os.path.dirname(debug)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={os.path.basename(debug)}", built, program], check=True, cwd=folder)


def check_symbols(program, glibc):
    listed = subprocess.run(["objdump", "-T", program], capture_output=True, text=True, check=True).stdout
    wanted = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", listed)}
    if not wanted or max(wanted) > tuple(map(int, glibc.split("."))):
        raise SystemExit(f"error: the program needs glibc {'.'.join(map(str, max(wanted, default=())))}, not {glibc}")


def licences(asked):
    tools = dict(pair.split("=", 1) for pair in asked.licence)
    return {
        "LICENSE-APACHE": content("LICENSE-APACHE"),
        "LICENSE-MIT": content("LICENSE-MIT"),
        "THIRD-PARTY-LICENSES": inventory.licences(asked.target, tools),
    }


def plain(package):
    """The program for a machine without a package manager."""
    return [
        File("interlingua", package.program, 0o755),
        File("README.md", package.readme.encode()),
        *(File(name, content) for name, content in package.licences.items()),
        *deb.manual.completions(package.path), *deb.manual.pages(package.path, package.version),
    ]


def write(folder, made):
    os.makedirs(folder, exist_ok=True)
    for name, whole in made.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(whole)
    sums = "".join(f"{hashlib.sha256(whole).hexdigest()}  {name}\n" for name, whole in sorted(made.items()))
    with open(os.path.join(folder, "SHA256SUMS"), "w", encoding="utf-8") as file:
        file.write(sums)


def version():
    return of_workspace("version")


def of_workspace(key):
    return value("Cargo.toml", key)


def of_manifest(key):
    return value("crates/interlingua/Cargo.toml", key)


def value(path, key):
    return re.search(rf'^{key} = "(.*)"$', text(path), re.MULTILINE).group(1)


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def content(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
