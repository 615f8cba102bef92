// bare URI: a page in WebKitGTK and nothing else, as the measure. The page has webkit.messageHandlers.bare, whose
// messages are answered with themselves, and the scheme bare:, which answers what is fetched.
#include <webkit/webkit.h>

static gboolean on_message(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply,
                           gpointer data) {
    webkit_script_message_reply_return_value(reply, value);
    return TRUE;
}

static void on_request(WebKitURISchemeRequest *request, gpointer data) {
    GInputStream *stream = g_memory_input_stream_new_from_data("{}", 2, NULL);
    WebKitURISchemeResponse *response = webkit_uri_scheme_response_new(stream, 2);
    SoupMessageHeaders *headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE);
    soup_message_headers_append(headers, "Access-Control-Allow-Origin", "*");
    webkit_uri_scheme_response_set_http_headers(response, headers);
    webkit_uri_scheme_request_finish_with_response(request, response);
    g_object_unref(response);
    g_object_unref(stream);
}

int main(int count, char **arguments) {
    gtk_init();
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    WebKitWebContext *context = webkit_web_context_get_default();
    WebKitSecurityManager *security = webkit_web_context_get_security_manager(context);
    webkit_web_context_register_uri_scheme(context, "bare", on_request, NULL, NULL);
    webkit_security_manager_register_uri_scheme_as_secure(security, "bare");
    webkit_security_manager_register_uri_scheme_as_cors_enabled(security, "bare");
    WebKitUserContentManager *manager = webkit_user_content_manager_new();
    g_signal_connect(manager, "script-message-with-reply-received::bare", G_CALLBACK(on_message), NULL);
    webkit_user_content_manager_register_script_message_handler_with_reply(manager, "bare", NULL);
    GtkWidget *view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "user-content-manager", manager, NULL);
    GtkWidget *window = gtk_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 1024, 768);
    gtk_window_set_child(GTK_WINDOW(window), view);
    gtk_window_present(GTK_WINDOW(window));
    webkit_web_view_load_uri(WEBKIT_WEB_VIEW(view), arguments[count - 1]);
    g_main_loop_run(loop);
}
