import Glibc

/// A walk from the root to a file. Each step is a directory, a link or the file itself. The walk follows links.
struct PathWalk {
    /// A step of the walk.
    struct Step {
        /// The path, without links except for the last name.
        let path: String
        let owner: uid_t
        let group: gid_t
        let mode: mode_t
        /// Whether this is the file that the walk leads to.
        let isTarget: Bool

        var isLink: Bool { mode & S_IFMT == S_IFLNK }
        var isStickyDirectory: Bool { mode & S_IFMT == S_IFDIR && mode & S_ISVTX != 0 }
        /// The name of this step in a sentence about the file.
        var name: String {
            if isLink { return "the link \(path) to it" }
            return isTarget ? "it" : "the directory \(path) on the way to it"
        }
    }

    /// The kernel's limit of links in a path.
    private static let maximumLinks = 40
    private static let slash = UInt8(ascii: "/")

    /// The names that remain, the next one last.
    private var names: [Substring]
    /// The current directory of the walk, without links; empty at the root.
    private var resolvedPath = ""
    private var links = 0
    private var hasBegun = false
    /// Whether the walk includes the file itself, and not only its directory.
    private let hasTarget: Bool

    init(_ path: String) { self.init(path, hasTarget: true) }

    /// A walk to a file that excludes the file itself.
    init(aroundOf path: String) { self.init(path, hasTarget: false) }

    private init(_ path: String, hasTarget: Bool) {
        self.hasTarget = hasTarget
        names = Self.names(in: path)
        // The names are in reverse order, so this removes the last one.
        if !hasTarget, !names.isEmpty { names.removeFirst() }
        guard path.utf8.first != Self.slash, let directory = getcwd(nil, 0) else { return }
        defer { free(directory) }
        names += Self.names(in: String(cString: directory))
    }

    /// Returns the next step; `nil` at the end.
    ///
    /// - Throws: ``FileTrust/Doubt`` for a path that cannot be read.
    mutating func next() throws(FileTrust.Doubt) -> Step? {
        guard hasBegun else {
            hasBegun = true
            return try look(at: "/")
        }
        while let name = names.popLast() {
            if name == ".." {
                let end = resolvedPath.utf8.lastIndex(of: Self.slash) ?? resolvedPath.startIndex
                resolvedPath = String(resolvedPath[..<end])
                continue
            }
            let path = "\(resolvedPath)/\(name)"
            let step = try look(at: path)
            if step.isLink { try follow(path) } else { resolvedPath = path }
            return step
        }
        return nil
    }

    private func look(at path: String) throws(FileTrust.Doubt) -> Step {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Self.doubt(path, errno) }
        return Step(
            path: path, owner: status.st_uid, group: status.st_gid, mode: status.st_mode,
            isTarget: hasTarget && names.isEmpty && status.st_mode & S_IFMT != S_IFLNK)
    }

    private mutating func follow(_ path: String) throws(FileTrust.Doubt) {
        links += 1
        guard links <= Self.maximumLinks else { throw Self.doubt(path, ELOOP) }
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = target.withUnsafeMutableBytes { bytes in
            // `!`: the buffer is not empty.
            readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard count >= 0 else { throw Self.doubt(path, errno) }
        let text = String(decoding: target[..<count], as: UTF8.self)
        if text.utf8.first == Self.slash { resolvedPath = "" }
        names += Self.names(in: text)
    }

    /// Returns the names in the order in which `popLast()` takes them. By bytes, as in the kernel: a `Character` can
    /// combine a slash with an accent.
    private static func names(in path: String) -> [Substring] {
        path.utf8.split(separator: slash).map(Substring.init).filter { $0 != "." }.reversed()
    }

    private static func doubt(_ path: String, _ code: Int32) -> FileTrust.Doubt {
        FileTrust.Doubt(path: path, code: code, description: "it cannot be read: \(String(cString: strerror(code)))")
    }
}
