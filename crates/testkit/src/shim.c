/* A disk that remembers only what was synced.
 *
 * Loaded into a program with LD_PRELOAD. After each successful fsync or fdatasync of a file below POWERCUT_ROOT, the
 * file's bytes are copied to POWERCUT_SHADOW/f-<inode>; after each fsync of a directory, the names in it and the inodes they
 * stand for go to POWERCUT_SHADOW/d-<inode>. When the program is killed, the shadow is what a disk that lost its cache
 * would hold: contents as of their last sync, under the names of the last sync of their directory.
 *
 * With POWERCUT_FAIL_ONCE=n the n-th sync of a file below the root fails with EIO, and only that one. POWERCUT_FAULTS names a
 * directory of switches: while it holds a file `fail` every sync below the root fails with EIO, while it holds a file `full`
 * every write there fails with ENOSPC.
 *
 * An inode is spelt with its time of birth, because numbers are used again. Copies are renamed into place, so a kill in
 * the middle of one leaves the copy before it. They are made one at a time: of two threads that sync the same directory, the
 * one that looked first must not be the one that writes last. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int below_root(int fd) {
    const char *root = getenv("POWERCUT_ROOT");
    char link[64], path[PATH_MAX];
    if (!root) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(root);
    return strncmp(path, root, prefix) == 0 && (path[prefix] == '/' || path[prefix] == 0);
}

static void spell(const struct statx *about, char *out, size_t size) {
    snprintf(out, size, "%llu-%lld-%u", (unsigned long long)about->stx_ino, (long long)about->stx_btime.tv_sec,
             about->stx_btime.tv_nsec);
}

static void fail(const char *what) {
    fprintf(stderr, "powercut: %s: %s\n", what, strerror(errno));
    abort();
}

/* A new file in the shadow, and the name it gets when it is whole. */
static FILE *begin(char kind, const char *inode, char *part, char *name) {
    const char *shadow = getenv("POWERCUT_SHADOW");
    snprintf(name, PATH_MAX, "%s/%c-%s", shadow, kind, inode);
    snprintf(part, PATH_MAX, "%s/part-%ld", shadow, syscall(SYS_gettid));
    FILE *out = fopen(part, "w");
    if (!out) fail("open the shadow");
    return out;
}

static void finish(FILE *out, const char *part, const char *name) {
    if (fclose(out) != 0) fail("write the shadow");
    if (rename(part, name) != 0) fail("rename the shadow");
}

static void copy_file(int fd, const char *inode) {
    char part[PATH_MAX], name[PATH_MAX], link[64];
    static __thread char buffer[1 << 16];
    FILE *out = begin('f', inode, part, name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int in = open(link, O_RDONLY | O_CLOEXEC);
    if (in < 0) fail("reopen the file");
    ssize_t got;
    while ((got = read(in, buffer, sizeof buffer)) > 0)
        if (fwrite(buffer, 1, (size_t)got, out) != (size_t)got) fail("write the shadow");
    close(in);
    finish(out, part, name);
}

static void copy_names(int fd, const char *inode) {
    char part[PATH_MAX], name[PATH_MAX], link[64], child[128];
    FILE *out = begin('d', inode, part, name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    DIR *dir = opendir(link);
    if (!dir) fail("list the directory");
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct statx about;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (statx(dirfd(dir), entry->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &about) != 0) continue;
        spell(&about, child, sizeof child);
        fprintf(out, "%c %s %s\n", S_ISDIR(about.stx_mode) ? 'd' : 'f', child, entry->d_name);
    }
    closedir(dir);
    finish(out, part, name);
}

static void remember(int fd) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct statx about;
    char inode[128];
    int before = errno;
    pthread_mutex_lock(&one_at_a_time);
    if (below_root(fd) && statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &about) == 0) {
        spell(&about, inode, sizeof inode);
        if (S_ISDIR(about.stx_mode)) copy_names(fd, inode);
        else if (S_ISREG(about.stx_mode)) copy_file(fd, inode);
    }
    pthread_mutex_unlock(&one_at_a_time);
    errno = before;
}

static int switched(const char *name) {
    const char *faults = getenv("POWERCUT_FAULTS");
    char path[PATH_MAX];
    if (!faults) return 0;
    snprintf(path, sizeof path, "%s/%s", faults, name);
    int before = errno;
    int there = access(path, F_OK) == 0;
    errno = before;
    return there;
}

static int fails_now(int fd) {
    static int syncs;
    if (switched("fail") && below_root(fd)) {
        errno = EIO;
        return 1;
    }
    const char *at = getenv("POWERCUT_FAIL_ONCE");
    if (!at || !below_root(fd) || __atomic_add_fetch(&syncs, 1, __ATOMIC_RELAXED) != atoi(at)) return 0;
    errno = EIO;
    return 1;
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (fails_now(fd)) return -1;
    int result = real(fd);
    if (result == 0) remember(fd);
    return result;
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    if (fails_now(fd)) return -1;
    int result = real(fd);
    if (result == 0) remember(fd);
    return result;
}

static int full_now(int fd) {
    if (!switched("full") || !below_root(fd)) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int fd, const void *from, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return full_now(fd) ? -1 : real(fd, from, size);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    return full_now(fd) ? -1 : real(fd, from, size, at);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return full_now(fd) ? -1 : real(fd, from, size, at);
}
