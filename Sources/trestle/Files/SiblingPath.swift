import Glibc

/// Hidden names beside a path, for what is filled before it is renamed to that path: renaming it is one step then.
enum SiblingPath {
    /// How many names are tried. Each is one of 2³², so that a second try is rare.
    private static let maximumTries = 16

    /// Makes a file or folder under a name that nothing has.
    ///
    /// - Parameters:
    ///   - path: The path that it gets at the end.
    ///   - make: Calls `open` with `O_EXCL`, or `mkdir`; -1 where that fails, with the reason in `errno`. The kernel
    ///     applies the umask; reading it would change it for other threads for a moment.
    ///   - subject: The folder that an error names; nil: the path.
    /// - Returns: Its path, and what `make` returned.
    /// - Throws: ``FileFailure`` where it cannot be made.
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
        throw subject.map { FileFailure($0, "cannot be written") } ?? FileFailure(path, "cannot be made")
    }
}
