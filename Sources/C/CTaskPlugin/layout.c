// The memory layout of the plugin interface. A change of any number below changes the ABI and requires a new
// TRESTLE_ABI, because plugins that were built against the old header would read the wrong bytes. The only exception is
// a field that is added at the end of a struct: it changes the size, but no offset.
#include "trestle_plugin.h"

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(trestle_bytes) == 16, "trestle_bytes");
_Static_assert(sizeof(trestle_caller) == 88, "trestle_caller");
_Static_assert(sizeof(trestle_request) == 56, "trestle_request");
_Static_assert(sizeof(trestle_error) == 72, "trestle_error");
_Static_assert(sizeof(trestle_outgoing_call) == 88, "trestle_outgoing_call");
_Static_assert(sizeof(trestle_event) == 64, "trestle_event");
_Static_assert(sizeof(trestle_metric) == 64, "trestle_metric");
_Static_assert(sizeof(trestle_stream_answer) == 104, "trestle_stream_answer");
_Static_assert(sizeof(trestle_stream_use) == 64, "trestle_stream_use");
_Static_assert(offsetof(trestle_host, unwatch) == 136 && offsetof(trestle_host, stream_close) == 168, "trestle_host");
_Static_assert(sizeof(trestle_host) == 192, "trestle_host");
_Static_assert(offsetof(trestle_plugin, intercept) == 128, "trestle_plugin");
_Static_assert(offsetof(trestle_plugin, session_scope) == 136, "trestle_plugin");
_Static_assert(sizeof(trestle_plugin) == 144, "trestle_plugin");
#endif
