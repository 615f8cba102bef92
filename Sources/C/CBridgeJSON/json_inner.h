// Walks in steps over the containers inside the members' values: most of a long text. The automaton of
// bridge_json_walk.c keeps its state in memory, token by token. Here the state is the position in the code, as in
// bridge_json.c, and is stored at the end of a step.
//
// The automaton handles the parts that may be long and slow: strings with characters that are not plain, and numbers
// that are long or have an exponent. Only for bridge_json_walk.c.
#ifndef TRESTLE_JSON_INNER_H
#define TRESTLE_JSON_INNER_H

#include "json_walk.h"

// The maximum number of digits in a row that are read in one go.
enum { short_digits = 20 };

always_inline const uint8_t *leave(bridge_json_walk *walk, enum state state, uint32_t level, const uint8_t *p) {
    walk->state = state;
    walk->level = level;
    return p;
}

static const uint8_t *leave_string(bridge_json_walk *walk, uint32_t level, const uint8_t *p, bool is_key) {
    walk->is_key = is_key;
    walk->is_escaped = false;
    return leave(walk, IN_STRING, level, p);
}

always_inline const uint8_t *short_run(const uint8_t *p) {
    const uint8_t *limit = p + short_digits;
    while (p < limit && is_digit(*p)) p++;
    return p;
}

// Returns the position after the number at `p`; NULL if it is long, has an exponent, or is not a number.
always_inline const uint8_t *short_number(const uint8_t *p, const uint8_t *end) {
    if (*p == '-') p++;
    const uint8_t *behind = *p == '0' ? p + 1 : short_run(p);
    if (unlikely(behind == p)) return NULL;
    p = behind;
    if (*p == '.') {
        behind = short_run(++p);
        if (unlikely(behind == p)) return NULL;
        p = behind;
    }
    return likely(ends_scalar(p, end)) ? p : NULL;
}

// Skips white space, and ends the step if it has come to the end of the step.
#define NEXT_TOKEN(here)                                                                                               \
    p = skip_space(p, stop);                                                                                           \
    if (unlikely(p >= stop)) return leave(walk, here, level, p)

// Continues inside the containers of a member's value, until `stop` or the end of the outermost of them. The walk is at
// least two levels deep and expects a token. Returns the position after what it has read, with the walk's state for
// what follows; NULL if it has failed.
static const uint8_t *walk_inside(bridge_json_walk *walk, const uint8_t *p, const uint8_t *stop) {
    window window = {p, marks_of(p)};
    uint32_t level = walk->level;
    bool object = is_object(walk, level);

    switch (walk->state) {
    case FIRST_KEY: goto first_key;
    case KEY: goto key;
    case COLON: goto colon;
    case FIRST_ELEMENT: goto first_element;
    case NEXT: goto next;
    default: goto value;
    }

first_key:
    NEXT_TOKEN(FIRST_KEY);
    if (*p == '}') goto close;

key:
    NEXT_TOKEN(KEY);
    if (unlikely(*p != '"')) return fail(&walk->parser, BRIDGE_JSON_KEY, p);
    p = plain_end(&window, p + 1);
    if (unlikely(*p != '"')) return leave_string(walk, level, p, true);
    p++;

colon:
    NEXT_TOKEN(COLON);
    if (unlikely(*p != ':')) return fail(&walk->parser, BRIDGE_JSON_COLON, p);
    p++;
    goto value;

first_element:
    NEXT_TOKEN(FIRST_ELEMENT);
    if (*p == ']') goto close;

value:
    NEXT_TOKEN(VALUE);
    if (*p == '"') {
        p = plain_end(&window, p + 1);
        if (unlikely(*p != '"')) return leave_string(walk, level, p, false);
        p++;
    } else if (is_bracket(*p)) {
        object = *p == '{';
        if (!open_level(walk, level + 1, object)) return fail(&walk->parser, BRIDGE_JSON_DEPTH, p);
        level++;
        p++;
        if (object) goto first_key;
        goto first_element;
    } else if (is_digit(*p) || *p == '-') {
        const uint8_t *behind = short_number(p, walk->end);
        if (unlikely(behind == NULL)) {
            walk->level = level;
            return open_number(walk, p);
        }
        p = behind;
    } else {
        p = any_literal(walk, p);
        if (unlikely(p == NULL)) return NULL;
    }

next:
    NEXT_TOKEN(NEXT);
    if (likely(*p == ',')) {
        p++;
        if (object) goto key;
        goto value;
    }
    if (unlikely(*p != (object ? '}' : ']')))
        return fail(&walk->parser, object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT, p);

close:
    p++;
    level--;
    if (level == 1) {
        walk->level = level;
        end_value(walk, p);
        return p;
    }
    object = is_object(walk, level);
    goto next;
}

#endif
