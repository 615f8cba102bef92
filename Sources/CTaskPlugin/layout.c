// The layout of the plugin interface, pinned: a change of any number below is a change of the ABI and needs a
// new TRESTLE_ABI, because plugins that were built against the old header would read the wrong bytes. What is added at
// the end of a struct changes its size alone; of the fields before it the offsets stay.
#include "trestle_plugin.h"

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(trestle_bytes) == 16, "trestle_bytes");
_Static_assert(sizeof(trestle_caller) == 88, "trestle_caller");
_Static_assert(sizeof(trestle_request) == 56, "trestle_request");
_Static_assert(sizeof(trestle_error) == 72, "trestle_error");
_Static_assert(sizeof(trestle_bridge_call) == 88, "trestle_bridge_call");
_Static_assert(sizeof(trestle_event) == 64, "trestle_event");
_Static_assert(sizeof(trestle_metric) == 64, "trestle_metric");
_Static_assert(offsetof(trestle_host, publish) == 88, "trestle_host, as it was at first");
_Static_assert(TRESTLE_HOST_WITH_METRICS == 120, "trestle_host, as it was before emit");
_Static_assert(TRESTLE_HOST_WITH_EMIT == 128, "trestle_host, as it was before watch");
_Static_assert(sizeof(trestle_host) == 152 && TRESTLE_HOST_WITH_WATCHES == 152, "trestle_host");
_Static_assert(offsetof(trestle_plugin, describe) == 120, "trestle_plugin, as it was before intercept");
_Static_assert(sizeof(trestle_plugin) == 136, "trestle_plugin");
#endif
