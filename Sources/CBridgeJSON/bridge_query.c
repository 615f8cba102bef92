/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge_query.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define always_inline static inline __attribute__((always_inline))

// Copies bytes up to the first one that ends a run: & and %, in a name also =, what JSON escapes, or the end. Each +
// becomes a space. Without a branch for each byte: what is copied beyond the run lies in the padding, and is written
// over.
#if defined(__SSE2__)
always_inline size_t copy_run(const char *text, size_t length, bool is_value, char *copy) {
    const __m128i and = _mm_set1_epi8('&'), percent = _mm_set1_epi8('%'), plus = _mm_set1_epi8('+');
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    // In a value = ends nothing: a second & in its place.
    const __m128i equals = is_value ? and : _mm_set1_epi8('=');
    const __m128i plus_to_space = _mm_set1_epi8('+' ^ ' ');
    for (size_t done = 0; done < length; done += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(text + done));
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, and), _mm_cmpeq_epi8(bytes, percent));
        ends = _mm_or_si128(ends, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, equals));
        bytes = _mm_xor_si128(bytes, _mm_and_si128(_mm_cmpeq_epi8(bytes, plus), plus_to_space));
        _mm_storeu_si128((__m128i *)(copy + done), bytes);
        unsigned found = (unsigned)_mm_movemask_epi8(ends);
        if (found != 0) {
            size_t end = done + (size_t)__builtin_ctz(found);
            return end < length ? end : length;
        }
    }
    return length;
}
#else
always_inline size_t copy_run(const char *text, size_t length, bool is_value, char *copy) {
    for (size_t done = 0; done < length; done++) {
        uint8_t byte = (uint8_t)text[done];
        if (byte == '&' || byte == '%' || byte == '"' || byte == '\\' || byte < 0x20 || (!is_value && byte == '='))
            return done;
        copy[done] = byte == '+' ? ' ' : (char)byte;
    }
    return length;
}
#endif

always_inline void note_name(bridge_query *query) {
    size_t length = (size_t)(query->object - query->string);
    size_t hash = length * 3;
    if (length > 0) hash += (size_t)(uint8_t)query->string[0] + (size_t)(uint8_t)query->object[-1] * 7;
    uint64_t bit = (uint64_t)1 << (hash & 63);
    if (query->names & bit) query->may_have_twins = true;
    query->names |= bit;
}

always_inline void begin_string(bridge_query *query) {
    *query->object++ = '"';
    query->string = query->object;
}

// The name is over: the value follows, be it an empty one.
always_inline void begin_value(bridge_query *query) {
    note_name(query);
    query->object[0] = '"';
    query->object[1] = ':';
    query->object += 2;
    query->is_value = true;
    begin_string(query);
}

always_inline void end_pair(bridge_query *query) {
    if (!query->is_value) begin_value(query);
    *query->object++ = '"';
    query->is_value = false;
    query->string = NULL;
}

bool bridge_query_run(bridge_query *query) {
    while (query->next < query->end) {
        if (query->string == NULL) {
            if (*query->next == '&') {
                query->next++;
                continue;
            }
            // The first name is the first that has a bit.
            *query->object++ = query->names == 0 ? '{' : ',';
            begin_string(query);
        }
        size_t length = copy_run(query->next, (size_t)(query->end - query->next), query->is_value, query->object);
        query->next += length;
        query->object += length;
        if (query->next == query->end) break;
        char stop = *query->next;
        if (stop == '&') {
            end_pair(query);
        } else if (stop == '=') {
            begin_value(query);
        } else {
            return false;
        }
        query->next++;
    }
    if (query->string != NULL) end_pair(query);
    if (query->names == 0) *query->object++ = '{';
    *query->object++ = '}';
    return true;
}
