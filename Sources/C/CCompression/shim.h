/* The codings of bodies: zlib, brotli (decoding only), zstd. */
#ifndef TRESTLE_CCOMPRESSION_H
#define TRESTLE_CCOMPRESSION_H

#include <brotli/decode.h>
#include <stdbool.h>
#include <zlib.h>
#include <zstd.h>

/* Calls inflateInit2, which is a macro. */
static inline bool ccompression_inflate_start(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits) == Z_OK;
}

#endif
