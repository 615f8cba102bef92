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
// computed block by block, before the walk reaches the bytes. The end of a string is then found with a rotation, not
// with a search that the next string would have to wait for.
//
// The time of a walk is mostly that of the instructions that wait for each other: those from the position of one token
// to that of the next. Hence the rotations by addresses, without a subtraction, and the fixed distances to a string's
// last character.
typedef struct {
    // The bit of a byte is the remainder of the address before it, wherever the block begins.
    uint64_t marks;
    // The last marked byte: the end of a string whose quote is before it is known.
    const uint8_t *last;
    // The block after the one of the marks.
    const uint8_t *next;
} window;

// Rotations by the remainder of an address.
always_inline uint64_t rotate_right(uint64_t bits, const uint8_t *p) {
    return bits >> ((uintptr_t)p & 63) | bits << (-(uintptr_t)p & 63);
}
always_inline uint64_t rotate_left(uint64_t bits, const uint8_t *p) {
    return bits << ((uintptr_t)p & 63) | bits >> (-(uintptr_t)p & 63);
}

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

// Returns a window for a walk from `p` on. The block there is read when the first string needs it.
always_inline window window_at(const uint8_t *p) { return (window){0, p - 1, p}; }

// Sets the marks to those of a block. Without any, the last marked byte remains in an earlier block.
always_inline void set_marks(window *window, const uint8_t *block, uint64_t marks) {
    window->marks = rotate_left(marks, block - 1);
    if (likely(marks != 0)) window->last = block + 63 - __builtin_clzll(marks);
    window->next = block + 64;
}

// Returns the last byte of the run of plain characters after `p`; `p` itself if there are none. At `p` is the opening
// quote, or the byte before the rest of a string.
always_inline const uint8_t *last_plain(window *window, const uint8_t *p) {
    while (unlikely(p >= window->last)) {
        // Usually the next block, not one that begins at `p`: its bytes are then read before `p` is known. This is why
        // it is a branch (`unlikely`) and not a conditional move.
        const uint8_t *block = window->next;
        if (unlikely(p - block >= 63)) block = p + 1;
        // The bytes before the block are plain.
        if (p < block) p = block - 1;
        set_marks(window, block, marks_of(block));
    }
    return p + __builtin_ctzll(rotate_right(window->marks, p));
}

#endif
