// Checks a text in one pass, without recursion. bridge_json.h describes the purpose.
//
// The ends of strings are found in 64 bytes at a time, everything else byte by byte: a message is short, and most of
// its bytes are in strings.
#include "json_tokens.h"

// MARK: Scalars

// Returns the position after a string whose first byte that is not a plain character is at `at`.
__attribute__((noinline)) static const uint8_t *string_rest(bridge_json_parser *parser, const uint8_t *at,
                                                            const uint8_t *end, bool *escaped) {
    window window = window_at(at);
    for (;;) {
        if (at >= end) return fail(parser, BRIDGE_JSON_UNCLOSED, end);
        if (*at == '"') return at + 1;
        if (*at == '\\') {
            *escaped = true;
            at = escape(parser, at, end);
        } else if (*at >= 0x80) {
            at = character(parser, at, end);
        } else {
            return fail(parser, BRIDGE_JSON_CONTROL, at);
        }
        if (at == NULL) return NULL;
        at = last_plain(&window, at - 1) + 1;
    }
}

// The same, without a call if the closing quote is at `at`.
always_inline const uint8_t *string_end(bridge_json_parser *parser, const uint8_t *at, const uint8_t *end,
                                        bool *escaped) {
    // `at` is not past the end: the control character there stops the search first.
    return likely(*at == '"') ? at + 1 : string_rest(parser, at, end, escaped);
}

// Returns the position after the string whose opening quote is at `p`.
always_inline const uint8_t *string(bridge_json_parser *parser, window *window, const uint8_t *p, const uint8_t *end,
                                    bool *escaped) {
    return string_end(parser, last_plain(window, p) + 1, end, escaped);
}

always_inline const uint8_t *digits(const uint8_t *p) {
    while (is_digit(*p)) p++;
    return p;
}

// Returns the position after the number at `p`. `unlikely`: as in json_inner.h.
always_inline const uint8_t *number(bridge_json_parser *parser, const uint8_t *p, const uint8_t *end) {
    const uint8_t *first = p, *behind;
    if (unlikely(*p == '-')) p++;
    behind = *p == '0' ? p + 1 : digits(p);
    if (unlikely(behind == p)) return fail(parser, BRIDGE_JSON_NUMBER, first);
    p = behind;
    if (unlikely(*p == '.')) {
        behind = digits(++p);
        if (behind == p) return fail(parser, BRIDGE_JSON_NUMBER, first);
        p = behind;
    }
    if (unlikely((*p | 0x20) == 'e')) {
        if (*++p == '+' || *p == '-') p++;
        behind = digits(p);
        if (behind == p) return fail(parser, BRIDGE_JSON_NUMBER, first);
        p = behind;
    }
    return likely(ends_scalar(p, end)) ? p : fail(parser, BRIDGE_JSON_NUMBER, first);
}

// Returns the position after the value at `p`, which is neither an object nor an array.
always_inline const uint8_t *scalar(bridge_json_parser *parser, window *window, const uint8_t *p, const uint8_t *end,
                                    bool *escaped) {
    if (*p == '"') return string(parser, window, p, end, escaped);
    if (is_digit(*p) || *p == '-') return number(parser, p, end);
    switch (*p) {
    case 't': return literal(parser, p, end, "true", 4);
    case 'f': return literal(parser, p, end, "false", 5);
    case 'n': return literal(parser, p, end, "null", 4);
    default: return fail(parser, BRIDGE_JSON_VALUE, p);
    }
}

// MARK: Containers

// Returns the position after the colon of the key at `p`.
always_inline const uint8_t *key(bridge_json_parser *parser, window *window, const uint8_t *p, const uint8_t *end,
                                 const uint8_t **behind_key, bool *escaped) {
    if (unlikely(*p != '"')) return fail(parser, BRIDGE_JSON_KEY, p);
    p = last_plain(window, p);
    if (likely(is_pair(p + 1, "\":"))) {
        *behind_key = p + 2;
        return p + 3;
    }
    p = string_end(parser, p + 1, end, escaped);
    if (unlikely(p == NULL)) return NULL;
    *behind_key = p;
    if (unlikely(*p != ':')) {
        p = skip_space(p, end);
        if (*p != ':' || p >= end) return fail(parser, BRIDGE_JSON_COLON, p);
    }
    return p + 1;
}

// Returns the position after the object or array whose bracket is at `p`. One bit for each level stores which of the
// two it is.
//
// `noinline`: the compiler looks for cold parts in all other functions, takes this whole function for cold, and
// optimizes it for size instead of speed.
__attribute__((noinline)) static const uint8_t *container(bridge_json_parser *parser, window *shared, const uint8_t *p,
                                                          const uint8_t *end, uint32_t level, uint32_t maximum_depth) {
    uint64_t kinds[deepest / 64 + 1];
    window window = *shared;
    const uint32_t outermost = level;
    const uint8_t *behind_key;
    bool escaped;

open:
    if (unlikely(level > maximum_depth)) return fail(parser, BRIDGE_JSON_DEPTH, p);
    if (*p == '[') {
        kinds[level / 64] &= ~((uint64_t)1 << level % 64);
        p = skip_space(p + 1, end);
        if (*p == ']') goto close;
        goto element;
    }
    kinds[level / 64] |= (uint64_t)1 << level % 64;
    p = skip_space(p + 1, end);
    if (*p == '}') goto close;

member:
    p = key(parser, &window, p, end, &behind_key, &escaped);
    if (unlikely(p == NULL)) return NULL;
    // The most frequent case in texts without white space is tested first, here and below.
    if (*p == '"') {
        p = string(parser, &window, p, end, &escaped);
    } else {
        p = skip_space(p, end);
        if (is_bracket(*p)) {
            level++;
            goto open;
        }
        p = scalar(parser, &window, p, end, &escaped);
    }
    if (unlikely(p == NULL)) return NULL;

behind_member:
    if (likely(*p == ',')) {
        p++;
        if (unlikely(*p != '"')) p = skip_space(p, end);
        goto member;
    }
    if (likely(*p == '}')) goto close;
    if (*p > ' ' || (p = skip_space(p, end), *p != ',' && *p != '}'))
        return fail(parser, BRIDGE_JSON_OBJECT_NEXT, p);
    goto behind_member;

element:
    if (*p == '"') {
        p = string(parser, &window, p, end, &escaped);
    } else {
        if (is_bracket(*p)) {
            level++;
            goto open;
        }
        p = scalar(parser, &window, p, end, &escaped);
    }
    if (unlikely(p == NULL)) return NULL;

behind_element:
    if (likely(*p == ',')) {
        p = skip_space(p + 1, end);
        goto element;
    }
    if (likely(*p == ']')) goto close;
    if (*p > ' ' || (p = skip_space(p, end), *p != ',' && *p != ']'))
        return fail(parser, BRIDGE_JSON_ARRAY_NEXT, p);
    goto behind_element;

close:
    // A bracket past the end means that the caller has broken the rule about the byte there.
    if (unlikely(p >= end)) return fail(parser, BRIDGE_JSON_VALUE, end);
    p++;
    if (level == outermost) {
        *shared = window;
        return p;
    }
    level--;
    if (kinds[level / 64] >> level % 64 & 1) goto behind_member;
    goto behind_element;
}

always_inline const uint8_t *value(bridge_json_parser *parser, window *window, const uint8_t *p, const uint8_t *end,
                                   uint32_t level, uint32_t maximum_depth, bool *escaped) {
    if (!is_bracket(*p)) return scalar(parser, window, p, end, escaped);
    return container(parser, window, p, end, level, maximum_depth);
}

// MARK: The top level

// Records the members of the object or array whose bracket is at `p`, and returns the position after it.
always_inline const uint8_t *members(bridge_json_parser *parser, window *window, const uint8_t *start, const uint8_t *p,
                                     const uint8_t *end, uint32_t maximum_depth, uint32_t *count, bool is_object) {
    const uint8_t close = is_object ? '}' : ']', wrong = is_object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT;
    if (maximum_depth < 1) return fail(parser, BRIDGE_JSON_DEPTH, p);
    p = skip_space(p + 1, end);
    if (*p == close && p < end) return p + 1;
    for (uint32_t index = 0;; index++) {
        if (unlikely(index == parser->capacity) && !grow(parser)) return fail(parser, BRIDGE_JSON_MEMORY, p);
        bridge_json_member *member = &parser->members[index];
        bool key_escaped = false, value_escaped = false;
        member->key_start = member->key_length = 0;
        if (is_object) {
            const uint8_t *first = p + 1, *behind_key = p;
            p = key(parser, window, p, end, &behind_key, &key_escaped);
            if (unlikely(p == NULL)) return NULL;
            member->key_start = (uint32_t)(first - start);
            member->key_length = (uint32_t)(behind_key - 1 - first);
        }
        p = skip_space(p, end);
        const uint8_t *first = p;
        member->type = *p;
        p = value(parser, window, p, end, 2, maximum_depth, &value_escaped);
        if (unlikely(p == NULL)) return NULL;
        member->value_start = (uint32_t)(first - start);
        member->value_length = (uint32_t)(p - first);
        member->key_escaped = key_escaped;
        member->value_escaped = value_escaped;
        *count = index + 1;
        p = skip_space(p, end);
        if (*p == close && likely(p < end)) return p + 1;
        if (unlikely(*p != ',')) return fail(parser, wrong, p);
        p = skip_space(p + 1, end);
    }
}

// MARK: Interface

bridge_json_parser *bridge_json_parser_create(const bridge_json_names *names) {
    bridge_json_parser *parser = calloc(1, sizeof(bridge_json_parser));
    if (parser != NULL) parser->names = names;
    return parser;
}

void bridge_json_parser_destroy(bridge_json_parser *parser) {
    free(parser->members);
    free(parser);
}

// Runs after the walk and not during it, where all registers are in use.
static void note_names(bridge_json_parser *parser, bridge_json_text *text, const uint8_t *start) {
    struct found_names found = {0};
    for (uint32_t index = 0, count = text->count; index < count; index++) {
        const bridge_json_member *member = &parser->members[index];
        note_name(parser->names, &found, parser->places, start + member->key_start, member->key_length,
                  member->key_escaped, index);
    }
    report_names(&found, parser->places, text);
}

static bool refuse(bridge_json_text *text, uint8_t error, size_t offset) {
    text->error = error;
    text->error_offset = (uint32_t)offset;
    return false;
}

bool bridge_json_parse(bridge_json_parser *parser, const char *bytes, size_t length, uint32_t maximum_depth,
                       bridge_json_text *text) {
    *text = (bridge_json_text){.members = NULL};
    if (length == 0) return refuse(text, BRIDGE_JSON_EMPTY, 0);
    if (length >= UINT32_MAX) return refuse(text, BRIDGE_JSON_MEMORY, 0);
    if (maximum_depth > deepest) maximum_depth = deepest;
    const uint8_t *start = (const uint8_t *)bytes, *end = start + length;
    const uint8_t *p = skip_space(start, end);
    if (p >= end) return refuse(text, BRIDGE_JSON_EMPTY, 0);
    text->root = *p;
    bool escaped;
    // A short message needs its first marks at once: they are computed while its first bytes are tested.
    window window = window_at(start);
    set_marks(&window, start, marks_of(start));
    if (*p == '{') p = members(parser, &window, start, p, end, maximum_depth, &text->count, true);
    else if (*p == '[') p = members(parser, &window, start, p, end, maximum_depth, &text->count, false);
    else p = scalar(parser, &window, p, end, &escaped);
    text->members = parser->members;
    if (unlikely(p == NULL)) return refuse(text, parser->error, (size_t)(parser->error_place - start));
    if (parser->names != NULL && text->root == '{') note_names(parser, text, start);
    p = skip_space(p, end);
    return p >= end || refuse(text, BRIDGE_JSON_TRAILING, (size_t)(p - start));
}
