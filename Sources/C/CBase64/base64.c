// Converts 32 digits at a time, in vectors that every processor has: the vector types of GCC and Clang become SSE2 on
// x86-64 and NEON on ARM. A digit is computed, not looked up in a table: within each range of digits (A to Z, a to z, 0
// to 9, + and /) the difference between digit and number is constant.
#include "base64.h"

#include <string.h>

#define always_inline static inline __attribute__((always_inline))

// With AVX2 the same vectors take fewer instructions. The loader selects the variant, if the C library is GNU's.
#if defined(__x86_64__) && defined(__GLIBC__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

typedef uint8_t bytes32 __attribute__((vector_size(32)));
typedef uint32_t words8 __attribute__((vector_size(32)));

// The number of digits in a block, and of the bytes that they represent.
enum { BLOCK_DIGITS = 32, BLOCK_BYTES = 24 };

// A comparison of vectors: all bits of a byte are one where it holds.
#define WHERE(condition) ((bytes32)(condition))

// The functions below take vectors by address: by value, wide vectors would be passed differently with and without AVX.
// The functions are inlined, so that vectors stay in registers.

always_inline uint32_t little_endian(uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(word);
#else
    return word;
#endif
}

always_inline void swap_words(words8 *words) {
    for (int i = 0; i < 8; i++) (*words)[i] = little_endian((*words)[i]);
}

// MARK: To text

// Turns the first 24 bytes into eight words of three bytes each; the first byte is the most significant one.
always_inline void make_words(bytes32 *bytes) {
    const bytes32 b = *bytes;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    *bytes = __builtin_shufflevector(b, b, 0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12, 12, 13, 14, 15, 15, 16,
                                     17, 18, 18, 19, 20, 21, 21, 22, 23);
#else
    *bytes = __builtin_shufflevector(b, b, 2, 1, 0, 0, 5, 4, 3, 3, 8, 7, 6, 6, 11, 10, 9, 9, 14, 13, 12, 12, 17, 16, 15,
                                     15, 20, 19, 18, 18, 23, 22, 21, 21);
#endif
}

// Splits each word into four numbers of six bits.
always_inline void split_words(bytes32 *block) {
    const words8 words = (words8)*block;
    words8 numbers =
        (words >> 18 & 0x3F) | (words >> 4 & 0x3F00) | (words << 10 & 0x3F0000) | (words << 24 & 0x3F000000);
    swap_words(&numbers);
    *block = (bytes32)numbers;
}

// Replaces each number below 64 by its digit.
always_inline void make_digits(bytes32 *numbers) {
    const bytes32 n = *numbers;
    *numbers = n + 'A' + (WHERE(n > 25) & ('a' - 26 - 'A')) - (WHERE(n > 51) & ('a' - 26 - '0' + 52))
        - (WHERE(n > 61) & ('0' - 52 - '+' + 62)) + (WHERE(n > 62) & ('/' - 63 - '+' + 62));
}

// Reads 32 bytes; the last eight are ignored.
always_inline void encode_block(const uint8_t *bytes, uint8_t *text) {
    bytes32 block;
    memcpy(&block, bytes, sizeof block);
    make_words(&block);
    split_words(&block);
    make_digits(&block);
    memcpy(text, &block, sizeof block);
}

// Encodes at most the bytes of a block. Accesses no byte past the end.
always_inline void encode_rest(const uint8_t *bytes, size_t count, uint8_t *text) {
    uint8_t padded[BLOCK_DIGITS] = {0}, digits[BLOCK_DIGITS];
    const size_t used = (count * 4 + 2) / 3;
    memcpy(padded, bytes, count);
    encode_block(padded, digits);
    memset(digits + used, '=', sizeof digits - used);
    memcpy(text, digits, (count + 2) / 3 * 4);
}

FOR_EACH_PROCESSOR
void trestle_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text) {
    for (; count >= BLOCK_DIGITS; bytes += BLOCK_BYTES, count -= BLOCK_BYTES, text += BLOCK_DIGITS) {
        encode_block(bytes, text);
    }
    for (; count > BLOCK_BYTES; bytes += BLOCK_BYTES, count -= BLOCK_BYTES, text += BLOCK_DIGITS) {
        encode_rest(bytes, BLOCK_BYTES, text);
    }
    if (count > 0) encode_rest(bytes, count, text);
}

// MARK: From text

// Replaces digits by their numbers; sets the bits of `wrong` where there is no digit.
always_inline void make_numbers(bytes32 *digits, bytes32 *wrong) {
    const bytes32 d = *digits;
    const bytes32 difference =
        (WHERE(d - 'A' < 26) & (uint8_t)-'A') | (WHERE(d - 'a' < 26) & (uint8_t)(26 - 'a'))
        | (WHERE(d - '0' < 10) & (uint8_t)(52 - '0')) | (WHERE(d == '+') & (62 - '+'))
        | (WHERE(d == '/') & (63 - '/'));
    *wrong |= WHERE(difference == 0);
    *digits = d + difference;
}

// Combines the numbers of four digits into one of 24 bits, in the upper bits of a word.
always_inline void make_groups(bytes32 *numbers) {
    words8 words = (words8)*numbers;
    swap_words(&words);
    const words8 pairs = (words & 0x003F003F) << 6 | (words >> 8 & 0x003F003F);
    *numbers = (bytes32)(pairs << 20 | (pairs >> 16) << 8);
}

// Puts the three bytes of each group side by side, the most significant one first. The last eight bytes are undefined.
always_inline void make_bytes(bytes32 *groups) {
    const bytes32 b = *groups;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    *groups = __builtin_shufflevector(b, b, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26,
                                      28, 29, 30, 3, 7, 11, 15, 19, 23, 27, 31);
#else
    *groups = __builtin_shufflevector(b, b, 3, 2, 1, 7, 6, 5, 11, 10, 9, 15, 14, 13, 19, 18, 17, 23, 22, 21, 27, 26, 25,
                                      31, 30, 29, 0, 4, 8, 12, 16, 20, 24, 28);
#endif
}

// Writes 32 bytes; the last eight are undefined.
always_inline void decode_block(const uint8_t *text, uint8_t *bytes, bytes32 *wrong) {
    bytes32 block;
    memcpy(&block, text, sizeof block);
    make_numbers(&block, wrong);
    make_groups(&block);
    make_bytes(&block);
    memcpy(bytes, &block, sizeof block);
}

// Decodes at most a block. Accesses no byte past the end. Returns false if the last digit has bits that belong to no
// byte.
always_inline bool decode_rest(const uint8_t *text, size_t digits, uint8_t *bytes, bytes32 *wrong) {
    uint8_t padded[BLOCK_DIGITS], decoded[BLOCK_DIGITS];
    const size_t count = digits * 3 / 4;
    memset(padded, 'A', sizeof padded);
    memcpy(padded, text, digits);
    decode_block(padded, decoded, wrong);
    memcpy(bytes, decoded, count);
    return digits % 4 == 0 || decoded[count] == 0;
}

always_inline bool is_zero(const bytes32 *bytes) {
    uint64_t parts[4];
    memcpy(parts, bytes, sizeof parts);
    return (parts[0] | parts[1] | parts[2] | parts[3]) == 0;
}

FOR_EACH_PROCESSOR
bool trestle_base64_decode(const uint8_t *text, size_t digits, uint8_t *bytes) {
    bytes32 wrong = {0};
    bool is_exact = true;
    if (digits % 4 == 1) return false;
    // A block writes eight bytes too many: the digits after it represent at least nine.
    for (; digits >= BLOCK_DIGITS + 12; text += BLOCK_DIGITS, digits -= BLOCK_DIGITS, bytes += BLOCK_BYTES) {
        decode_block(text, bytes, &wrong);
    }
    for (; digits > 0; text += BLOCK_DIGITS, bytes += BLOCK_BYTES) {
        const size_t count = digits < BLOCK_DIGITS ? digits : BLOCK_DIGITS;
        is_exact &= decode_rest(text, count, bytes, &wrong);
        digits -= count;
    }
    return is_exact && is_zero(&wrong);
}
