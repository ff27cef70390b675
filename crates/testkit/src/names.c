/* A resolver that tests decide.
 *
 * Loaded into a program with LD_PRELOAD. NAMES_NAME leads to NAMES_ADDRESS, whatever the machine knows of it, and each time it
 * is looked up a line is written to NAMES_ASKED. Every other name is the machine's to resolve. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    resolver real = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");
    const char *name = getenv("NAMES_NAME"), *address = getenv("NAMES_ADDRESS"), *asked = getenv("NAMES_ASKED");
    if (node && name && address && asked && strcmp(node, name) == 0) {
        FILE *log = fopen(asked, "a");
        if (log) {
            fprintf(log, "%s\n", node);
            fclose(log);
        }
        node = address;
    }
    return real(node, service, hints, found);
}
