import Glibc

/// Hidden names beside a path, for files that are filled and then renamed to that path atomically.
enum SiblingPath {
    /// The number of names to try. Each is one of 2³², so a second try is rare.
    private static let maximumTries = 16

    /// Creates a file or folder under an unused name.
    ///
    /// - Parameters:
    ///   - path: The final path.
    ///   - make: Calls `open` with `O_EXCL`, or `mkdir`; returns -1 and sets `errno` on failure. The kernel applies the
    ///     umask; reading the umask would briefly change it for other threads.
    ///   - subject: The folder to name in an error; `nil` names the path.
    /// - Returns: The temporary path, and the result of `make`.
    /// - Throws: ``FileFailure`` if it cannot be created.
    static func make(
        beside path: String, naming subject: String? = nil, _ make: (String) -> Int32
    ) throws(FileFailure) -> (path: String, Int32) {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        for _ in 0..<maximumTries {
            let suffix = String(UInt32.random(in: 0...UInt32.max), radix: 36)
            let sibling = path.dropLast(name.count) + ".\(name).\(suffix)"
            let made = make(String(sibling))
            if made >= 0 { return (String(sibling), made) }
            guard errno == EEXIST else { break }
        }
        throw subject.map { FileFailure($0, "cannot be written") } ?? FileFailure(path, "cannot be created")
    }
}
