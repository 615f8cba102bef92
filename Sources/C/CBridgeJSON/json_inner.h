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

// The automaton continues at `p`, which is not a letter, a bracket or a quote: with a number, or an error.
static const uint8_t *leave_number(bridge_json_walk *walk, uint32_t level, const uint8_t *p) {
    walk->level = level;
    return is_digit(*p) || *p == '-' ? open_number(walk, p) : fail(&walk->parser, BRIDGE_JSON_VALUE, p);
}

always_inline const uint8_t *short_run(const uint8_t *p) {
    const uint8_t *limit = p + short_digits;
    while (p < limit && is_digit(*p)) p++;
    return p;
}

// Returns the position after the number at `p`; NULL if it is long, has an exponent, or is not a number.
//
// `unlikely` makes the minus a branch: the positions after it do not wait for the byte. So does one digit at a time.
always_inline const uint8_t *short_number(const uint8_t *p, const uint8_t *end) {
    if (unlikely(*p == '-')) p++;
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
//
// A token that follows directly is tested first, without a test for the end of the text: no token begins with the byte
// there. The end of the step is tested at each comma and bracket, and wherever white space is skipped.
static const uint8_t *walk_inside(bridge_json_walk *walk, const uint8_t *p, const uint8_t *stop) {
    window window = window_at(p);
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
    if (unlikely(*p != '"')) {
        NEXT_TOKEN(KEY);
        if (unlikely(*p != '"')) return fail(&walk->parser, BRIDGE_JSON_KEY, p);
    }
    p = last_plain(&window, p);
    if (likely(is_pair(p + 1, "\":"))) {
        p += 3;
        goto value;
    }
    if (unlikely(p[1] != '"')) return leave_string(walk, level, p + 1, true);
    p += 2;

colon:
    NEXT_TOKEN(COLON);
    if (unlikely(*p != ':')) return fail(&walk->parser, BRIDGE_JSON_COLON, p);
    p++;
    goto value;

first_element:
    NEXT_TOKEN(FIRST_ELEMENT);
    if (*p == ']') goto close;

value:
    if (*p == '"') {
        p = last_plain(&window, p);
        if (likely(is_pair(p + 1, "\","))) {
            p += 3;
            goto behind_comma;
        }
        if (unlikely(p[1] != '"')) return leave_string(walk, level, p + 1, false);
        p += 2;
    } else if (*p <= '9') {
        const uint8_t *behind = short_number(p, walk->end);
        if (unlikely(behind == NULL)) {
            // White space, or what is no short number.
            if (*p > ' ') return leave_number(walk, level, p);
            NEXT_TOKEN(VALUE);
            if (unlikely(*p <= ' ')) return fail(&walk->parser, BRIDGE_JSON_VALUE, p);
            goto value;
        }
        p = behind;
    } else if (is_bracket(*p)) {
        object = *p == '{';
        if (unlikely(!open_level(walk, level + 1, object))) return fail(&walk->parser, BRIDGE_JSON_DEPTH, p);
        level++;
        p++;
        if (object) goto first_key;
        goto first_element;
    } else {
        p = any_literal(walk, p);
        if (unlikely(p == NULL)) return NULL;
    }

next:
    if (unlikely(*p != ',')) {
        const uint8_t closing = object ? '}' : ']';
        if (likely(*p == closing)) goto close;
        NEXT_TOKEN(NEXT);
        if (*p == closing) goto close;
        if (unlikely(*p != ','))
            return fail(&walk->parser, object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT, p);
    }
    p++;

behind_comma:
    if (unlikely(p >= stop)) return leave(walk, object ? KEY : VALUE, level, p);
    if (object) goto key;
    goto value;

close:
    p++;
    level--;
    if (level == 1) {
        walk->level = level;
        end_value(walk, p);
        return p;
    }
    object = is_object(walk, level);
    if (unlikely(p >= stop)) return leave(walk, NEXT, level, p);
    goto next;
}

#endif
