// Looks up keys among the names of a caller. Only for bridge_json.c and bridge_json_walk.c.
#ifndef TRESTLE_JSON_NAMES_H
#define TRESTLE_JSON_NAMES_H

#include "bridge_json.h"

#include "string_marks.h"

#include <string.h>

// The bytes of a name, padded with zeros; the first byte is the least significant one.
struct name_words {
    uint64_t head, tail;
};

struct name_entry {
    struct name_words words;
    uint32_t number;
    bool is_last; // Whether it is the last entry of its length.
};

// The names by length: names of the same length are adjacent, in the order in which they were added.
struct bridge_json_names {
    // The last entry is for all lengths that no name has: its number means that no name was found.
    struct name_entry entries[BRIDGE_JSON_NAMES + 1];
    // The index of the first entry, by length.
    uint8_t first[BRIDGE_JSON_NAME_BYTES + 1];
    uint8_t count;
};

// The masks of the bytes that a name has, by its length.
static const struct name_words name_masks[BRIDGE_JSON_NAME_BYTES + 1] = {
#define TRESTLE_MASK(count) (~(uint64_t)0 >> (64 - 8 * (count)))
    {0, 0},
    {TRESTLE_MASK(1), 0}, {TRESTLE_MASK(2), 0}, {TRESTLE_MASK(3), 0}, {TRESTLE_MASK(4), 0},
    {TRESTLE_MASK(5), 0}, {TRESTLE_MASK(6), 0}, {TRESTLE_MASK(7), 0}, {TRESTLE_MASK(8), 0},
    {TRESTLE_MASK(8), TRESTLE_MASK(1)}, {TRESTLE_MASK(8), TRESTLE_MASK(2)}, {TRESTLE_MASK(8), TRESTLE_MASK(3)},
    {TRESTLE_MASK(8), TRESTLE_MASK(4)}, {TRESTLE_MASK(8), TRESTLE_MASK(5)}, {TRESTLE_MASK(8), TRESTLE_MASK(6)},
    {TRESTLE_MASK(8), TRESTLE_MASK(7)}, {TRESTLE_MASK(8), TRESTLE_MASK(8)},
#undef TRESTLE_MASK
};

always_inline uint64_t little_endian(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// Reads 16 bytes, however long the name is: a text has its padding.
always_inline struct name_words words_of(const uint8_t *name, size_t length) {
    const struct name_words mask = name_masks[length];
    return (struct name_words){little_endian(name) & mask.head, little_endian(name + 8) & mask.tail};
}

// Returns the number of a key; BRIDGE_JSON_NAMES if it is none of the names.
always_inline uint32_t name_number(const bridge_json_names *names, const uint8_t *key, size_t length) {
    if (unlikely(length > BRIDGE_JSON_NAME_BYTES)) return BRIDGE_JSON_NAMES;
    const struct name_words words = words_of(key, length);
    for (const struct name_entry *entry = &names->entries[names->first[length]];; entry++) {
        if (entry->words.head == words.head && entry->words.tail == words.tail) return entry->number;
        if (entry->is_last) return BRIDGE_JSON_NAMES;
    }
}

struct found_names {
    uint64_t found, repeated;
    bool has_escaped;
};

// Records the key of the member with this index.
always_inline void note_name(const bridge_json_names *names, struct found_names *found, uint32_t *places,
                             const uint8_t *key, size_t length, bool escaped, uint32_t index) {
    if (unlikely(escaped)) {
        found->has_escaped = true;
        return;
    }
    const uint32_t number = name_number(names, key, length);
    if (unlikely(number == BRIDGE_JSON_NAMES)) return;
    const uint64_t bit = (uint64_t)1 << number;
    found->repeated |= found->found & bit;
    found->found |= bit;
    places[number] = index;
}

always_inline void report_names(const struct found_names *found, const uint32_t *places, bridge_json_text *text) {
    text->found = found->found;
    text->repeated = found->repeated;
    text->places = places;
    text->has_escaped_keys = found->has_escaped;
}

#endif
