/* An HTTP server with little overhead: one thread, epoll, bodies of one letter. It represents the internet.
 *
 *     origin [ADDRESSES]
 *
 * Listens on 127.0.0.1 and the addresses after it, ADDRESSES in all, each of which is a host to its clients. Prints
 * `port=N`. GET of these paths, N being the length of the body:
 *
 *     /plain/N       not to be stored
 *     /stored/N      fresh for an hour
 *     /validated/N   with an entity tag, must be validated each time; 304 to any If-None-Match
 *     /held/N        half of the body, and then no more bytes */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    REQUEST_BYTES = 8192,
    HEAD_BYTES = 512,
    BODY_BYTES = 1 << 20, /* Longer bodies are sent in several writes of this size. */
    EVENTS = 64,
    BACKLOG = 512,
};

typedef struct {
    int socket;
    bool listens, waits_for_room;
    size_t count; /* Bytes of the request. */
    size_t head_count, head_sent, body_left;
    char request[REQUEST_BYTES];
    char head[HEAD_BYTES];
} client;

static char body[BODY_BYTES];
static int poller;

static void watch(client *client, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = client};
    if (epoll_ctl(poller, operation, client->socket, &event) != 0) err(1, "epoll_ctl");
}

static client *new_client(int socket, bool listens) {
    client *made = calloc(1, sizeof *made);
    if (!made) err(1, "calloc");
    made->socket = socket;
    made->listens = listens;
    watch(made, EPOLL_CTL_ADD, EPOLLIN);
    return made;
}

static int listen_on(uint32_t address, uint16_t port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, BACKLOG) != 0)
        err(1, "listen");
    socklen_t size = sizeof name;
    getsockname(listener, (struct sockaddr *)&name, &size);
    new_client(listener, true);
    return ntohs(name.sin_port);
}

static void end(client *client) {
    close(client->socket);
    free(client);
}

/* Prepares the answer to the request in the buffer. */
static void answer(client *client) {
    char kind[16] = "";
    size_t length = 0;
    const char *fields = "Cache-Control: no-store\r\n", *status = "200 OK";
    if (sscanf(client->request, "GET /%15[a-z]/%zu", kind, &length) != 2) status = "404 Not Found", length = 0;
    if (strcmp(kind, "stored") == 0) fields = "Cache-Control: max-age=3600\r\n";
    if (strcmp(kind, "validated") == 0) {
        fields = "Cache-Control: no-cache\r\nETag: \"1\"\r\n";
        if (strcasestr(client->request, "\r\nIf-None-Match:")) status = "304 Not Modified";
    }
    bool has_body = status[0] != '3';
    int count = snprintf(client->head, sizeof client->head, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\n%s", status,
        fields);
    if (has_body)
        count += snprintf(client->head + count, sizeof client->head - (size_t)count, "Content-Length: %zu\r\n", length);
    count += snprintf(client->head + count, sizeof client->head - (size_t)count, "\r\n");
    client->head_count = (size_t)count;
    client->head_sent = 0;
    client->body_left = !has_body ? 0 : strcmp(kind, "held") == 0 ? length / 2 : length;
}

static bool is_sending(const client *client) { return client->head_sent < client->head_count || client->body_left > 0; }

/* Sends as many bytes as the socket accepts. False if the connection has ended. */
static bool send_some(client *client) {
    while (is_sending(client)) {
        size_t head_left = client->head_count - client->head_sent;
        struct iovec parts[2] = {
            {client->head + client->head_sent, head_left},
            {body, client->body_left < BODY_BYTES ? client->body_left : BODY_BYTES},
        };
        ssize_t sent = writev(client->socket, parts, 2);
        if (sent < 0) return errno == EAGAIN;
        size_t of_head = (size_t)sent < head_left ? (size_t)sent : head_left;
        client->head_sent += of_head;
        client->body_left -= (size_t)sent - of_head;
    }
    return true;
}

/* Answers the received requests, one after the other. False if the connection has ended. */
static bool go_on(client *client) {
    while (true) {
        if (!send_some(client)) return false;
        if (is_sending(client)) return true;
        client->request[client->count] = 0;
        char *rest = strstr(client->request, "\r\n\r\n");
        if (!rest) return client->count < sizeof client->request - 1;
        rest += 4;
        answer(client);
        client->count -= (size_t)(rest - client->request);
        memmove(client->request, rest, client->count);
    }
}

static void serve(client *client) {
    ssize_t count = recv(client->socket, client->request + client->count,
        sizeof client->request - 1 - client->count, 0);
    bool is_over = count == 0 || (count < 0 && errno != EAGAIN);
    if (count > 0) client->count += (size_t)count;
    if (is_over || !go_on(client)) return end(client);
    if (client->waits_for_room != is_sending(client)) {
        client->waits_for_room = is_sending(client);
        watch(client, EPOLL_CTL_MOD, client->waits_for_room ? EPOLLOUT : EPOLLIN);
    }
}

static void welcome(int listener) {
    int socket, on = 1;
    while ((socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        new_client(socket, false);
    }
}

int main(int argc, char **argv) {
    memset(body, 'x', sizeof body);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0) err(1, "epoll_create1");
    int addresses = argc > 1 ? atoi(argv[1]) : 1, port = listen_on(INADDR_LOOPBACK, 0);
    for (int i = 1; i < addresses; i++) listen_on(INADDR_LOOPBACK + (uint32_t)i, (uint16_t)port);
    printf("port=%d\n", port);
    fflush(stdout);
    while (true) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(poller, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            client *client = events[i].data.ptr;
            if (client->listens) welcome(client->socket);
            else serve(client);
        }
    }
}
