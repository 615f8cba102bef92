// engine-probe FOLDER URI [OPTION]...: shows a page in bare WebKitGTK and writes the engine's behaviour to standard
// output. Tests use it to check the facts on which trestle-web depends, and designs that it does not use.
//
//   --world NAME    the handler `probe` is in this isolated world instead of the page's world
//   --script FILE   runs in all frames at document start, in the world of the handler
//   --in-page       the scripts run in the page's world
//   --isolate       the schemes are display-isolated
//   --csp POLICY    the default content security policy
//   --hidden        the view is in no window
//   --bodies        the bodies of requests are read
//   --has FUNCTION  only reports whether the engine has the function
//
// The schemes app and other serve the files of FOLDER. Messages to the handler are lines `message TEXT`. The message
// `end` ends the program, `snapshot` takes a picture and ends it, `kill` ends the web process, `processes` writes the
// IDs of the web processes, and `stop` stops them and reports later whether the engine still considers them responsive.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <webkit/webkit.h>

static gchar *folder, *world, *policy, *function, **scripts;
static gchar **places;
static gboolean in_page, is_isolated, is_hidden, reads_bodies;
static WebKitWebView *view;
static GMainLoop *loop;
static guint ticks;
static gboolean wants_kill;

static const GOptionEntry options[] = {
    {"world", 0, 0, G_OPTION_ARG_STRING, &world, NULL, NULL},
    {"script", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &scripts, NULL, NULL},
    {"in-page", 0, 0, G_OPTION_ARG_NONE, &in_page, NULL, NULL},
    {"isolate", 0, 0, G_OPTION_ARG_NONE, &is_isolated, NULL, NULL},
    {"csp", 0, 0, G_OPTION_ARG_STRING, &policy, NULL, NULL},
    {"hidden", 0, 0, G_OPTION_ARG_NONE, &is_hidden, NULL, NULL},
    {"bodies", 0, 0, G_OPTION_ARG_NONE, &reads_bodies, NULL, NULL},
    {"has", 0, 0, G_OPTION_ARG_STRING, &function, NULL, NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &places, NULL, NULL},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};

static void report(const char *what, const char *text) {
    printf("%s %s\n", what, text ? text : "");
    fflush(stdout);
}

static void on_snapshot(GObject *object, GAsyncResult *result, gpointer data) {
    GError *error = NULL;
    GdkTexture *texture = webkit_web_view_get_snapshot_finish(WEBKIT_WEB_VIEW(object), result, &error);
    report("snapshot", texture ? "picture" : "error");
    g_clear_object(&texture);
    g_clear_error(&error);
    g_main_loop_quit(loop);
}

/// Ends the web process if this was requested and the page has a title.
static void kill_process(void) {
    const gchar *title = webkit_web_view_get_title(view);
    if (wants_kill && title && *title) webkit_web_view_terminate_web_process(view);
}

/// Returns whether a process is a descendant of this one.
static gboolean is_ours(const gchar *pid) {
    gchar *next = g_strdup(pid);
    gboolean is_found = FALSE;
    while (next && !is_found && strcmp(next, "0")) {
        gchar *path = g_strdup_printf("/proc/%s/stat", next);
        gchar *text = NULL;
        gint parent = 0;
        g_clear_pointer(&next, g_free);
        // The name of the process, in parentheses, may contain any character.
        if (g_file_get_contents(path, &text, NULL, NULL) && strrchr(text, ')') &&
            sscanf(strrchr(text, ')'), ") %*c %d", &parent) == 1) {
            is_found = parent == getpid();
            next = g_strdup_printf("%d", parent);
        }
        g_free(text);
        g_free(path);
    }
    g_free(next);
    return is_found;
}

/// Returns the IDs of the web processes, separated by spaces. Sends each process the signal unless it is 0.
static gchar *web_processes(int signal) {
    GString *list = g_string_new(NULL);
    GDir *folder = g_dir_open("/proc", 0, NULL);
    for (const gchar *name; folder && (name = g_dir_read_name(folder));) {
        gchar *path = g_strdup_printf("/proc/%s/comm", name);
        gchar *text = NULL;
        if (g_ascii_isdigit(*name) && g_file_get_contents(path, &text, NULL, NULL) &&
            g_str_has_prefix(text, "WebKitWebProc") && is_ours(name)) {
            g_string_append_printf(list, "%s%s", list->len ? " " : "", name);
            if (signal) kill(atoi(name), signal);
        }
        g_free(text);
        g_free(path);
    }
    if (folder) g_dir_close(folder);
    return g_string_free(list, FALSE);
}

static gboolean say_whether_responsive(gpointer data) {
    report("responsive", webkit_web_view_get_is_web_process_responsive(view) ? "yes" : "no");
    g_free(web_processes(SIGCONT));
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

/// Stops the web processes and sends them a script, which they do not answer.
static void stop_processes(void) {
    g_free(web_processes(SIGSTOP));
    webkit_web_view_evaluate_javascript(view, "1", -1, NULL, NULL, NULL, NULL, NULL);
    g_timeout_add_seconds(6, say_whether_responsive, NULL);
}

static gboolean on_message(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply,
                           gpointer data) {
    gchar *text = jsc_value_to_string(value);
    gchar *line = g_strdup_printf("%s [%s]", text, webkit_web_view_get_uri(view));
    report("message", line);
    if (!strcmp(text, "end")) g_main_loop_quit(loop);
    if (!strcmp(text, "kill")) {
        wants_kill = TRUE;
        kill_process();
    }
    if (!strcmp(text, "processes")) {
        gchar *list = web_processes(0);
        report("processes", list);
        g_free(list);
    }
    if (!strcmp(text, "stop")) stop_processes();
    if (!strcmp(text, "snapshot"))
        webkit_web_view_get_snapshot(view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, NULL,
                                     on_snapshot, NULL);
    JSCValue *answer = jsc_value_new_string(jsc_value_get_context(value), "answer");
    webkit_script_message_reply_return_value(reply, answer);
    g_object_unref(answer);
    g_free(line);
    g_free(text);
    return TRUE;
}

static void on_request(WebKitURISchemeRequest *request, gpointer data) {
    const gchar *method = webkit_uri_scheme_request_get_http_method(request);
    if (strcmp(method, "GET")) {
        gsize count = 0;
        if (reads_bodies) {
            GInputStream *body = webkit_uri_scheme_request_get_http_body(request);
            GOutputStream *all = g_memory_output_stream_new_resizable();
            if (body) g_output_stream_splice(all, body, 0, NULL, NULL);
            count = g_memory_output_stream_get_data_size(G_MEMORY_OUTPUT_STREAM(all));
            g_object_unref(all);
            g_clear_object(&body);
        }
        gchar *line = g_strdup_printf("%s %" G_GSIZE_FORMAT, method, count);
        report("body", line);
        g_free(line);
    }
    gchar *path = g_build_filename(folder, webkit_uri_scheme_request_get_path(request), NULL);
    gchar *bytes = NULL;
    gsize count = 0;
    GError *error = NULL;
    if (g_file_get_contents(path, &bytes, &count, &error)) {
        GInputStream *stream = g_memory_input_stream_new_from_data(bytes, count, g_free);
        webkit_uri_scheme_request_finish(request, stream, count,
                                         g_str_has_suffix(path, ".js") ? "text/javascript" : "text/html");
        g_object_unref(stream);
    } else {
        webkit_uri_scheme_request_finish_error(request, error);
        g_error_free(error);
    }
    g_free(path);
}

static gboolean on_decide(WebKitWebView *view, WebKitPolicyDecision *decision, WebKitPolicyDecisionType type) {
    if (type == WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION) {
        WebKitNavigationAction *action =
            webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(decision));
        report("decide", webkit_uri_request_get_uri(webkit_navigation_action_get_request(action)));
    }
    return FALSE;
}

static void on_uri(WebKitWebView *view) { report("uri", webkit_web_view_get_uri(view)); }

static gboolean close_dialog(gpointer dialog) {
    gchar *line = g_strdup_printf("closed after %s", ticks > 2 ? "ticks" : "none");
    report("dialog", line);
    g_free(line);
    webkit_script_dialog_close(dialog);
    webkit_script_dialog_unref(dialog);
    return G_SOURCE_REMOVE;
}

static gboolean on_dialog(WebKitWebView *view, WebKitScriptDialog *dialog) {
    report("dialog", webkit_script_dialog_get_message(dialog));
    ticks = 0;
    g_timeout_add(200, close_dialog, webkit_script_dialog_ref(dialog));
    return TRUE;
}

static void on_terminated(WebKitWebView *view, WebKitWebProcessTerminationReason reason) {
    report("terminated", webkit_web_view_get_uri(view));
    report("title", webkit_web_view_get_title(view));
    g_main_loop_quit(loop);
}

static gboolean on_tick(gpointer data) {
    ticks += 1;
    return G_SOURCE_CONTINUE;
}

static void add_scripts(WebKitUserContentManager *manager) {
    for (gchar **script = scripts; script && *script; script += 1) {
        gchar *source = NULL;
        if (!g_file_get_contents(*script, &source, NULL, NULL)) continue;
        const gchar *own = in_page ? NULL : world;
        WebKitUserContentInjectedFrames frames = WEBKIT_USER_CONTENT_INJECT_ALL_FRAMES;
        WebKitUserScriptInjectionTime time = WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START;
        WebKitUserScript *made = own ? webkit_user_script_new_for_world(source, frames, time, own, NULL, NULL)
                                     : webkit_user_script_new(source, frames, time, NULL, NULL);
        webkit_user_content_manager_add_script(manager, made);
        webkit_user_script_unref(made);
        g_free(source);
    }
}

static void serve(WebKitWebContext *context, const gchar *scheme) {
    WebKitSecurityManager *security = webkit_web_context_get_security_manager(context);
    webkit_web_context_register_uri_scheme(context, scheme, on_request, NULL, NULL);
    webkit_security_manager_register_uri_scheme_as_secure(security, scheme);
    webkit_security_manager_register_uri_scheme_as_cors_enabled(security, scheme);
    if (is_isolated) webkit_security_manager_register_uri_scheme_as_display_isolated(security, scheme);
}

int main(int count, char **arguments) {
    GOptionContext *parser = g_option_context_new("FOLDER URI");
    g_option_context_add_main_entries(parser, options, NULL);
    if (!g_option_context_parse(parser, &count, &arguments, NULL) || g_strv_length(places) != 2) return 64;
    if (function) {
        report("has", dlsym(RTLD_DEFAULT, function) ? "yes" : "no");
        return 0;
    }
    if (!gtk_init_check()) return 69;
    folder = places[0];
    loop = g_main_loop_new(NULL, FALSE);

    WebKitWebContext *context = webkit_web_context_new();
    serve(context, "app");
    serve(context, "other");
    WebKitUserContentManager *manager = webkit_user_content_manager_new();
    webkit_user_content_manager_register_script_message_handler_with_reply(manager, "probe", world);
    g_signal_connect(manager, "script-message-with-reply-received::probe", G_CALLBACK(on_message), NULL);
    add_scripts(manager);
    view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", context, "network-session",
                        webkit_network_session_new_ephemeral(), "user-content-manager", manager,
                        "default-content-security-policy", policy, NULL);
    g_object_ref_sink(view);
    g_signal_connect(view, "decide-policy", G_CALLBACK(on_decide), NULL);
    g_signal_connect(view, "notify::uri", G_CALLBACK(on_uri), NULL);
    g_signal_connect(view, "notify::title", G_CALLBACK(kill_process), NULL);
    g_signal_connect(view, "script-dialog", G_CALLBACK(on_dialog), NULL);
    g_signal_connect(view, "web-process-terminated", G_CALLBACK(on_terminated), NULL);
    g_timeout_add(10, on_tick, NULL);
    if (!is_hidden) {
        GtkWidget *window = gtk_window_new();
        gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(view));
        gtk_window_present(GTK_WINDOW(window));
    }
    webkit_web_view_load_uri(view, places[1]);
    g_main_loop_run(loop);
    return 0;
}
