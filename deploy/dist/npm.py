"""Packages for npm: `interlingua`, which starts the program, and one for each platform, which carries it.

npm installs the one that fits the machine, because the others name another `os` or `cpu`. No package has an install script.
"""

import json
import os

from archive import File, gzipped, tar

CPUS = {"x86_64": "x64", "aarch64": "arm64"}
HERE = os.path.dirname(os.path.abspath(__file__))


def build(package):
    cpu = CPUS[package.machine]
    platform = f"interlingua-linux-{cpu}"
    common = {"version": package.version, "description": package.summary, "license": f"({package.licence})"}
    carrier = {"name": platform, **common, "os": ["linux"], "cpu": [cpu], "libc": ["glibc"], "files": ["bin", "licenses"]}
    wrapper = {
        "name": "interlingua", **common, "bin": {"interlingua": "bin/interlingua.js"}, "files": ["bin"], "engines": {"node": ">=18"},
        "optionalDependencies": {platform: package.version},
    }
    with open(os.path.join(HERE, "interlingua.js"), "rb") as file:
        starter = file.read()
    licences = [File(f"licenses/{name}", content) for name, content in package.licences.items()]
    readme = File("README.md", package.readme.encode())
    return {
        f"{platform}-{package.version}.tgz": packed(carrier, [File("bin/interlingua", package.program, 0o755), *licences]),
        f"interlingua-{package.version}.tgz": packed(wrapper, [File("bin/interlingua.js", starter, 0o755), readme]),
    }


def packed(description, files):
    described = File("package.json", (json.dumps(description, indent=2) + "\n").encode())
    return gzipped(tar([described, *files], root="package/"))
