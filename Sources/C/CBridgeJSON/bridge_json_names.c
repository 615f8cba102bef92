// The table of names with which keys are compared; json_names.h looks up keys in it.
#include "json_names.h"

#include <stdlib.h>

bridge_json_names *bridge_json_names_create(void) {
    bridge_json_names *names = calloc(1, sizeof *names);
    if (names == NULL) return NULL;
    names->entries[BRIDGE_JSON_NAMES].number = BRIDGE_JSON_NAMES;
    names->entries[BRIDGE_JSON_NAMES].is_last = true;
    memset(names->first, BRIDGE_JSON_NAMES, sizeof names->first);
    return names;
}

void bridge_json_names_destroy(bridge_json_names *names) { free(names); }

// Returns the index for the next name of this length: after those of the same length, or after all.
static uint8_t place(bridge_json_names *names, size_t length) {
    if (names->first[length] == BRIDGE_JSON_NAMES) return names->first[length] = names->count;
    uint8_t last = names->first[length];
    while (!names->entries[last].is_last) last++;
    names->entries[last].is_last = false;
    return last + 1;
}

bool bridge_json_names_add(bridge_json_names *names, const char *name, size_t length, uint8_t number) {
    if (length > BRIDGE_JSON_NAME_BYTES || number >= BRIDGE_JSON_NAMES || names->count == BRIDGE_JSON_NAMES)
        return false;
    uint8_t padded[BRIDGE_JSON_NAME_BYTES] = {0};
    memcpy(padded, name, length);
    const uint8_t at = place(names, length);
    memmove(&names->entries[at + 1], &names->entries[at], (names->count - at) * sizeof names->entries[0]);
    for (size_t other = 0; other <= BRIDGE_JSON_NAME_BYTES; other++) {
        if (other != length && names->first[other] >= at && names->first[other] < names->count) names->first[other]++;
    }
    names->entries[at] = (struct name_entry){words_of(padded, length), number, true};
    names->count++;
    return true;
}
