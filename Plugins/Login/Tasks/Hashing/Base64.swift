import CSodium

/// Base 64 in libsodium's variants, in constant time.
enum Base64 {
    static func encode(_ bytes: [UInt8], variant: Int32) -> String {
        var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
        sodium_bin2base64(&text, text.count, bytes, bytes.count, variant)
        return String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
