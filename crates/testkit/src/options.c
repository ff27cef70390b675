/* Options of sockets that tests can see.
 *
 * Loaded into a program with LD_PRELOAD. For each connection that is told to send small writes at once (TCP_NODELAY) a line with the
 * port of its other end is written to OPTIONS_SEEN. What the program asks for is done all the same. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

typedef int (*setter)(int, int, int, const void *, socklen_t);

int setsockopt(int socket, int level, int option, const void *value, socklen_t length) {
    setter real = (setter)dlsym(RTLD_NEXT, "setsockopt");
    const char *seen = getenv("OPTIONS_SEEN");
    struct sockaddr_in other;
    socklen_t size = sizeof(other);
    if (seen && level == IPPROTO_TCP && option == TCP_NODELAY && *(const int *)value &&
        getpeername(socket, (struct sockaddr *)&other, &size) == 0 && other.sin_family == AF_INET) {
        FILE *log = fopen(seen, "a");
        if (log) {
            fprintf(log, "%d\n", ntohs(other.sin_port));
            fclose(log);
        }
    }
    return real(socket, level, option, value, length);
}
