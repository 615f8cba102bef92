// fake-login-manager [--impostor]: implements systemd-logind on the bus of $DBUS_SYSTEM_BUS_ADDRESS, for tests.
//
// It writes `ready` when it owns its name, `asked` at each request for a session, `delayed` when a client takes a lock
// that delays sleep, and `released` when no client has the lock any more. Lines of standard input are signals to send:
// suspend, resume, lock, unlock, and lock-other for another session. It ends with its standard input. An impostor owns
// no name on the bus, sends `suspend` and `lock`, and ends.
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "/org/freedesktop/login1";
static const char own_session[] = "/org/freedesktop/login1/session/_32";
static const char other_session[] = "/org/freedesktop/login1/session/_33";
static const char manager[] = "org.freedesktop.login1.Manager";
static const char session[] = "org.freedesktop.login1.Session";
static const char xml[] =
    "<node><interface name='org.freedesktop.login1.Manager'><method name='GetSession'>"
    "<arg type='s' direction='in'/><arg type='o' direction='out'/></method><method name='Inhibit'>"
    "<arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "<arg type='s' direction='in'/><arg type='h' direction='out'/></method></interface></node>";

// A function of libgio. Its header is in a folder that pkg-config does not list for WebKitGTK.
GUnixFDList *g_unix_fd_list_new_from_array(const int *descriptors, int count);

static GDBusConnection *bus;
static GMainLoop *loop;

static void say(const char *line) {
    puts(line);
    fflush(stdout);
}

static void send_signal(const char *line) {
    const char *place = strcmp(line, "lock-other") == 0 ? other_session : own_session;
    gboolean is_asleep = strcmp(line, "suspend") == 0;
    if (is_asleep || strcmp(line, "resume") == 0) {
        g_dbus_connection_emit_signal(
            bus, NULL, path, manager, "PrepareForSleep", g_variant_new("(b)", is_asleep), NULL);
    } else {
        const char *name = strncmp(line, "lock", 4) == 0 ? "Lock" : "Unlock";
        g_dbus_connection_emit_signal(bus, NULL, place, session, name, NULL, NULL);
    }
    g_dbus_connection_flush_sync(bus, NULL, NULL);
}

static gboolean released(GIOChannel *channel, GIOCondition condition, gpointer data) {
    say("released");
    return FALSE;
}

// The lock is the write end of a pipe.
static void delay_sleep(GVariant *parameters, GDBusMethodInvocation *invocation) {
    const char *what, *who, *why, *mode;
    g_variant_get(parameters, "(&s&s&s&s)", &what, &who, &why, &mode);
    int ends[2];
    if (strcmp(what, "sleep") != 0 || strcmp(mode, "delay") != 0 || pipe(ends) != 0) {
        g_dbus_method_invocation_return_dbus_error(invocation, "org.freedesktop.DBus.Error.InvalidArgs", what);
        return;
    }
    GIOChannel *channel = g_io_channel_unix_new(ends[0]);
    g_io_channel_set_close_on_unref(channel, TRUE);
    g_io_add_watch(channel, G_IO_HUP, released, NULL);
    g_io_channel_unref(channel);
    GUnixFDList *list = g_unix_fd_list_new_from_array(&ends[1], 1);
    g_dbus_method_invocation_return_value_with_unix_fd_list(invocation, g_variant_new("(h)", 0), list);
    g_dbus_connection_flush_sync(bus, NULL, NULL);
    g_object_unref(list);
    say("delayed");
}

static void called(GDBusConnection *connection, const char *sender, const char *object, const char *interface,
                   const char *method, GVariant *parameters, GDBusMethodInvocation *invocation, gpointer data) {
    if (strcmp(method, "Inhibit") == 0) return delay_sleep(parameters, invocation);
    g_dbus_method_invocation_return_value(invocation, g_variant_new("(o)", own_session));
    g_dbus_connection_flush_sync(bus, NULL, NULL);
    say("asked");
}

static gboolean read_line(GIOChannel *channel, GIOCondition condition, gpointer data) {
    char *line = NULL;
    if (g_io_channel_read_line(channel, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL) {
        g_main_loop_quit(loop);
        return FALSE;
    }
    send_signal(g_strchomp(line));
    g_free(line);
    return TRUE;
}

static void acquired(GDBusConnection *connection, const char *name, gpointer data) { say("ready"); }

static void lost(GDBusConnection *connection, const char *name, gpointer data) { g_main_loop_quit(loop); }

int main(int count, char **arguments) {
    bus = g_bus_get_sync(G_BUS_TYPE_SYSTEM, NULL, NULL);
    if (!bus) return 1;
    if (count > 1 && strcmp(arguments[1], "--impostor") == 0) {
        send_signal("suspend");
        send_signal("lock");
        return 0;
    }
    static const GDBusInterfaceVTable table = {called, NULL, NULL, {NULL}};
    GDBusNodeInfo *info = g_dbus_node_info_new_for_xml(xml, NULL);
    if (!g_dbus_connection_register_object(bus, path, info->interfaces[0], &table, NULL, NULL, NULL)) return 1;
    loop = g_main_loop_new(NULL, FALSE);
    g_bus_own_name_on_connection(
        bus, "org.freedesktop.login1", G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, acquired, lost, NULL, NULL);
    g_io_add_watch(g_io_channel_unix_new(0), G_IO_IN | G_IO_HUP, read_line, NULL);
    g_main_loop_run(loop);
    return 0;
}
