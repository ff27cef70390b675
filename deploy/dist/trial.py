"""`scripts/dist-test`: each package is installed in a clean place, and the program it brings answers a call.

Usage: trial.py DIST PLACE. Only debootstrap uses the network: it makes the place for the Debian package.
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

DIST, PLACE = map(os.path.abspath, sys.argv[1:3])
CLEAN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
CALL = {"format": "text", "subformat": "english", "content": "what can you do"}
# What it has, and a little: a change that makes the program larger needs a reason.
LARGEST = 56 * 2**20
NOT_TRIED = [
    "the unit under a running systemd", "the rpm on a system of its own", "Docker and podman", "aarch64", "macOS", "Windows", "an install from PyPI or npm by name",
]


def main():
    tried = {
        "checksums": checksums, "signature": signature, "inventory": bill, "program": program, "wheel": wheel, "npm": npm, "deb": deb, "rpm": rpm,
    }
    skipped = []
    for name, trial in tried.items():
        print(f"\n== {name}", flush=True)
        reason = trial(os.path.join(PLACE, name))
        if reason:
            skipped.append(f"{name}: {reason}")
            print(f"skipped: {reason}")
    print("\nnot tried here: " + "; ".join(skipped + NOT_TRIED))


def one(pattern):
    (found,) = glob.glob(os.path.join(DIST, pattern))
    return found


def run(*command, environment=CLEAN, **more):
    return subprocess.run(command, check=True, text=True, env=environment, **more)


def output(*command, **more):
    return run(*command, stdout=subprocess.PIPE, **more).stdout


def checksums(_):
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=DIST)
    with open(os.path.join(DIST, "SHA256SUMS"), encoding="utf-8") as file:
        named = {line.split()[1] for line in file}
    others = set(os.listdir(DIST)) - named - {"SHA256SUMS", "SHA256SUMS.sig"}
    assert not others, f"without a checksum: {others}"
    print(f"{len(named)} files are what they were")


def signature(place):
    """With a key of the trial: the key of a release is not here."""
    os.makedirs(place)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key", cwd=place)
    shutil.copy(os.path.join(DIST, "SHA256SUMS"), place)
    run("ssh-keygen", "-q", "-Y", "sign", "-f", "key", "-n", "interlingua-dist", "SHA256SUMS", cwd=place)
    with open(os.path.join(place, "key.pub"), encoding="utf-8") as key, open(os.path.join(place, "signers"), "w", encoding="utf-8") as file:
        file.write("trial " + key.read())
    verify = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "trial", "-n", "interlingua-dist", "-s", "SHA256SUMS.sig"]
    with open(os.path.join(place, "SHA256SUMS"), "rb") as sums:
        print(output(*verify, cwd=place, stdin=sums).strip())


def bill(_):
    with open(one("*.cdx.json"), encoding="utf-8") as file:
        document = json.load(file)
    names = {component["name"] for component in document["components"]}
    assert {"tokio", "rusqlite", "aws-lc-sys", "interlingua-hub"} <= names, names
    assert not names & {"syn", "serde_derive", "proptest"}, "what only runs in the compiler or in tests is inside"
    known = {component["bom-ref"] for component in document["components"]} | {document["metadata"]["component"]["bom-ref"]}
    assert all(set(entry["dependsOn"]) <= known for entry in document["dependencies"])
    print(f"{len(names)} packages")


def program(place):
    os.makedirs(place)
    run("tar", "-xzf", one("interlingua-*.tar.gz"), "--strip-components=1", "-C", place)
    path = os.path.join(place, "interlingua")
    size = os.path.getsize(path)
    assert size < LARGEST, f"{size / 2**20:.1f} MiB is more than {LARGEST / 2**20:.0f}"
    listed = output("objdump", "-T", path)
    newest = max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", listed))
    assert newest <= (2, 28), newest
    debug = output("readelf", "--string-dump=.gnu_debuglink", path)
    assert os.path.basename(one("*.debug")) in debug, debug
    with open(path, "rb") as file:
        assert os.getcwd().encode() not in file.read(), "the program holds a path of the machine that built it"
    page = output("man", "-l", os.path.join(place, "usr/share/man/man1/interlingua-serve.1.gz"))
    assert "--listen" in page and "SYNOPSIS" in page, page
    answers([path], place)


def wheel(place):
    run(sys.executable, "-m", "venv", place)
    pip = [os.path.join(place, "bin/pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    run(*pip, one("*.whl"))
    answers([os.path.join(place, "bin/interlingua")], place)


def npm(place):
    os.makedirs(place)
    environment = CLEAN | {"PATH": os.environ["PATH"], "HOME": place}
    packages = [path for path in glob.glob(os.path.join(DIST, "*.tgz"))]
    options = ["--global", "--prefix", place, "--ignore-scripts", "--offline", "--no-audit", "--no-fund", "--omit=optional"]
    node = os.path.realpath(shutil.which("node", path=environment["PATH"]))
    run(node, os.path.join(os.path.dirname(node), "../lib/node_modules/npm/bin/npm-cli.js"), "install", *options, *packages, environment=environment)
    answers([os.path.join(place, "bin/interlingua")], place, environment | {"PATH": f"{os.path.dirname(node)}:/usr/bin:/bin"})


def deb(place):
    if os.geteuid() != 0:
        return "only root makes a system to install it in"
    if not shutil.which("debootstrap"):
        return "there is no debootstrap"
    run("debootstrap", "--variant=minbase", "--include=adduser", "bookworm", place, environment=dict(os.environ), stdout=subprocess.DEVNULL)
    shutil.copy(one("*.deb"), os.path.join(place, "tmp/interlingua.deb"))
    inside = ["chroot", place]
    run(*inside, "apt-get", "install", "--yes", "-qq", "--no-install-recommends", "/tmp/interlingua.deb", stdout=subprocess.DEVNULL)
    run(*inside, "dpkg", "--verify", "interlingua")
    served_in(place, "/tmp/data-of-deb")
    run(*inside, "apt-get", "purge", "--yes", "-qq", "interlingua", stdout=subprocess.DEVNULL)
    assert not os.path.exists(os.path.join(place, "etc/interlingua")) and not os.path.exists(os.path.join(place, "usr/bin/interlingua"))


def rpm(place):
    """In the system of the trial before: rpm is at home in Debian too, but knows none of its packages, so it is told not to look."""
    system = os.path.join(PLACE, "deb")
    if not os.path.isdir(system):
        return "there is no system to install it in"
    inside = ["chroot", system]
    run(*inside, "apt-get", "install", "--yes", "-qq", "--no-install-recommends", "rpm", stdout=subprocess.DEVNULL)
    shutil.copy(one("*.rpm"), os.path.join(system, "tmp/interlingua.rpm"))
    run(*inside, "deluser", "--quiet", "--system", "interlingua")
    run(*inside, "rpm", "--checksig", "/tmp/interlingua.rpm")
    run(*inside, "rpm", "--install", "--nodeps", "/tmp/interlingua.rpm")
    run(*inside, "rpm", "--verify", "--nodeps", "interlingua")
    served_in(system, "/tmp/data-of-rpm")
    run(*inside, "rpm", "--erase", "interlingua")
    assert not os.path.exists(os.path.join(system, "usr/bin/interlingua"))


def served_in(system, data):
    """The configuration is right and the service's own, and the program runs as the user of the service."""
    inside = ["chroot", system]
    run(*inside, "interlingua", "check", "/etc/interlingua/hub.yaml")
    mode = output(*inside, "stat", "--format=%a %U %G", "/etc/interlingua/hub.yaml").strip()
    assert mode == "640 root interlingua", mode
    as_service = ["setpriv", "--reuid=interlingua", "--regid=interlingua", "--clear-groups"]
    answers([*inside, *as_service, "interlingua"], system, data=data)


def answers(command, place, environment=CLEAN, data=None):
    """The program says its version, serves, answers a call over HTTP, and ends when it is told to."""
    print(output(*command, "--version", environment=environment, cwd="/").strip())
    log = os.path.join(place, "log")
    with open(log, "w", encoding="utf-8") as file:
        serve = [*command, "serve", "--listen", "127.0.0.1:0", "--data", data or os.path.join(place, "data")]
        hub = subprocess.Popen(serve, stdout=file, stderr=file, env=environment, cwd="/")
    try:
        url = address(hub, log)
        asked = urllib.request.Request(f"{url}/nlip", json.dumps(CALL).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            said = json.load(answer)
        assert "hub/" in json.dumps(said), said
        print("serves, and answers over NLIP")
    finally:
        hub.send_signal(signal.SIGTERM)
        ended = hub.wait(timeout=60)
    assert ended == 0, f"it ended with {ended}"


def address(hub, log):
    """Where it listens, once it says so."""
    for _ in range(600):
        with open(log, encoding="utf-8") as file:
            said = file.read()
        found = re.search(r"https?://127\.0\.0\.1:[1-9][0-9]*", said)
        if found:
            return found.group(0)
        assert hub.poll() is None, said
        time.sleep(0.1)
    raise SystemExit(f"error: it does not say where it listens: {said}")


if __name__ == "__main__":
    main()
