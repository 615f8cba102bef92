/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge_query.h"

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>

// Without a branch for each byte. What is copied beyond the run's end lies in the padding, and is written over.
size_t bridge_query_copy(const char *text, size_t length, bool is_name, char *copy) {
    const __m128i and = _mm_set1_epi8('&'), percent = _mm_set1_epi8('%'), plus = _mm_set1_epi8('+');
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    // A second & where = ends nothing.
    const __m128i equals = _mm_set1_epi8(is_name ? '=' : '&');
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
size_t bridge_query_copy(const char *text, size_t length, bool is_name, char *copy) {
    for (size_t done = 0; done < length; done++) {
        uint8_t byte = (uint8_t)text[done];
        if (byte == '&' || byte == '%' || byte == '"' || byte == '\\' || byte < 0x20 || (is_name && byte == '='))
            return done;
        copy[done] = byte == '+' ? ' ' : (char)byte;
    }
    return length;
}
#endif
