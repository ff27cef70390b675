/* A wall clock that tests decide.
 *
 * Loaded into a program with LD_PRELOAD. When the program first asks for the time of day it is CLOCK_AT (seconds since 1970),
 * and from there the clock goes on as the machine's does. Every other clock is the machine's own. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef int (*clock_reader)(clockid_t, struct timespec *);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static clock_reader real;
static time_t ahead;

static void begin(void) {
    struct timespec now;
    const char *at = getenv("CLOCK_AT");
    real = (clock_reader)dlsym(RTLD_NEXT, "clock_gettime");
    if (at && real(CLOCK_REALTIME, &now) == 0) {
        ahead = (time_t)atoll(at) - now.tv_sec;
    }
}

int clock_gettime(clockid_t which, struct timespec *found) {
    pthread_once(&once, begin);
    int result = real(which, found);
    if (result == 0 && which == CLOCK_REALTIME) {
        found->tv_sec += ahead;
    }
    return result;
}
