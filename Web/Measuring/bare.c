// bare [--bridge WORLD-SCRIPT PAGE-SCRIPT | --daemon SOCKET] URI: pages in plain WebKitGTK, as the reference.
//
// A page has webkit.messageHandlers.bare, whose messages are answered with themselves, and .evaluated, whose messages
// are returned as calls of done(TEXT). The scheme bare: answers a POST with its body, and other requests with
// load.html. With --bridge the page has .bare and the scripts of trestle-web, whose calls are answered immediately,
// without a daemon. It also has .answered, whose messages are calls that are answered in the same way. With --daemon it
// has only .daemon, whose messages become calls of Echo by a blocking socket; the reply is the daemon's line.
//
// Lines of standard input: "open URI" loads the URI in a new view, "prepare" creates a view that waits in a hidden
// window, and "load URI" shows that view and loads the URI in it. Each is answered by a line when the load has
// finished.
#include <gio/gunixinputstream.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <webkit/webkit.h>

static const char *world_script, *page_script;
static int daemon_socket = -1;
static const char *world = "bench";
static WebKitWebView *latest;

static gboolean on_message(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply,
                           gpointer data) {
    webkit_script_message_reply_return_value(reply, value);
    return TRUE;
}

static void on_evaluated(WebKitUserContentManager *manager, JSCValue *value, gpointer view) {
    char *json = jsc_value_to_json(value, 0);
    char *script = g_strdup_printf("done(%s)", json);
    webkit_web_view_evaluate_javascript(view, script, -1, NULL, NULL, NULL, NULL, NULL);
    g_free(script);
    g_free(json);
}

// Handles a call: the answer is the call itself, with its options as the result. `prefix` is the length of the text
// before it: the letter and the document's id that the porter adds, or nothing.
static gboolean on_line(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply,
                        gpointer prefix) {
    char *text = jsc_value_to_string(value);
    gsize length = GPOINTER_TO_SIZE(prefix);
    char *options = length == 0 || text[0] == 'l' ? strstr(text, "\"options\":") : NULL;
    if (options) {
        memcpy(options, "\"result\" :", strlen("\"result\" :"));
        JSCValue *answer = jsc_value_new_string(jsc_value_get_context(value), text + length);
        webkit_script_message_reply_return_value(reply, answer);
        g_object_unref(answer);
    } else {
        // The call is never answered.
        webkit_script_message_reply_ref(reply);
    }
    g_free(text);
    return TRUE;
}

static void connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    daemon_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(daemon_socket, (struct sockaddr *)&address, sizeof address)) g_error("%s: no daemon", path);
}

static void send_line(const char *line) {
    for (size_t left = strlen(line); left > 0;) {
        ssize_t sent = send(daemon_socket, line, left, MSG_NOSIGNAL);
        if (sent <= 0) g_error("the daemon does not read");
        line += sent;
        left -= sent;
    }
}

// Receives the next line, without its end. One call is open at a time: no bytes follow the line.
static void receive_line(GString *line) {
    char piece[1 << 16];
    do {
        ssize_t count = recv(daemon_socket, piece, sizeof piece, 0);
        if (count <= 0) g_error("the daemon does not answer");
        g_string_append_len(line, piece, count);
    } while (line->str[line->len - 1] != '\n');
    g_string_truncate(line, line->len - 1);
}

static gboolean on_call(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply,
                        gpointer data) {
    static unsigned number;
    char *text = jsc_value_to_json(value, 0);
    char *call = g_strdup_printf("{\"task\":\"Echo\",\"options\":{\"text\":%s},\"callbackId\":%u}\n", text, ++number);
    GString *line = g_string_new(NULL);
    send_line(call);
    receive_line(line);
    JSCValue *answer = jsc_value_new_string(jsc_value_get_context(value), line->str);
    webkit_script_message_reply_return_value(reply, answer);
    g_object_unref(answer);
    g_string_free(line, TRUE);
    g_free(call);
    g_free(text);
    return TRUE;
}

static void answer(WebKitURISchemeRequest *request, GInputStream *stream, const char *type) {
    WebKitURISchemeResponse *response = webkit_uri_scheme_response_new(stream, -1);
    SoupMessageHeaders *headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE);
    soup_message_headers_append(headers, "Access-Control-Allow-Origin", "*");
    webkit_uri_scheme_response_set_content_type(response, type);
    webkit_uri_scheme_response_set_http_headers(response, headers);
    webkit_uri_scheme_request_finish_with_response(request, response);
    g_object_unref(response);
    g_object_unref(stream);
}

static void on_request(WebKitURISchemeRequest *request, gpointer page) {
    GInputStream *body = webkit_uri_scheme_request_get_http_body(request);
    if (body) return answer(request, body, "text/plain");
    answer(request, g_memory_input_stream_new_from_data(page, -1, NULL), "text/html");
}

static void on_load(WebKitWebView *view, WebKitLoadEvent event, gpointer data) {
    if (event != WEBKIT_LOAD_FINISHED) return;
    puts("finished");
    fflush(stdout);
}

static void add_script(WebKitUserContentManager *manager, const char *path, const char *name) {
    char *source = NULL;
    if (!g_file_get_contents(path, &source, NULL, NULL)) g_error("%s cannot be read", path);
    WebKitUserContentInjectedFrames frames = WEBKIT_USER_CONTENT_INJECT_TOP_FRAME;
    WebKitUserScriptInjectionTime time = WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START;
    WebKitUserScript *script = name ? webkit_user_script_new_for_world(source, frames, time, name, NULL, NULL)
                                    : webkit_user_script_new(source, frames, time, NULL, NULL);
    webkit_user_content_manager_add_script(manager, script);
    webkit_user_script_unref(script);
    g_free(source);
}

static void make_view(void) {
    WebKitUserContentManager *manager = webkit_user_content_manager_new();
    latest = g_object_new(WEBKIT_TYPE_WEB_VIEW, "user-content-manager", manager, NULL);
    if (daemon_socket < 0) {
        g_signal_connect(manager, "script-message-with-reply-received::bare", G_CALLBACK(on_message), NULL);
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, "bare", NULL);
    }
    if (world_script) {
        g_signal_connect(manager, "script-message-with-reply-received::trestle", G_CALLBACK(on_line),
                         GSIZE_TO_POINTER(33));
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, "trestle", world);
        g_signal_connect(manager, "script-message-with-reply-received::answered", G_CALLBACK(on_line), NULL);
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, "answered", NULL);
        add_script(manager, world_script, world);
        add_script(manager, page_script, NULL);
    } else if (daemon_socket >= 0) {
        g_signal_connect(manager, "script-message-with-reply-received::daemon", G_CALLBACK(on_call), NULL);
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, "daemon", NULL);
    } else {
        g_signal_connect(manager, "script-message-received::evaluated", G_CALLBACK(on_evaluated), latest);
        webkit_user_content_manager_register_script_message_handler(manager, "evaluated", NULL);
    }
    g_signal_connect(latest, "load-changed", G_CALLBACK(on_load), NULL);
    GtkWidget *window = gtk_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 1024, 768);
    gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(latest));
}

static void show(const char *uri) {
    gtk_window_present(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(latest))));
    webkit_web_view_load_uri(latest, uri);
}

static gboolean on_command(GIOChannel *channel, GIOCondition condition, gpointer data) {
    char *line = NULL;
    gsize end = 0;
    if (g_io_channel_read_line(channel, &line, NULL, &end, NULL) != G_IO_STATUS_NORMAL) return FALSE;
    line[end] = 0;
    if (!g_str_has_prefix(line, "load ")) make_view();
    if (g_str_has_prefix(line, "prepare")) {
        webkit_web_view_load_uri(latest, "about:blank");
    } else {
        show(line + 5);
    }
    g_free(line);
    return TRUE;
}

int main(int count, char **arguments) {
    gtk_init();
    if (count == 5) {
        world_script = arguments[2];
        page_script = arguments[3];
    } else if (count == 4) {
        connect_to(arguments[2]);
    }
    char *page = NULL;
    if (!g_file_get_contents(g_getenv("BENCH_PAGE"), &page, NULL, NULL)) g_error("BENCH_PAGE names no file");
    WebKitWebContext *context = webkit_web_context_get_default();
    WebKitSecurityManager *security = webkit_web_context_get_security_manager(context);
    webkit_web_context_register_uri_scheme(context, "bare", on_request, page, NULL);
    webkit_security_manager_register_uri_scheme_as_secure(security, "bare");
    webkit_security_manager_register_uri_scheme_as_cors_enabled(security, "bare");
    g_io_add_watch(g_io_channel_unix_new(0), G_IO_IN, on_command, NULL);
    make_view();
    show(arguments[count - 1]);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
