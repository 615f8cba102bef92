// The walk over simdjson's structural index. See bridge_json.h for what it is for.
//
// Stage 1 yields, in order, the offset of every structural character outside strings, of every opening quote and of
// the first byte of every other scalar. It does not yield closing quotes: a string ends at the last byte before the
// next structural offset that is not white space.
#include "bridge_json.h"

#include <cstring>
#include <memory>
#include <new>

#include <simdjson.h>

namespace {

constexpr size_t initial_capacity_bytes = 16 * 1024;

/// How deep a text may be at the most, whatever the caller asks for: the walk keeps one bit for each level.
constexpr uint32_t deepest = 1024;

inline bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_digit(uint8_t c) { return uint8_t(c - '0') < 10; }
/// What may follow a number or a literal. Not a quote: stage 1 does not list one that stands right behind a scalar.
inline bool ends_scalar(uint8_t c) { return is_space(c) || c == ',' || c == ']' || c == '}' || c == ':'; }

/// The value of four hexadecimal digits, or -1.
int32_t hex4(const uint8_t *p) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i];
        uint8_t digit;
        if (is_digit(c)) digit = uint8_t(c - '0');
        else if (c >= 'a' && c <= 'f') digit = uint8_t(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F') digit = uint8_t(c - 'A' + 10);
        else return -1;
        value = value << 4 | digit;
    }
    return value;
}

/// The first bad escape in a string's content, or `end`. Reading past `end` is harmless: a quote stands there, then padding.
const uint8_t *bad_escape(const uint8_t *p, const uint8_t *end) {
    while ((p = static_cast<const uint8_t *>(memchr(p, '\\', size_t(end - p)))) != nullptr) {
        switch (p[1]) {
        case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
            p += 2;
            continue;
        case 'u':
            break;
        default:
            return p;
        }
        int32_t unit = hex4(p + 2);
        if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return p;
        if (unit >= 0xD800 && unit <= 0xDBFF) {
            if (p[6] != '\\' || p[7] != 'u') return p;
            int32_t low = hex4(p + 8);
            if (low < 0xDC00 || low > 0xDFFF) return p;
            p += 6;
        }
        p += 6;
    }
    return end;
}

/// The first byte behind a number, or null where the bytes are none.
const uint8_t *number_end(const uint8_t *p, const uint8_t *end) {
    if (p < end && *p == '-') p++;
    if (p == end || !is_digit(*p)) return nullptr;
    if (*p == '0') p++;
    else while (p < end && is_digit(*p)) p++;
    if (p < end && *p == '.') {
        if (++p == end || !is_digit(*p)) return nullptr;
        while (p < end && is_digit(*p)) p++;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        if (p == end || !is_digit(*p)) return nullptr;
        while (p < end && is_digit(*p)) p++;
    }
    return p;
}

}  // namespace

struct bridge_json_parser {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage1;
    bridge_json_member *members = nullptr;
    uint32_t member_capacity = 0;

    ~bridge_json_parser() { free(members); }

    bool reserve(size_t length) {
        if (stage1 && stage1->capacity() >= length) return true;
        size_t capacity = length < initial_capacity_bytes ? initial_capacity_bytes : length;
        if (!stage1) {
            return simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, stage1) ==
                   simdjson::SUCCESS;
        }
        return stage1->allocate(capacity, 1) == simdjson::SUCCESS;
    }

    bridge_json_member *add(uint32_t count) {
        if (count == member_capacity) {
            uint32_t capacity = member_capacity == 0 ? 16 : member_capacity * 2;
            void *grown = realloc(members, size_t(capacity) * sizeof(bridge_json_member));
            if (grown == nullptr) return nullptr;
            members = static_cast<bridge_json_member *>(grown);
            member_capacity = capacity;
        }
        bridge_json_member *member = &members[count];
        *member = bridge_json_member{};
        return member;
    }
};

namespace {

/// One walk over one text.
struct Walk {
    bridge_json_parser &parser;
    const uint8_t *const bytes;
    const uint32_t length;
    const uint32_t maximum_depth;
    bridge_json_text &text;
    const uint32_t *next;
    const uint32_t *const end;
    bool has_escapes;

    bool fail(uint8_t error, size_t offset) {
        text.error = error;
        text.error_offset = uint32_t(offset);
        return false;
    }

    uint32_t position() const { return next < end ? *next : length; }
    uint8_t peek() const { return next < end ? bytes[*next] : 0; }

    /// The offset behind the scalar or closing bracket that starts at `start`, `next` standing behind it.
    uint32_t trimmed_end() const {
        uint32_t stop = position();
        while (is_space(bytes[stop - 1])) stop--;
        return stop;
    }

    /// A string: its closing quote is the last thing before the next structural offset.
    bool string(uint32_t start, uint32_t &stop, bool &escaped) {
        stop = trimmed_end();
        if (stop - start < 2 || bytes[stop - 1] != '"') return fail(BRIDGE_JSON_TRAILING, start);
        escaped = has_escapes && memchr(bytes + start, '\\', stop - start) != nullptr;
        if (!escaped) return true;
        const uint8_t *close = bytes + stop - 1;
        const uint8_t *bad = bad_escape(bytes + start + 1, close);
        return bad == close || fail(BRIDGE_JSON_ESCAPE, size_t(bad - bytes));
    }

    bool literal(uint32_t start, const char *word, uint32_t size) {
        bool same = length - start >= size && memcmp(bytes + start, word, size) == 0;
        if (!same || (start + size < length && !ends_scalar(bytes[start + size])))
            return fail(BRIDGE_JSON_LITERAL, start);
        return true;
    }

    /// A value that is neither object nor array.
    bool scalar(uint32_t start, bool &escaped) {
        uint32_t stop;
        escaped = false;
        switch (bytes[start]) {
        case '"': return string(start, stop, escaped);
        case 't': return literal(start, "true", 4);
        case 'f': return literal(start, "false", 5);
        case 'n': return literal(start, "null", 4);
        case ']': case '}': case ',': case ':': return fail(BRIDGE_JSON_VALUE, start);
        default: break;
        }
        if (bytes[start] != '-' && !is_digit(bytes[start])) return fail(BRIDGE_JSON_VALUE, start);
        const uint8_t *behind = number_end(bytes + start, bytes + length);
        if (behind == nullptr || (behind < bytes + length && !ends_scalar(*behind)))
            return fail(BRIDGE_JSON_NUMBER, start);
        return true;
    }

    /// The rest of a container whose opening bracket has been read, without recursion: one bit a level says
    /// whether it is an object.
    bool container(bool is_object, uint32_t level) {
        uint64_t kinds[deepest / 64 + 1];
        const uint32_t base = level;
        auto remember = [&](bool object) {
            uint64_t bit = uint64_t(1) << (level % 64);
            if (object) kinds[level / 64] |= bit;
            else kinds[level / 64] &= ~bit;
        };
        bool escaped;
        uint32_t stop;
        remember(is_object);
        bool first = true;
        for (;;) {
            if (next == end) return fail(is_object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT, length);
            uint32_t at = *next++;
            uint8_t c = bytes[at];
            if (c == (is_object ? '}' : ']')) {
                if (level == base) return true;
                level--;
                is_object = (kinds[level / 64] >> (level % 64)) & 1;
                first = false;
                continue;
            }
            if (!first) {
                if (c != ',') return fail(is_object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT, at);
                if (next == end) return fail(is_object ? BRIDGE_JSON_KEY : BRIDGE_JSON_VALUE, length);
                at = *next++;
                c = bytes[at];
            }
            first = false;
            if (is_object) {
                if (c != '"') return fail(BRIDGE_JSON_KEY, at);
                if (!string(at, stop, escaped)) return false;
                if (peek() != ':') return fail(BRIDGE_JSON_COLON, position());
                next++;
                if (next == end) return fail(BRIDGE_JSON_VALUE, length);
                at = *next++;
                c = bytes[at];
            }
            if (c == '{' || c == '[') {
                if (++level > maximum_depth) return fail(BRIDGE_JSON_DEPTH, at);
                is_object = c == '{';
                remember(is_object);
                first = true;
                continue;
            }
            if (!scalar(at, escaped)) return false;
        }
    }

    /// The value that starts at `next`; `stop` is set to the offset behind it.
    bool value(uint32_t level, uint32_t &stop, bool &escaped) {
        if (next == end) return fail(BRIDGE_JSON_VALUE, length);
        uint32_t start = *next++;
        uint8_t c = bytes[start];
        escaped = false;
        if (c == '{' || c == '[') {
            if (level > maximum_depth) return fail(BRIDGE_JSON_DEPTH, start);
            if (!container(c == '{', level)) return false;
        } else if (!scalar(start, escaped)) {
            return false;
        }
        stop = trimmed_end();
        return true;
    }

    bool key(bridge_json_member &member) {
        uint32_t stop;
        if (peek() != '"') return fail(BRIDGE_JSON_KEY, position());
        uint32_t start = *next++;
        if (!string(start, stop, member.key_escaped)) return false;
        member.key_start = start + 1;
        member.key_length = stop - start - 2;
        if (peek() != ':') return fail(BRIDGE_JSON_COLON, position());
        next++;
        return true;
    }

    /// The members of the root, its opening bracket read.
    bool top_level(bool is_object) {
        const uint8_t close = is_object ? '}' : ']';
        if (maximum_depth < 1) return fail(BRIDGE_JSON_DEPTH, 0);
        if (peek() == close) {
            next++;
            return true;
        }
        for (;;) {
            bridge_json_member *member = parser.add(text.count);
            if (member == nullptr) return fail(BRIDGE_JSON_MEMORY, position());
            if (is_object && !key(*member)) return false;
            uint32_t stop = 0;
            member->value_start = position();
            member->type = peek();
            if (!value(2, stop, member->value_escaped)) return false;
            member->value_length = stop - member->value_start;
            text.count++;
            uint8_t c = peek();
            if (c == close) {
                next++;
                return true;
            }
            if (c != ',') return fail(is_object ? BRIDGE_JSON_OBJECT_NEXT : BRIDGE_JSON_ARRAY_NEXT, position());
            next++;
        }
    }

    bool run() {
        text.root = peek();
        bool good;
        if (text.root == '{' || text.root == '[') {
            next++;
            good = top_level(text.root == '{');
        } else {
            uint32_t stop = 0;
            bool escaped = false;
            good = value(1, stop, escaped);
        }
        text.members = parser.members;
        return good && (next == end || fail(BRIDGE_JSON_TRAILING, position()));
    }
};

uint8_t stage1_error(simdjson::error_code code) {
    switch (code) {
    case simdjson::EMPTY: return BRIDGE_JSON_EMPTY;
    case simdjson::UTF8_ERROR: return BRIDGE_JSON_UTF8;
    case simdjson::UNESCAPED_CHARS: return BRIDGE_JSON_CONTROL;
    case simdjson::UNCLOSED_STRING: return BRIDGE_JSON_UNCLOSED;
    default: return BRIDGE_JSON_MEMORY;
    }
}

}  // namespace

bridge_json_parser *bridge_json_parser_create(void) { return new (std::nothrow) bridge_json_parser(); }

void bridge_json_parser_destroy(bridge_json_parser *parser) { delete parser; }

bool bridge_json_parse(bridge_json_parser *parser, const char *bytes, size_t length, uint32_t maximum_depth,
                       bridge_json_text *text) {
    *text = bridge_json_text{};
    if (length == 0) {
        text->error = BRIDGE_JSON_EMPTY;
        return false;
    }
    if (length >= UINT32_MAX || !parser->reserve(length)) {
        text->error = BRIDGE_JSON_MEMORY;
        return false;
    }
    const uint8_t *start = reinterpret_cast<const uint8_t *>(bytes);
    auto &stage1 = *parser->stage1;
    simdjson::error_code code = stage1.stage1(start, length, simdjson::stage1_mode::regular);
    if (code != simdjson::SUCCESS) {
        text->error = stage1_error(code);
        return false;
    }
    const uint32_t *indexes = stage1.structural_indexes.get();
    Walk walk{*parser,
              start,
              uint32_t(length),
              maximum_depth < deepest ? maximum_depth : deepest,
              *text,
              indexes,
              indexes + stage1.n_structural_indexes,
              memchr(bytes, '\\', length) != nullptr};
    return walk.run();
}
