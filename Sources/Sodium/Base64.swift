internal import CSodium

/// Base 64 (RFC 4648), in constant time.
public enum Base64 {
    /// Its alphabets, and whether `=` fills the last group.
    public enum Variant: Sendable {
        /// With `+`, `/` and padding.
        case standard
        /// With `+` and `/`.
        case standardUnpadded
        /// With `-` and `_`.
        case urlSafeUnpadded

        var code: Int32 {
            switch self {
            case .standard: sodium_base64_VARIANT_ORIGINAL
            case .standardUnpadded: sodium_base64_VARIANT_ORIGINAL_NO_PADDING
            case .urlSafeUnpadded: sodium_base64_VARIANT_URLSAFE_NO_PADDING
            }
        }
    }

    /// The text of these bytes.
    public static func encode(_ bytes: [UInt8], _ variant: Variant = .standard) -> String {
        // The length counts the NUL behind the text.
        let count = sodium_base64_encoded_len(bytes.count, variant.code)
        return String(unsafeUninitializedCapacity: count) { text in
            text.withMemoryRebound(to: CChar.self) { text in
                // `!`: there is room for the NUL at least.
                _ = sodium_bin2base64(text.baseAddress!, count, bytes, bytes.count, variant.code)
            }
            return count - 1
        }
    }

    /// The bytes of this text. Nil: it is no base 64 of that variant, to its last character.
    public static func decode(_ text: String, _ variant: Variant = .standard) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text in
            var isText = false
            let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { bytes, count in
                isText = text.withMemoryRebound(to: CChar.self) { text in
                    // `!`: there is room for three bytes at least.
                    sodium_base642bin(
                        bytes.baseAddress!, bytes.count, text.baseAddress, text.count, nil, &count, nil, variant.code)
                        == 0
                }
                if !isText { count = 0 }
            }
            return isText ? bytes : nil
        }
    }
}
