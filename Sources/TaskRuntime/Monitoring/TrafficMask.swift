import BridgeJSON
import Glibc

/// Writes a payload as an operator may see it: without the values of members whose names say that they are secret, and
/// no longer than a few lines of a terminal.
///
/// One pass over the text, which ends where the bound is reached: a long message costs no more than a short one. The
/// text is JSON that has been checked; nothing here looks for faults in it.
struct TrafficMask {
    /// What stands for a secret.
    static let placeholder = "<private>"
    /// As much of a payload as is shown where no other number is given.
    static let usualBytes = 1024
    /// As much as may be asked for.
    static let maximumBytes = 256 << 10
    /// As far as the end of a secret is looked for; behind a longer one nothing more is shown.
    private static let maximumSecretBytes = 16 << 10

    /// A payload without its secrets: all of it, as JSON, or its beginning, which is none.
    struct Shown {
        var text: [UInt8] = []
        var isCut = false
    }

    private static let quotedPlaceholder = Array("\"\(placeholder)\"".utf8)

    private let text: UnsafeRawBufferPointer
    private let maximumBytes: Int
    private var place = 0
    private var shown = Shown()

    /// - Parameter maximumBytes: as much as is shown.
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
        while place < text.count, !shown.isCut {
            if room <= 0 {
                shown.isCut = true
            } else if text[place] == UInt8(ascii: "\"") {
                takeString()
            } else {
                takeTokens()
            }
        }
        if shown.isCut { cut() }
    }

    /// Takes what stands before the next string, as far as there is room.
    private mutating func takeTokens() {
        let end = find(UInt8(ascii: "\""), from: place, before: min(text.count, place + room))
        let tokens = UnsafeRawBufferPointer(rebasing: text[place..<end])
        place = end
        // Line breaks between tokens; within strings they are escaped. The payload becomes a part of a line.
        if tokens.contains(0x0A) || tokens.contains(0x0D) {
            shown.text.append(contentsOf: tokens.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        } else {
            shown.text.append(contentsOf: tokens)
        }
    }

    /// Takes a string, and where it is the name of a secret, what it names.
    private mutating func takeString() {
        guard let end = endOfString(at: place, before: min(text.count, place + room)) else {
            shown.text.append(contentsOf: text[place...].prefix(room))
            shown.isCut = true
            return
        }
        let string = UnsafeRawBufferPointer(rebasing: text[place..<end])
        shown.text.append(contentsOf: string)
        place = end
        let colon = skipSpace(from: end)
        guard colon < text.count, text[colon] == UInt8(ascii: ":"), SecretNames.isOne(quoted: string) else { return }
        shown.text.append(UInt8(ascii: ":"))
        shown.text.append(contentsOf: Self.quotedPlaceholder)
        let start = skipSpace(from: colon + 1)
        if let end = endOfValue(at: start, before: min(text.count, start + Self.maximumSecretBytes)) {
            place = end
        } else {
            shown.isCut = true
        }
    }

    /// Leaves what is shown, without a part of a character at its end.
    private mutating func cut() {
        shown.text.removeLast(max(0, -room))
        while let last = shown.text.last, last & 0xC0 == 0x80 { shown.text.removeLast() }
        if let last = shown.text.last, last >= 0xC0 { shown.text.removeLast() }
    }

    // MARK: Finding ends

    private func skipSpace(from start: Int) -> Int {
        var place = start
        while place < text.count, text[place] <= 0x20 { place += 1 }
        return place
    }

    /// The place behind the closing quote; nil: it lies behind the bound.
    private func endOfString(at start: Int, before bound: Int) -> Int? {
        var place = start + 1
        while true {
            let quote = find(UInt8(ascii: "\""), from: place, before: bound)
            guard quote < bound else { return nil }
            // A quote behind an odd number of backslashes is a part of the string.
            let backslashes = text[place..<quote].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            place = quote + 1
            if backslashes % 2 == 0 { return place }
        }
    }

    /// The place of the next such byte; the bound, where none comes before it.
    private func find(_ byte: UInt8, from start: Int, before bound: Int) -> Int {
        guard start < bound, let base = text.baseAddress else { return bound }
        guard let found = memchr(base + start, Int32(byte), bound - start) else { return bound }
        return UnsafeRawPointer(found) - base
    }

    private func endOfValue(at start: Int, before bound: Int) -> Int? {
        var place = start
        var depth = 0
        while place < bound {
            switch text[place] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(at: place, before: bound) else { return nil }
                if depth == 0 { return end }
                place = end
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // Without depth: the end of what holds the value, which is a number or a word.
                if depth == 0 { return place }
                depth -= 1
                if depth == 0 { return place + 1 }
            case UInt8(ascii: ","): if depth == 0 { return place }
            default: break
            }
            place += 1
        }
        return bound == text.count ? bound : nil
    }
}

/// Names of members whose values are secret.
enum SecretNames {
    /// Parts of such names: `accessToken`, `client_secret`, `newPassword`. A name too many costs an operator a guess,
    /// one too few a user's password.
    private static let parts = [
        "password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "cookie", "apikey",
    ].map { Array($0.utf8) }

    /// Whether a name, or a path to a member, means a secret: whatever the case of its letters, and with `-` and
    /// `_` in it or without.
    static func isOne(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { isOne(UnsafeRawBufferPointer($0)) }
    }

    /// The same of a name as it stands in a text, quotes included.
    static func isOne(quoted name: UnsafeRawBufferPointer) -> Bool {
        // Escapes can spell any name; one that is too long to be read may be any.
        let isEscaped = name.contains(UInt8(ascii: "\\"))
        if isEscaped, name.count > TaskDescription.usualOptionBytes { return true }
        if isEscaped, let text = try? JSON(parsing: name).stringValue { return isOne(text) }
        return isOne(name)
    }

    /// The same of the bytes of a name. A sequence, which is read once: the work is linear in the name's length.
    static func isOne(_ name: some Sequence<UInt8>) -> Bool {
        var letters: [UInt8] = []
        letters.reserveCapacity(2 * maximumPartBytes)
        for byte in name where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
            // Sets the bit by which small letters differ from capitals.
            letters.append(byte | 0x20)
            if lastLetters >> (byte & 31) & 1 != 0, parts.contains(where: { letters.suffix($0.count) == $0[...] }) {
                return true
            }
            if letters.count == 2 * maximumPartBytes { letters.removeFirst(maximumPartBytes) }
        }
        return false
    }

    /// A bit for the last letter of each part, by its lowest five bits.
    private static let lastLetters = parts.reduce(UInt32(0)) { $0 | 1 << UInt32(($1.last ?? 0) & 31) }
    private static let maximumPartBytes = parts.map(\.count).max() ?? 0
}
