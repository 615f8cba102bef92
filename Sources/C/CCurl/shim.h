/* libcurl. Its functions that set and read options are variadic, which Swift cannot call. This header has one function
   for each type of value. */
#ifndef TRESTLE_CCURL_H
#define TRESTLE_CCURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

typedef size_t (*ccurl_data_function)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_function)(void *context, curl_off_t offset, int origin);
typedef int (*ccurl_resolve_function)(void *resolver, void *reserved, void *context);
typedef curl_socket_t (*ccurl_socket_function)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef CURLcode (*ccurl_secure_function)(CURL *handle, void *tls, void *context);
typedef int (*ccurl_request_function)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

/* Initializes the library. Called once, on one thread. */
static inline bool ccurl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK; }

static inline bool ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value) == CURLE_OK;
}

static inline bool ccurl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value) == CURLE_OK;
}

/* The library copies the text. */
static inline bool ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value) == CURLE_OK;
}

/* The library uses the URL until the transfer has ended. */
static inline bool ccurl_set_url(CURL *handle, CURLU *url) {
    return curl_easy_setopt(handle, CURLOPT_CURLU, url) == CURLE_OK;
}

/* Whether a part of a URL equals this text. An omitted port is the default port of the scheme. */
static inline bool ccurl_part_is(CURLU *url, CURLUPart part, const char *expected) {
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return false;
    bool is_same = strcmp(text, expected) == 0;
    curl_free(text);
    return is_same;
}

static inline bool ccurl_set_header_lines(CURL *handle, struct curl_slist *lines) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, lines) == CURLE_OK;
}

static inline bool ccurl_set_context(CURL *handle, void *context) {
    return curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_HEADERDATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_READDATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_SEEKDATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_RESOLVER_START_DATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_PREREQDATA, context) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_PRIVATE, context) == CURLE_OK;
}

static inline bool ccurl_set_response_functions(CURL *handle, ccurl_data_function header, ccurl_data_function body) {
    return curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body) == CURLE_OK;
}

static inline bool ccurl_set_request_functions(CURL *handle, ccurl_data_function read, ccurl_seek_function seek) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, read) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek) == CURLE_OK;
}

static inline bool ccurl_set_address_functions(
    CURL *handle, ccurl_resolve_function resolve, ccurl_socket_function socket, ccurl_secure_function secure,
    ccurl_request_function request) {
    return curl_easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, resolve) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, socket) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, secure) == CURLE_OK
        && curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, request) == CURLE_OK;
}

static inline void *ccurl_context(CURL *handle) {
    char *context = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &context);
    return context;
}

static inline long ccurl_long(CURL *handle, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(handle, info, &value);
    return value;
}

static inline curl_off_t ccurl_size(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(handle, info, &value);
    return value;
}

static inline bool ccurl_limit_connections(CURLM *multi, long of_host, long cached) {
    return curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, of_host) == CURLM_OK
        && curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, cached) == CURLM_OK
        && curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX) == CURLM_OK;
}

/* Returns the next transfer that has ended; NULL if there is none. */
static inline CURL *ccurl_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message = NULL;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

/* The values that callbacks return; libcurl defines them as macros, which Swift does not import. */
static const size_t ccurl_write_pause = CURL_WRITEFUNC_PAUSE;
static const size_t ccurl_read_pause = CURL_READFUNC_PAUSE;
static const size_t ccurl_read_abort = CURL_READFUNC_ABORT;

#endif
