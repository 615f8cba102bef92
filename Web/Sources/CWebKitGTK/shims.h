// WebKitGTK with GTK 4, and functions that replace what Swift cannot import: variadic functions and macros.
#pragma once

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <webkit/webkit.h>

/// A function of libgio; its header is in a folder that pkg-config does not list for WebKitGTK.
GInputStream *g_unix_input_stream_new(gint descriptor, gboolean closes_descriptor);

/// As above.
gint g_unix_fd_list_get(GUnixFDList *list, gint index, GError **error);

/// Returns an error with our own domain, code and message.
static inline GError *trestle_error_new(const char *domain, int code, const char *message) {
    return g_error_new_literal(g_quark_from_string(domain), code, message);
}

static inline gboolean trestle_is_navigation_policy_decision(gpointer object) {
    return WEBKIT_IS_NAVIGATION_POLICY_DECISION(object);
}

static inline gboolean trestle_is_response_policy_decision(gpointer object) {
    return WEBKIT_IS_RESPONSE_POLICY_DECISION(object);
}

/// Returns the permissions of a request as bits in the order of `PermissionKind`; 0 for an unknown one.
static inline unsigned trestle_permission_bits(gpointer request) {
    unsigned bits = 0;
    if (WEBKIT_IS_GEOLOCATION_PERMISSION_REQUEST(request)) bits |= 1u << 0;
    if (WEBKIT_IS_NOTIFICATION_PERMISSION_REQUEST(request)) bits |= 1u << 1;
    if (WEBKIT_IS_USER_MEDIA_PERMISSION_REQUEST(request)) {
        WebKitUserMediaPermissionRequest *media = WEBKIT_USER_MEDIA_PERMISSION_REQUEST(request);
        if (webkit_user_media_permission_is_for_video_device(media)) bits |= 1u << 2;
        if (webkit_user_media_permission_is_for_audio_device(media)) bits |= 1u << 3;
        if (webkit_user_media_permission_is_for_display_device(media)) bits |= 1u << 4;
    }
    if (WEBKIT_IS_CLIPBOARD_PERMISSION_REQUEST(request)) bits |= 1u << 5;
    if (WEBKIT_IS_POINTER_LOCK_PERMISSION_REQUEST(request)) bits |= 1u << 6;
    if (WEBKIT_IS_DEVICE_INFO_PERMISSION_REQUEST(request)) bits |= 1u << 7;
    if (WEBKIT_IS_MEDIA_KEY_SYSTEM_PERMISSION_REQUEST(request)) bits |= 1u << 8;
    if (WEBKIT_IS_WEBSITE_DATA_ACCESS_PERMISSION_REQUEST(request)) bits |= 1u << 9;
    return bits;
}

/// Returns the policies with which a view is created.
static inline WebKitWebsitePolicies *trestle_website_policies(WebKitAutoplayPolicy autoplay) {
    return webkit_website_policies_new_with_policies("autoplay", autoplay, NULL);
}

/// Returns the SHA-256 of a certificate in hexadecimal, or NULL. The caller frees it with g_free().
static inline char *trestle_certificate_sha256(gpointer certificate) {
    GByteArray *der = NULL;
    g_object_get(certificate, "certificate", &der, NULL);
    if (!der) return NULL;
    char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, der->data, der->len);
    g_byte_array_unref(der);
    return sum;
}

/// Whether the server marks a response as a file to download.
static inline gboolean trestle_is_attachment(WebKitURIResponse *response) {
    SoupMessageHeaders *headers = webkit_uri_response_get_http_headers(response);
    const char *value = headers ? soup_message_headers_get_one(headers, "Content-Disposition") : NULL;
    return value && g_ascii_strncasecmp(value, "attachment", 10) == 0;
}

/// Whether the server forbids storing a response.
static inline gboolean trestle_forbids_storing(WebKitURIResponse *response) {
    SoupMessageHeaders *headers = webkit_uri_response_get_http_headers(response);
    const char *value = headers ? soup_message_headers_get_list(headers, "Cache-Control") : NULL;
    return value && soup_header_contains(value, "no-store");
}

static inline GType trestle_boolean_type(void) { return G_TYPE_BOOLEAN; }
static inline GType trestle_string_type(void) { return G_TYPE_STRING; }
static inline GType trestle_object_type(void) { return G_TYPE_OBJECT; }
