// The floor with which the daemon is compared: libuv and nothing else. Bytes received on a connection of the Unix
// socket are sent back on it unchanged. One thread, one read buffer, one write attempt for each read.
//
//     floor SOCKET
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

static char read_buffer[64 * 1024];

// The part of an echo that the socket did not accept immediately.
struct rest {
    uv_write_t request;
    char bytes[];
};

static void require(int status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "floor: %s: %s\n", what, uv_strerror(status));
    exit(1);
}

static void on_closed(uv_handle_t *handle) { free(handle); }

static void on_written(uv_write_t *request, int status) {
    (void)status;
    free(request);
}

static void lend_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)handle;
    (void)suggested;
    *buffer = uv_buf_init(read_buffer, sizeof read_buffer);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    if (count == 0) return;
    if (count < 0) {
        uv_close((uv_handle_t *)stream, on_closed);
        return;
    }
    uv_buf_t all = uv_buf_init(buffer->base, (unsigned)count);
    int written = uv_try_write(stream, &all, 1);
    if (written == UV_EAGAIN) written = 0;
    if (written < 0 || written == count) return;
    size_t left = (size_t)(count - written);
    struct rest *rest = malloc(sizeof *rest + left);
    if (rest == NULL) abort();
    memcpy(rest->bytes, buffer->base + written, left);
    uv_buf_t tail = uv_buf_init(rest->bytes, (unsigned)left);
    require(uv_write(&rest->request, stream, &tail, 1, on_written), "write");
}

static void on_connection(uv_stream_t *listener, int status) {
    require(status, "listen");
    uv_pipe_t *connection = malloc(sizeof *connection);
    if (connection == NULL) abort();
    require(uv_pipe_init(listener->loop, connection, 0), "pipe");
    require(uv_accept(listener, (uv_stream_t *)connection), "accept");
    require(uv_read_start((uv_stream_t *)connection, lend_buffer, on_read), "read");
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: floor SOCKET\n");
        return 64;
    }
    // A client that disconnects during a write ends its connection, not this program.
    signal(SIGPIPE, SIG_IGN);
    unlink(arguments[1]);
    uv_loop_t *loop = uv_default_loop();
    uv_pipe_t listener;
    require(uv_pipe_init(loop, &listener, 0), "pipe");
    require(uv_pipe_bind(&listener, arguments[1]), arguments[1]);
    require(uv_listen((uv_stream_t *)&listener, 4096, on_connection), "listen");
    return uv_run(loop, UV_RUN_DEFAULT);
}
