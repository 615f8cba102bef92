import BridgeJSON
import Glibc

/// Formats a payload for an operator: without the values of members whose names indicate secrets, and with a limited
/// length.
///
/// One pass over the text, which ends at the limit: a long message costs no more than a short one. The text is JSON
/// that has been checked; this code does not look for faults in it.
struct TrafficMask {
    /// The replacement for a secret.
    static let placeholder = "<private>"
    /// The number of bytes of a payload that are shown by default.
    static let usualBytes = 1024
    /// The maximum number of bytes that can be requested.
    static let maximumBytes = 256 << 10
    /// How far the end of a secret is searched; after a longer secret nothing more is shown.
    private static let maximumSecretBytes = 16 << 10

    /// A payload without its secrets: complete JSON, or only its beginning, which is not valid JSON.
    struct Shown {
        var text: [UInt8] = []
        var isCut = false
    }

    private static let quotedPlaceholder = Array("\"\(placeholder)\"".utf8)

    private let text: UnsafeRawBufferPointer
    private let maximumBytes: Int
    private var position = 0
    private var shown = Shown()

    /// Returns a payload without its secrets.
    ///
    /// - Parameter maximumBytes: The maximum number of bytes that are shown.
    static func apply(_ text: UnsafeRawBufferPointer, atMost maximumBytes: Int) -> Shown {
        var mask = TrafficMask(text: text, maximumBytes: maximumBytes)
        mask.run()
        return mask.shown
    }

    private init(text: UnsafeRawBufferPointer, maximumBytes: Int) {
        self.text = text
        self.maximumBytes = maximumBytes
    }

    private var room: Int { maximumBytes - shown.text.count }

    private mutating func run() {
        shown.text.reserveCapacity(min(text.count, maximumBytes) + Self.quotedPlaceholder.count)
        while position < text.count, !shown.isCut {
            if room <= 0 {
                shown.isCut = true
            } else if text[position] == UInt8(ascii: "\"") {
                takeString()
            } else {
                takeTokens()
            }
        }
        if shown.isCut { cut() }
    }

    /// Copies the text before the next string, as far as there is room.
    private mutating func takeTokens() {
        let end = find(UInt8(ascii: "\""), from: position, before: min(text.count, position + room))
        let tokens = UnsafeRawBufferPointer(rebasing: text[position..<end])
        position = end
        // Line breaks between tokens are replaced, because the payload becomes a part of a line. Within strings they
        // are escaped.
        if tokens.contains(0x0A) || tokens.contains(0x0D) {
            shown.text.append(contentsOf: tokens.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        } else {
            shown.text.append(contentsOf: tokens)
        }
    }

    /// Copies a string. If it is the name of a secret, its value is replaced.
    private mutating func takeString() {
        guard let end = endOfString(at: position, before: min(text.count, position + room)) else {
            shown.text.append(contentsOf: text[position...].prefix(room))
            shown.isCut = true
            return
        }
        let string = UnsafeRawBufferPointer(rebasing: text[position..<end])
        shown.text.append(contentsOf: string)
        position = end
        let colon = skipSpace(from: end)
        guard colon < text.count, text[colon] == UInt8(ascii: ":"), SecretNames.isOne(quoted: string) else { return }
        shown.text.append(UInt8(ascii: ":"))
        shown.text.append(contentsOf: Self.quotedPlaceholder)
        let start = skipSpace(from: colon + 1)
        if let end = endOfValue(at: start, before: min(text.count, start + Self.maximumSecretBytes)) {
            position = end
        } else {
            shown.isCut = true
        }
    }

    /// Limits the shown text, without an incomplete character at its end.
    private mutating func cut() {
        shown.text.removeLast(max(0, -room))
        while let last = shown.text.last, last & 0xC0 == 0x80 { shown.text.removeLast() }
        if let last = shown.text.last, last >= 0xC0 { shown.text.removeLast() }
    }

    // MARK: Finding ends

    private func skipSpace(from start: Int) -> Int {
        var position = start
        while position < text.count, text[position] <= 0x20 { position += 1 }
        return position
    }

    /// Returns the position after the closing quote; `nil` if it is after the bound.
    private func endOfString(at start: Int, before bound: Int) -> Int? {
        JSONText.endOfString(in: UnsafeRawBufferPointer(rebasing: text[..<bound]), from: start)
    }

    private func endOfValue(at start: Int, before bound: Int) -> Int? {
        JSONText.endOfValue(in: UnsafeRawBufferPointer(rebasing: text[..<bound]), from: start)
            // A number or a literal that ends with the text.
            ?? (bound == text.count ? bound : nil)
    }

    /// Returns the position of the next such byte; the bound if none comes before it.
    private func find(_ byte: UInt8, from start: Int, before bound: Int) -> Int {
        guard start < bound, let base = text.baseAddress else { return bound }
        guard let found = memchr(base + start, Int32(byte), bound - start) else { return bound }
        return UnsafeRawPointer(found) - base
    }
}

/// Names of members whose values are secret.
package enum SecretNames {
    /// Parts of such names: `accessToken`, `client_secret`, `newPassword`. A false match only hides a harmless value; a
    /// missing part can reveal a user's password.
    private static let parts = [
        "password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "cookie", "apikey",
    ].map { Array($0.utf8) }

    /// Whether a name, or a path to a member, indicates a secret. Case is ignored, as are `-` and `_`.
    package static func isOne(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { isOne(UnsafeRawBufferPointer($0)) }
    }

    /// Does the same for a name as it is written in a text, quotes included.
    static func isOne(quoted name: UnsafeRawBufferPointer) -> Bool {
        // Escapes can encode any name. A name that is too long to be decoded is treated as secret.
        let isEscaped = name.contains(UInt8(ascii: "\\"))
        if isEscaped, name.count > TaskDescription.usualOptionBytes { return true }
        if isEscaped, let text = try? JSON(parsing: name).stringValue { return isOne(text) }
        return isOne(name)
    }

    /// Does the same for the bytes of a name, which are read once: the work is linear in the name's length.
    static func isOne(_ name: some Sequence<UInt8>) -> Bool {
        var letters: [UInt8] = []
        letters.reserveCapacity(2 * maximumPartBytes)
        for byte in name where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
            // Sets the bit that distinguishes lowercase from uppercase letters.
            letters.append(byte | 0x20)
            if lastLetters >> (byte & 31) & 1 != 0, parts.contains(where: { letters.suffix($0.count) == $0[...] }) {
                return true
            }
            if letters.count == 2 * maximumPartBytes { letters.removeFirst(maximumPartBytes) }
        }
        return false
    }

    /// A bit for the last letter of each part, indexed by its lowest five bits.
    private static let lastLetters = parts.reduce(UInt32(0)) { $0 | 1 << UInt32(($1.last ?? 0) & 31) }
    private static let maximumPartBytes = parts.map(\.count).max() ?? 0
}
