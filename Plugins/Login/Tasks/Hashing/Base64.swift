import CSodium

/// Base 64 (RFC 4648) of secrets, in constant time.
enum Base64 {
    /// The alphabets; without `=` padding.
    enum Variant: Sendable {
        /// With `+` and `/`.
        case standardUnpadded
        /// With `-` and `_`.
        case urlSafeUnpadded

        var code: Int32 {
            switch self {
            case .standardUnpadded: sodium_base64_VARIANT_ORIGINAL_NO_PADDING
            case .urlSafeUnpadded: sodium_base64_VARIANT_URLSAFE_NO_PADDING
            }
        }
    }

    /// Returns the text of these bytes.
    static func encode(_ bytes: [UInt8], _ variant: Variant) -> String {
        // The length includes the NUL after the text.
        let count = sodium_base64_encoded_len(bytes.count, variant.code)
        return String(unsafeUninitializedCapacity: count) { text in
            text.withMemoryRebound(to: CChar.self) { text in
                // `!`: there is room for the NUL at least.
                _ = sodium_bin2base64(text.baseAddress!, count, bytes, bytes.count, variant.code)
            }
            return count - 1
        }
    }
}
