"""What is inside the program: every package that is linked into it, as an SBOM (CycloneDX), and the text of its licence."""

import hashlib
import json
import os
import re
import subprocess
import tomllib
import uuid
from collections import defaultdict
from datetime import datetime, timezone

from archive import epoch

LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)([-._].*)?$", re.IGNORECASE)


def linked(target):
    """The packages that are linked into the program, and which of them each one uses. What only runs in the compiler is no part."""
    ran = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", target], capture_output=True, check=True
    )
    metadata = json.loads(ran.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    (root,) = (id for id, package in packages.items() if package["name"] == "interlingua")
    inside = of_program(target)
    parts = {id for id, package in packages.items() if (package["name"], package["version"]) in inside}
    uses = {id: sorted(parts & {dependency["pkg"] for dependency in nodes[id]["deps"]}) for id in parts}
    return packages, uses, root


def of_program(target):
    """Names and versions. `cargo metadata` knows the features of the whole workspace, with its tests; `cargo tree` those of one package."""
    asked = ["--package", "interlingua", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}"]
    ran = subprocess.run(["cargo", "tree", "--locked", *asked], capture_output=True, text=True, check=True)
    return {(line.split()[0], line.split()[1].removeprefix("v")) for line in ran.stdout.splitlines() if line}


def sbom(target):
    packages, uses, root = linked(target)
    with open("Cargo.lock", "rb") as file:
        checksums = {(it["name"], it["version"]): it.get("checksum") for it in tomllib.load(file)["package"]}
    names = sorted(uses, key=lambda id: reference(packages[id]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(packages[root], checksums) | {"type": "application"},
        },
        "components": [component(packages[id], checksums) for id in names if id != root],
        "dependencies": [
            {"ref": reference(packages[id]), "dependsOn": sorted(reference(packages[used]) for used in uses[id])} for id in names
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}"
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    found = {
        "type": "library", "name": package["name"], "version": package["version"],
        "bom-ref": reference(package), "purl": reference(package), "licenses": [{"expression": expression(package)}],
    }
    checksum = checksums.get((package["name"], package["version"]))
    return found | ({"hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else {})


def expression(package):
    """Old packages write `MIT/Apache-2.0`, which means OR."""
    return re.sub(r"\s*/\s*", " OR ", package["license"] or "NOASSERTION")


def licences(target, tools):
    """The licence texts of everything inside: packages of Rust with the C that some carry, its library, and the unwinder of LLVM."""
    packages, uses, _ = linked(target)
    texts, without = defaultdict(list), []
    for id in sorted(uses, key=lambda id: reference(packages[id])):
        package = packages[id]
        if package["source"] is None:
            continue
        label = f"{package['name']} {package['version']} ({expression(package)})"
        found = texts_below(os.path.dirname(package["manifest_path"]))
        for text in found:
            texts[text].append(label)
        if not found:
            without.append(f"{label}, {', '.join(package['authors']) or 'no authors named'}, {package['repository'] or 'no address named'}")
    for label, path in tools.items():
        with open(path, encoding="utf-8") as file:
            texts[file.read().strip()].append(label)
    return written(texts, without).encode()


def texts_below(folder):
    """The licences of a package, and of the C sources that it carries in folders of their own."""
    found = []
    for place, below, files in os.walk(folder):
        below.sort()
        for name in sorted(files):
            if LICENCE_FILE.match(name) and not name.endswith((".rs", ".py", ".go", ".toml")):
                with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                    found.append(file.read().strip())
    return sorted(set(filter(None, found)))


def written(texts, without):
    parts = ["The program contains these packages. The names above a text are the packages that carry it.\n"]
    parts += [f"{'=' * 100}\n{chr(10).join(labels)}\n{'-' * 100}\n{text}\n" for text, labels in sorted(texts.items(), key=lambda it: (it[1], it[0]))]
    if without:
        parts.append(f"{'=' * 100}\nThese packages name their licence and carry no text of it:\n" + "\n".join(without) + "\n")
    return "\n".join(parts)
