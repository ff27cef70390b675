/* Clocks that tests decide.
 *
 * Loaded into a program with LD_PRELOAD. When the program first asks for the time of day it is CLOCK_AT (seconds since 1970),
 * and from there the clock goes on as the machine's does. With CLOCK_SPEED the monotonic clock runs so many times as fast, and what
 * is waited for by that clock is waited for so many times shorter. Every other clock is the machine's own. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

typedef int (*clock_reader)(clockid_t, struct timespec *);
typedef int (*waiter)(int, struct epoll_event *, int, int);
typedef long (*caller)(long, ...);

static const long long SECOND = 1000000000;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static clock_reader real;
static waiter real_wait;
static caller real_call;
static time_t ahead;
static long long speed = 1;
static long long begun;

static long long nanoseconds(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }

static struct timespec timespec_of(long long nanoseconds) {
    return (struct timespec){.tv_sec = nanoseconds / SECOND, .tv_nsec = nanoseconds % SECOND};
}

static void begin(void) {
    struct timespec now;
    const char *at = getenv("CLOCK_AT");
    real = (clock_reader)dlsym(RTLD_NEXT, "clock_gettime");
    if (at && real(CLOCK_REALTIME, &now) == 0) {
        ahead = (time_t)atoll(at) - now.tv_sec;
    }
    const char *times = getenv("CLOCK_SPEED");
    real_wait = (waiter)dlsym(RTLD_NEXT, "epoll_wait");
    real_call = (caller)dlsym(RTLD_NEXT, "syscall");
    if (times && real(CLOCK_MONOTONIC, &now) == 0) {
        begun = nanoseconds(&now);
        speed = atoll(times);
    }
}

int clock_gettime(clockid_t which, struct timespec *found) {
    pthread_once(&once, begin);
    int result = real(which, found);
    if (result == 0 && which == CLOCK_REALTIME) {
        found->tv_sec += ahead;
    }
    if (result == 0 && which == CLOCK_MONOTONIC && speed > 1) {
        *found = timespec_of(begun + (nanoseconds(found) - begun) * speed);
    }
    return result;
}

int epoll_wait(int poll, struct epoll_event *events, int most, int milliseconds) {
    pthread_once(&once, begin);
    if (milliseconds > 0) {
        milliseconds = (int)((milliseconds + speed - 1) / speed);
    }
    return real_wait(poll, events, most, milliseconds);
}

/* A thread that waits with a limit names the end of it by the clock it was shown. */
long syscall(long number, ...) {
    pthread_once(&once, begin);
    long given[6];
    va_list list;
    va_start(list, number);
    for (int at = 0; at < 6; at++) {
        given[at] = va_arg(list, long);
    }
    va_end(list);
    struct timespec until;
    const struct timespec *limit = (const struct timespec *)given[3];
    if (number == SYS_futex && (given[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && limit && speed > 1) {
        until = timespec_of(begun + (nanoseconds(limit) - begun) / speed);
        given[3] = (long)&until;
    }
    return real_call(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
