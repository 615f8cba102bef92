// The state of a walk of bridge_json_walk.c between two steps. Only for that file and json_inner.h.
#ifndef TRESTLE_BRIDGE_JSON_WALK_H
#define TRESTLE_BRIDGE_JSON_WALK_H

#include "json_tokens.h"

enum state {
    VALUE,         // A value begins.
    FIRST_ELEMENT, // A value begins, or an empty array ends.
    FIRST_KEY,     // A key begins, or an empty object ends.
    KEY,
    COLON,
    NEXT,          // A comma, or the end of the enclosing container.
    IN_STRING,
    IN_INTEGER,    // These three: after at least one digit.
    IN_FRACTION,
    IN_EXPONENT,
    TRAILING,      // The value has ended; white space may follow.
};

struct bridge_json_walk {
    bridge_json_parser parser;
    const uint8_t *start, *end, *at;
    // The start of the current number: an error has that position.
    const uint8_t *number;
    uint32_t maximum_depth, batch_levels, level, deepest_level, count;
    enum state state;
    uint8_t root;
    // The current string: whether it is a key, and whether it contains a backslash.
    bool is_key, is_escaped;
    bool has_ended, has_failed;
    uint64_t kinds[deepest / 64 + 1];
    struct found_names names;
};

always_inline bool is_object(const bridge_json_walk *walk, uint32_t level) {
    return walk->kinds[level / 64] >> level % 64 & 1;
}

// Opens a container on this level. Returns false if that is too deep.
always_inline bool open_level(bridge_json_walk *walk, uint32_t level, bool object) {
    if (unlikely(level > walk->maximum_depth || level > deepest)) return false;
    if (level > walk->deepest_level) walk->deepest_level = level;
    const uint64_t bit = (uint64_t)1 << level % 64;
    if (object) walk->kinds[level / 64] |= bit;
    else walk->kinds[level / 64] &= ~bit;
    return true;
}

// Returns the position after the literal at `p`; NULL if there is none.
always_inline const uint8_t *any_literal(bridge_json_walk *walk, const uint8_t *p) {
    switch (*p) {
    case 't': return literal(&walk->parser, p, walk->end, "true", 4);
    case 'f': return literal(&walk->parser, p, walk->end, "false", 5);
    case 'n': return literal(&walk->parser, p, walk->end, "null", 4);
    default: return fail(&walk->parser, BRIDGE_JSON_VALUE, p);
    }
}

#endif
