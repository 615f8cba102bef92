/* simdjson, behind a C face. */
