// WebKitGTK with GTK 4, and functions in place of what Swift cannot import: variadic functions and macros.
#pragma once

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <webkit/webkit.h>

/// Of libgio; its header is in a folder that pkg-config does not name for WebKitGTK.
GInputStream *g_unix_input_stream_new(gint descriptor, gboolean closes_descriptor);

/// An error of a domain, code and text of our own.
static inline GError *trestle_error_new(const char *domain, int code, const char *message) {
    return g_error_new_literal(g_quark_from_string(domain), code, message);
}

static inline gboolean trestle_is_navigation_policy_decision(gpointer object) {
    return WEBKIT_IS_NAVIGATION_POLICY_DECISION(object);
}

static inline gboolean trestle_is_response_policy_decision(gpointer object) {
    return WEBKIT_IS_RESPONSE_POLICY_DECISION(object);
}

static inline GType trestle_boolean_type(void) { return G_TYPE_BOOLEAN; }
static inline GType trestle_string_type(void) { return G_TYPE_STRING; }
static inline GType trestle_object_type(void) { return G_TYPE_OBJECT; }
