import TaskKit

/// The name of a file in the folder: one component of a path, which cannot lead out of the folder.
struct FileName: Sendable, Hashable {
    let text: String

    /// The limit of the file systems of Linux.
    private static let maximumBytes = 255

    /// - Throws: `options.invalid`.
    init(_ text: String) throws {
        let bytes = text.utf8
        // A name that begins with a dot is hidden, also that of a file that is being written.
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes, bytes.first != UInt8(ascii: "."),
            !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
        else {
            throw JSONMismatch(
                path: "$.name", expected: "the name of a file, without / and without a dot at its beginning",
                got: JSON.string(String(text.unicodeScalars.prefix(40))).text)
        }
        self.text = text
    }
}
