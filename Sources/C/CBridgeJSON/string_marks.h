// Finds the ends of strings, for 64 bytes of a text at a time. Only for the files of this folder.
#ifndef TRESTLE_STRING_MARKS_H
#define TRESTLE_STRING_MARKS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define always_inline static inline __attribute__((always_inline))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

// Marks the bytes among 64 bytes of the text that are not plain characters of a string, one bit each: a quote, a
// backslash, a control character (such as the one after the text), a byte of a multi-byte character. The marks are
// computed block by block, before the walk reaches the bytes. The end of a string is then found with a shift, not with
// a search that the next string would have to wait for.
typedef struct {
    const uint8_t *block;
    uint64_t marks;
} window;

#if defined(__SSE2__)
always_inline uint64_t marks_of(const uint8_t *block) {
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    uint64_t marks = 0;
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(block + 16 * i));
        __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        // The bytes themselves: multi-byte characters have the highest bit.
        marks |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(found, bytes)) << 16 * i;
    }
    return marks;
}
#else
always_inline uint64_t marks_of(const uint8_t *block) {
    uint64_t marks = 0;
    for (int i = 0; i < 64; i++) {
        uint8_t c = block[i];
        marks |= (uint64_t)(c == '"' || c == '\\' || c < 0x20 || c >= 0x80) << i;
    }
    return marks;
}
#endif

// Returns the first block from `block` on with a mark at `p` or after it. Marks before `p` are removed.
__attribute__((noinline)) static window advance(const uint8_t *block, const uint8_t *p) {
    if (p > block) block += (p - block) & ~(ptrdiff_t)63;
    uint64_t marks = marks_of(block);
    if (p > block) marks &= ~(uint64_t)0 << (p - block);
    while (marks == 0) {
        block += 64;
        marks = marks_of(block);
    }
    return (window){block, marks};
}

// Returns the first byte from `p` on that ends a run of plain characters of a string.
always_inline const uint8_t *plain_end(window *window, const uint8_t *p) {
    size_t offset = (size_t)(p - window->block);
    const uint8_t *next = window->block;
    if (likely(offset < 64)) {
        uint64_t marks = window->marks >> offset;
        if (likely(marks != 0)) return p + __builtin_ctzll(marks);
        next += 64;
    }
    *window = advance(next, p);
    return window->block + __builtin_ctzll(window->marks);
}

#endif
