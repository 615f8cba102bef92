// Sixteen digits at a time, in vectors that every processor has: GCC's and Clang's vector types become SSE2 on x86-64
// and NEON on ARM. A digit is found by arithmetic and not in a table: each range of digits (A to Z, a to z, 0 to 9, +
// and /) has one difference between digit and number.
#include "base64.h"

#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint32_t words4 __attribute__((vector_size(16)));

#define always_inline static inline __attribute__((always_inline))

// With AVX2 the same vectors take fewer instructions. The loader chooses, which it does with GNU's C library.
#if defined(__x86_64__) && defined(__GLIBC__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

// A comparison of vectors as ones where it holds.
#define WHERE(condition) ((bytes16)(condition))

always_inline uint32_t little_endian(uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(word);
#else
    return word;
#endif
}

// MARK: To text

// What is added to each number below 64 to make it its digit.
always_inline bytes16 digits_of(bytes16 numbers) {
    return numbers + 'A' + (WHERE(numbers > 25) & ('a' - 26 - 'A')) - (WHERE(numbers > 51) & ('a' - 26 - '0' + 52))
        - (WHERE(numbers > 61) & ('0' - 52 - '+' + 62)) + (WHERE(numbers > 62) & ('/' - 63 - '+' + 62));
}

// Three bytes at `p` in the upper bits, and one more in the lowest ones.
always_inline uint32_t four_bytes(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return __builtin_bswap32(little_endian(word));
}

always_inline void encode_sixteen(const uint8_t *bytes, uint8_t *text) {
    const words4 groups = {four_bytes(bytes), four_bytes(bytes + 3), four_bytes(bytes + 6), four_bytes(bytes + 9)};
    words4 numbers =
        groups >> 26 | (groups >> 12 & 0x3F00) | (groups << 2 & 0x3F0000) | (groups << 16 & 0x3F000000);
    for (int i = 0; i < 4; i++) numbers[i] = little_endian(numbers[i]);
    const bytes16 digits = digits_of((bytes16)numbers);
    memcpy(text, &digits, sizeof digits);
}

always_inline uint8_t digit_of(uint32_t number) { return digits_of((bytes16){(uint8_t)(number & 63)})[0]; }

always_inline void encode_group(const uint8_t *bytes, size_t count, uint8_t *text) {
    uint32_t group = 0;
    for (size_t i = 0; i < count; i++) group |= (uint32_t)bytes[i] << (16 - 8 * i);
    for (size_t i = 0; i < 4; i++) text[i] = i <= count ? digit_of(group >> (18 - 6 * i)) : '=';
}

FOR_EACH_PROCESSOR
void trestle_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text) {
    // One byte more is read than is used.
    for (; count > 12; bytes += 12, count -= 12, text += 16) encode_sixteen(bytes, text);
    for (; count >= 3; bytes += 3, count -= 3, text += 4) encode_group(bytes, 3, text);
    if (count > 0) encode_group(bytes, count, text);
}

// MARK: From text

// The number of each digit; ones in `wrong` where there is no digit.
always_inline bytes16 numbers_of(bytes16 digits, bytes16 *wrong) {
    const bytes16 difference =
        (WHERE(digits - 'A' < 26) & (uint8_t)-'A') | (WHERE(digits - 'a' < 26) & (uint8_t)(26 - 'a'))
        | (WHERE(digits - '0' < 10) & (uint8_t)(52 - '0')) | (WHERE(digits == '+') & (62 - '+'))
        | (WHERE(digits == '/') & (63 - '/'));
    *wrong |= WHERE(difference == 0);
    return digits + difference;
}

// The numbers of four digits as one of 24 bits, in the upper bits.
always_inline words4 groups_of(bytes16 numbers) {
    words4 words = (words4)numbers;
    for (int i = 0; i < 4; i++) words[i] = little_endian(words[i]);
    const words4 pairs = (words & 0x003F003F) << 6 | (words >> 8 & 0x003F003F);
    return pairs << 20 | (pairs >> 16) << 8;
}

// Writes 13 bytes, of which the last means nothing.
always_inline void decode_sixteen(const uint8_t *text, uint8_t *bytes, bytes16 *wrong) {
    bytes16 digits;
    memcpy(&digits, text, sizeof digits);
    const words4 groups = groups_of(numbers_of(digits, wrong));
    for (int i = 0; i < 4; i++) {
        const uint32_t group = little_endian(__builtin_bswap32(groups[i]));
        memcpy(bytes + 3 * i, &group, sizeof group);
    }
}

// Up to four digits.
always_inline bool decode_group(const uint8_t *text, size_t count, uint8_t *bytes) {
    uint8_t padded[16], group[16];
    bytes16 wrong = {0};
    memset(padded, 'A', sizeof padded);
    memcpy(padded, text, count);
    decode_sixteen(padded, group, &wrong);
    memcpy(bytes, group, count - 1);
    for (size_t i = 0; i < count; i++) {
        if (wrong[i]) return false;
    }
    return count == 4 || group[count - 1] == 0;
}

always_inline bool is_zero(bytes16 bytes) {
    uint64_t halves[2];
    memcpy(halves, &bytes, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

FOR_EACH_PROCESSOR
bool trestle_base64_decode(const uint8_t *text, size_t digits, uint8_t *bytes) {
    bytes16 wrong = {0};
    if (digits % 4 == 1) return false;
    // One byte more is written than the digits have: so the last four are not among these.
    for (; digits >= 20; text += 16, digits -= 16, bytes += 12) decode_sixteen(text, bytes, &wrong);
    for (; digits > 0; text += 4, bytes += 3) {
        const size_t count = digits < 4 ? digits : 4;
        if (!decode_group(text, count, bytes)) return false;
        digits -= count;
    }
    return is_zero(wrong);
}
