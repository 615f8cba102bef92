// The walk of bridge_json.c in steps: an automaton whose state is kept between two steps.
//
// Each iteration of the loop in `walk_on` reads one token or a part of one: a string up to the next character that is
// not plain, digits and white space up to the end of the step. A step therefore ends soon after its bytes, whatever the
// text contains. Inside the members' values, `walk_inside` continues instead.
#include "json_walk.h"

// Parts of the automaton: a number begins at `p`; a value has ended.
static const uint8_t *open_number(bridge_json_walk *walk, const uint8_t *p);
static void end_value(bridge_json_walk *walk, const uint8_t *behind);

#include "json_inner.h"

bridge_json_walk *bridge_json_walk_create(const bridge_json_names *names, const char *bytes, size_t length,
                                          uint32_t maximum_depth, uint32_t batch_levels) {
    bridge_json_walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL) return NULL;
    walk->parser.names = names;
    walk->start = walk->at = (const uint8_t *)bytes;
    walk->end = walk->start + length;
    walk->maximum_depth = maximum_depth;
    walk->batch_levels = batch_levels;
    walk->state = VALUE;
    return walk;
}

void bridge_json_walk_destroy(bridge_json_walk *walk) {
    free(walk->parser.members);
    free(walk);
}

size_t bridge_json_walk_held_bytes(const bridge_json_walk *walk) {
    return sizeof *walk + walk->parser.capacity * sizeof(bridge_json_member);
}

uint32_t bridge_json_walk_depth(const bridge_json_walk *walk) { return walk->deepest_level; }

// MARK: Members of the top level

static bridge_json_member *member(bridge_json_walk *walk) { return &walk->parser.members[walk->count]; }

// Begins a key or an element in the outermost container. Returns false if there is not enough memory for it.
static bool begin_member(bridge_json_walk *walk) {
    if (walk->count == walk->parser.capacity && !grow(&walk->parser)) return false;
    *member(walk) = (bridge_json_member){.type = 0};
    return true;
}

static void begin_value(bridge_json_walk *walk, const uint8_t *p) {
    if (walk->level == 0) walk->root = *p;
    if (walk->level != 1) return;
    member(walk)->value_start = (uint32_t)(p - walk->start);
    member(walk)->type = *p;
}

static void end_value(bridge_json_walk *walk, const uint8_t *behind) {
    walk->state = walk->level == 0 ? TRAILING : NEXT;
    if (walk->level != 1) return;
    uint32_t behind_offset = (uint32_t)(behind - walk->start);
    member(walk)->value_length = behind_offset - member(walk)->value_start;
    walk->count++;
}

// MARK: Tokens. Each function gets the position of its token, and returns the position after what it has read; NULL if
// it has failed.

static const uint8_t *open_container(bridge_json_walk *walk, const uint8_t *p) {
    if (walk->level == 0 && *p == '[') walk->maximum_depth += walk->batch_levels;
    if (!open_level(walk, walk->level + 1, *p == '{')) return fail(&walk->parser, BRIDGE_JSON_DEPTH, p);
    walk->level++;
    walk->state = *p == '{' ? FIRST_KEY : FIRST_ELEMENT;
    return p + 1;
}

static const uint8_t *close_container(bridge_json_walk *walk, const uint8_t *p) {
    walk->level--;
    end_value(walk, p + 1);
    return p + 1;
}

static const uint8_t *open_string(bridge_json_walk *walk, const uint8_t *p, bool is_key) {
    walk->is_key = is_key;
    walk->is_escaped = false;
    walk->state = IN_STRING;
    return p + 1;
}

static const uint8_t *open_key(bridge_json_walk *walk, const uint8_t *p) {
    if (*p != '"') return fail(&walk->parser, BRIDGE_JSON_KEY, p);
    if (walk->level == 1) {
        if (!begin_member(walk)) return fail(&walk->parser, BRIDGE_JSON_MEMORY, p);
        member(walk)->key_start = (uint32_t)(p + 1 - walk->start);
    }
    return open_string(walk, p, true);
}

static const uint8_t *close_string(bridge_json_walk *walk, const uint8_t *quote) {
    if (walk->is_key) {
        if (walk->level == 1) {
            member(walk)->key_length = (uint32_t)(quote - walk->start) - member(walk)->key_start;
            member(walk)->key_escaped = walk->is_escaped;
            if (walk->parser.names != NULL) {
                note_name(walk->parser.names, &walk->names, walk->parser.places,
                          walk->start + member(walk)->key_start, member(walk)->key_length, walk->is_escaped,
                          walk->count);
            }
        }
        walk->state = COLON;
        return quote + 1;
    }
    if (walk->level == 1) member(walk)->value_escaped = walk->is_escaped;
    end_value(walk, quote + 1);
    return quote + 1;
}

// Continues to the next character of a string that is not plain, and past it.
static const uint8_t *string_part(bridge_json_walk *walk, const uint8_t *p) {
    window window = window_at(p);
    p = last_plain(&window, p - 1) + 1;
    if (p >= walk->end) return fail(&walk->parser, BRIDGE_JSON_UNCLOSED, walk->end);
    if (*p == '"') return close_string(walk, p);
    if (*p == '\\') {
        walk->is_escaped = true;
        return escape(&walk->parser, p, walk->end);
    }
    if (*p >= 0x80) return character(&walk->parser, p, walk->end);
    return fail(&walk->parser, BRIDGE_JSON_CONTROL, p);
}

static const uint8_t *fail_number(bridge_json_walk *walk) {
    return fail(&walk->parser, BRIDGE_JSON_NUMBER, walk->number);
}

static const uint8_t *open_number(bridge_json_walk *walk, const uint8_t *p) {
    walk->number = p;
    if (*p == '-') p++;
    if (!is_digit(*p)) return fail_number(walk);
    walk->state = IN_INTEGER;
    // A leading zero is the only digit: the next byte must end the integer.
    if (*p == '0' && is_digit(p[1])) return fail_number(walk);
    return p + 1;
}

// Continues through digits, and past what follows them.
static const uint8_t *number_part(bridge_json_walk *walk, const uint8_t *p, const uint8_t *stop) {
    while (p < stop && is_digit(*p)) p++;
    if (is_digit(*p)) return p;
    if (*p == '.' && walk->state == IN_INTEGER) {
        walk->state = IN_FRACTION;
        return is_digit(p[1]) ? p + 2 : fail_number(walk);
    }
    if ((*p | 0x20) == 'e' && walk->state != IN_EXPONENT) {
        walk->state = IN_EXPONENT;
        if (*++p == '+' || *p == '-') p++;
        return is_digit(*p) ? p + 1 : fail_number(walk);
    }
    if (!ends_scalar(p, walk->end)) return fail_number(walk);
    end_value(walk, p);
    return p;
}

static const uint8_t *open_value(bridge_json_walk *walk, const uint8_t *p) {
    if (walk->level == 1 && !is_object(walk, 1) && !begin_member(walk))
        return fail(&walk->parser, BRIDGE_JSON_MEMORY, p);
    begin_value(walk, p);
    if (is_bracket(*p)) return open_container(walk, p);
    if (*p == '"') return open_string(walk, p, false);
    if (is_digit(*p) || *p == '-') return open_number(walk, p);
    const uint8_t *behind = any_literal(walk, p);
    if (behind != NULL) end_value(walk, behind);
    return behind;
}

static const uint8_t *next(bridge_json_walk *walk, const uint8_t *p) {
    const bool object = is_object(walk, walk->level);
    if (*p == ',') {
        walk->state = object ? KEY : VALUE;
        return p + 1;
    }
    if (*p == (object ? '}' : ']')) return close_container(walk, p);
    return fail(&walk->parser, object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT, p);
}

static const uint8_t *colon(bridge_json_walk *walk, const uint8_t *p) {
    if (*p != ':') return fail(&walk->parser, BRIDGE_JSON_COLON, p);
    walk->state = VALUE;
    return p + 1;
}

// Reads the token at `p`, which is not white space.
static const uint8_t *token(bridge_json_walk *walk, const uint8_t *p) {
    switch (walk->state) {
    case FIRST_ELEMENT: return *p == ']' ? close_container(walk, p) : open_value(walk, p);
    case FIRST_KEY: return *p == '}' ? close_container(walk, p) : open_key(walk, p);
    case KEY: return open_key(walk, p);
    case COLON: return colon(walk, p);
    case NEXT: return next(walk, p);
    case TRAILING: return fail(&walk->parser, BRIDGE_JSON_TRAILING, p);
    default: return open_value(walk, p);
    }
}

// MARK: Interface

static bool finish(bridge_json_walk *walk, bool has_failed) {
    walk->has_ended = true;
    walk->has_failed = has_failed;
    return true;
}

// The text has ended where a token is expected: no token begins with the character there.
static bool finish_at_end(bridge_json_walk *walk) {
    if (walk->state == TRAILING) return finish(walk, false);
    if (walk->level == 0) (void)fail(&walk->parser, BRIDGE_JSON_EMPTY, walk->start);
    else (void)token(walk, walk->end);
    return finish(walk, true);
}

static const uint8_t *walk_on(bridge_json_walk *walk, const uint8_t *p, const uint8_t *stop) {
    while (p != NULL && p < stop) {
        switch (walk->state) {
        case IN_STRING: p = string_part(walk, p); break;
        case IN_INTEGER: case IN_FRACTION: case IN_EXPONENT: p = number_part(walk, p, stop); break;
        default:
            if (walk->level > 1) {
                p = walk_inside(walk, p, stop);
                break;
            }
            p = skip_space(p, stop);
            if (p < stop) p = token(walk, p);
        }
    }
    return p;
}

bool bridge_json_walk_step(bridge_json_walk *walk, size_t bytes) {
    if (walk->has_ended) return true;
    const size_t left = (size_t)(walk->end - walk->at);
    const uint8_t *p = walk_on(walk, walk->at, walk->at + (bytes < left ? bytes : left));
    if (p == NULL) return finish(walk, true);
    walk->at = p;
    if (p < walk->end) return false;
    // A token that is open at the end must be distinguished from a complete text.
    switch (walk->state) {
    case IN_STRING: return finish(walk, string_part(walk, p) == NULL);
    case IN_INTEGER: case IN_FRACTION: case IN_EXPONENT:
        if (number_part(walk, p, p) == NULL) return finish(walk, true);
        return finish_at_end(walk);
    default: return finish_at_end(walk);
    }
}

bool bridge_json_walk_result(const bridge_json_walk *walk, bridge_json_text *text) {
    *text = (bridge_json_text){.members = walk->parser.members, .count = walk->count, .root = walk->root};
    report_names(&walk->names, walk->parser.places, text);
    if (!walk->has_failed) return true;
    text->error = walk->parser.error;
    text->error_offset = (uint32_t)(walk->parser.error_place - walk->start);
    return false;
}
