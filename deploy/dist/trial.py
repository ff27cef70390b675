"""`scripts/dist-test`: each package is installed in a clean place, and the program it brings answers a call.

Usage: trial.py DIST PLACE. Only debootstrap uses the network: it makes the place for the Debian package.
"""

import glob
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import urllib.request

DIST, PLACE = map(os.path.abspath, sys.argv[1:3])
CLEAN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
CALL = {"format": "text", "subformat": "english", "content": "what can you do"}
# What it has, and a little: a change that makes the program larger needs a reason.
LARGEST = 56 * 2**20
# What is published needs no newer one. A program that was packed for a trial (DIST_PROGRAM) is as new and as large as it is.
GLIBC = (2, 28)
NOT_TRIED = [
    "the image by Docker, podman and other engines: it was unpacked and run by chroot", "the unit under a running systemd",
    "the rpm on a system of its own with dnf", "aarch64", "macOS", "Windows", "an install by name from PyPI, npm or crates.io", "uvx",
    "a build of the program in two places to compare its bytes",
]


def main():
    tried = {
        "checksums": checksums, "signature": signature, "inventory": bill, "program": program, "wheel": wheel, "npm": npm, "image": image,
        "deb": deb, "rpm": rpm,
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


def run(*command, environment=CLEAN, text=True, **more):
    return subprocess.run(command, check=True, text=text, env=environment, **more)


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
    """With keys of the trial, as docs/packages.md says: the key of a release is not here. A signature by another key, of other checksums or for
    another purpose is refused."""
    os.makedirs(place)
    for key in ("key", "other"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key, cwd=place)
    sums = os.path.join(DIST, "SHA256SUMS")
    with open(os.path.join(place, "key.pub"), encoding="utf-8") as key:
        write(place, "signers", f'releases namespaces="interlingua-dist" {key.read()}')
    with open(sums, encoding="utf-8") as file:
        whole = file.read()
    changed = whole.replace(whole[0], "0" if whole[0] != "0" else "1", 1)
    # Who signs, for what, and what is verified with it.
    for signer, purpose, verified, holds in [
        ("key", "interlingua-dist", whole, True), ("key", "interlingua-dist", changed, False),
        ("other", "interlingua-dist", whole, False), ("key", "file", whole, False),
    ]:
        write(place, "SHA256SUMS", whole)
        run("ssh-keygen", "-q", "-Y", "sign", "-f", signer, "-n", purpose, "SHA256SUMS", cwd=place)
        verify = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "releases", "-n", "interlingua-dist", "-s", "SHA256SUMS.sig"]
        ended = subprocess.run(verify, input=verified, text=True, capture_output=True, env=CLEAN, cwd=place)
        assert (ended.returncode == 0) == holds, f"{signer}, {purpose}: {ended.stdout}{ended.stderr}"
        os.remove(os.path.join(place, "SHA256SUMS.sig"))
        if holds:
            print(ended.stdout.strip())
    if not os.path.exists(f"{sums}.sig"):
        NOT_TRIED.append("the signature of a release: the checksums are not signed")


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


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
    listed = output("objdump", "-T", path)
    newest = max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", listed))
    declared = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", one("*.whl")).groups()))
    assert newest <= declared, newest
    if declared == GLIBC:
        assert size < LARGEST, f"{size / 2**20:.1f} MiB is more than {LARGEST / 2**20:.0f}"
    else:
        NOT_TRIED.append(f"the program that is published: this one needs glibc {'.'.join(map(str, declared))}, and its size was not compared")
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


def image(place):
    """Every digest and size is right, what is inside is as described, and the system that it makes serves as its user."""
    found = glob.glob(os.path.join(DIST, "*.oci.tar"))
    if not found:
        return "it is made on Debian only"
    with tarfile.open(found[0]) as archive:
        blobs = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isreg()}
    assert json.loads(blobs["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (described,) = json.loads(blobs["index.json"])["manifests"]
    manifest = json.loads(content_of(blobs, described))
    configuration = json.loads(content_of(blobs, manifest["config"]))
    layers = [gzip.decompress(content_of(blobs, layer)) for layer in manifest["layers"]]
    assert configuration["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
    assert configuration["architecture"] == described["platform"]["architecture"]
    config = configuration["config"]
    assert config["User"] == "65532:65532" and config["Labels"]["org.opencontainers.image.version"] in os.path.basename(found[0])
    entries = [entry for layer in layers for entry in tarfile.open(fileobj=io.BytesIO(layer))]
    check_entries(entries, config["Entrypoint"][0])
    print(f"{len(entries)} files and folders in {len(layers)} layers, {os.path.getsize(found[0]) / 2**20:.1f} MiB; no shell, nothing setuid")
    if os.geteuid() != 0:
        return "only root makes a system of it; its content was checked"
    for layer in layers:
        run("tar", "--extract", "--numeric-owner", "--preserve-permissions", "--directory", made(place), input=layer, text=False)
    as_its_user = ["chroot", "--userspec=65532:65532", place]
    environment = dict(variable.split("=", 1) for variable in config["Env"])
    health = [*as_its_user, *config["Healthcheck"]["Test"][1:]]
    assert ended(health, environment) == 4, "the health check holds though nothing runs"
    # Its own command, in a network of its own: it listens on every address.
    log = f"{place}.log"
    with open(log, "w", encoding="utf-8") as file:
        serve = ["unshare", "--net", *as_its_user, *config["Entrypoint"], *config["Cmd"]]
        hub = subprocess.Popen(serve, stdout=file, stderr=file, env=environment | {"PATH": CLEAN["PATH"]}, cwd="/")
    try:
        for _ in range(600):
            if ended(health, environment) == 0:
                break
            assert hub.poll() is None, text_of(log)
            time.sleep(0.1)
        else:
            raise SystemExit(f"error: it does not become healthy: {text_of(log)}")
        assert os.stat(os.path.join(place, "data/token")).st_uid == 65532
        print("runs as its user, and its health check holds")
    finally:
        hub.send_signal(signal.SIGTERM)
        assert hub.wait(timeout=60) == 0, text_of(log)
    assert ended(health, environment) == 4, "the health check holds though it has ended"
    answers([*as_its_user, *config["Entrypoint"]], f"{place}.trial", environment | {"PATH": CLEAN["PATH"]}, data="/data")


def content_of(blobs, described):
    """A blob that is what its descriptor says."""
    content = blobs[f"blobs/{described['digest'].replace(':', '/')}"]
    assert len(content) == described["size"] and described["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}", described
    return content


def check_entries(entries, program):
    """The same bytes again: sorted, one time. Nothing that gives rights, and one program."""
    names = [entry.name for entry in entries if not entry.isdir()]
    assert len({entry.mtime for entry in entries}) == 1, "times differ"
    assert not any(entry.mode & 0o6000 for entry in entries), "something is setuid"
    owned = sorted(entry.name for entry in entries if entry.uid or entry.gid)
    assert owned == ["data"], owned
    open_to_all = [entry.name for entry in entries if entry.mode & 0o002 and not entry.issym()]
    assert open_to_all == ["tmp"], open_to_all
    programs = [entry.name for entry in entries if entry.isreg() and entry.mode & 0o111 and not os.path.basename(entry.name).startswith("ld-")]
    assert programs == [program.lstrip("/")], programs
    assert not any(re.search(r"(^|/)(sh|bash|dash|busybox|apt|dpkg)$", name) for name in names), names


def made(folder):
    os.makedirs(folder, exist_ok=True)
    return folder


def ended(command, environment):
    """The exit code of a command that is no concern of the log."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    return subprocess.run(command, env=environment | {"PATH": CLEAN["PATH"]}, cwd="/", timeout=60, **quiet).returncode


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


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
    log = os.path.join(made(place), "log")
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
