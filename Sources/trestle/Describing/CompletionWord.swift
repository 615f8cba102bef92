/// Words that a shell is offered for completion.
///
/// They come from other users: names of tasks that clients registered, keys and values of their schemas. bash expands
/// the words that a completion returns, command substitutions too; zsh reads `value:description`. So only words without
/// a character that any of the shells gives a meaning are offered, whatever the daemon is that they come from.
enum CompletionWord {
    /// Those of the words that are harmless.
    ///
    /// - Parameter isForZsh: zsh reads what follows a `:` as the description of a word, unless a backslash precedes it.
    static func offered(_ words: [String], isForZsh: Bool) -> [String] {
        words.filter(isHarmless).map { word in
            isForZsh ? word.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:") : word
        }
    }

    /// A word that begins with `-` would be read as an option of the command.
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
