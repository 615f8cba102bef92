/// Words that are offered to a shell for completion.
///
/// Other users supply them: names of tasks that clients registered, keys and values of their schemas. bash expands the
/// words that a completion returns, including command substitutions; zsh parses `value:description`. Therefore only
/// words without characters that have a meaning in any of the shells are offered, regardless of the daemon.
enum CompletionWord {
    /// Returns the harmless ones of the words.
    ///
    /// - Parameter isForZsh: Whether the shell is zsh, which uses the text after an unescaped `:` as a description.
    static func offered(_ words: [String], isForZsh: Bool) -> [String] {
        words.filter(isHarmless).map { word in
            isForZsh ? word.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:") : word
        }
    }

    /// Returns whether a word is harmless. A word that begins with `-` would be parsed as an option of the command.
    static func isHarmless(_ word: String) -> Bool {
        (1...maximumBytes).contains(word.utf8.count) && word.utf8.first != UInt8(ascii: "-")
            && word.utf8.allSatisfy(isHarmless)
    }

    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "@")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    private static let maximumBytes = 256
}
