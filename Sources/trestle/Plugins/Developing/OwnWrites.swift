import EventLoop
import Glibc

/// Distinguishes files that the user saves from files that the plugin itself writes into its folder, which would cause
/// endless reloads.
///
/// A file is a source if its name indicates that and its content has changed. If only other files change soon after the
/// plugin was loaded, the plugin may have written them: they reload it twice in a row and are then ignored.
struct OwnWrites {
    /// The decision about changes.
    enum Verdict: Equatable {
        case reload
        /// No reload: the plugin wrote the files.
        case ignore
        /// No reload from now on: the plugin wrote these files, which was not reported yet.
        case leaveOut([String])
    }

    /// The time after loading in which changes may be the plugin's own.
    static let suspicion = Duration.seconds(5)
    /// The maximum number of consecutive reloads by such changes.
    static let maximum = 2

    private static let sourceSuffixes: Set<Substring> = [
        "bash", "c", "cc", "conf", "cpp", "cs", "go", "h", "hpp", "hs", "java", "jl", "js", "kt", "lua", "mjs", "pl",
        "php",
        "py", "rb", "rs", "sh", "swift", "toml", "ts", "zig",
    ]

    private var leftOut: Set<String> = []
    private var loaded: MonotonicInstant?
    private var inRow = 0
    /// Hashes of the files' contents at their last change; `nil` for a removed file.
    private var contents: [String: Int?] = [:]

    /// Records that the plugin was loaded or that loading failed.
    mutating func load(at now: MonotonicInstant) { loaded = now }

    /// Decides about written or removed files.
    ///
    /// - Parameters:
    ///   - first: The time of the first change.
    ///   - content: Returns a value that differs for different contents of a file; `nil` if the file does not exist.
    mutating func take(_ paths: Set<String>, at first: MonotonicInstant, content: (String) -> Int?) -> Verdict {
        let paths = paths.subtracting(leftOut)
        guard !paths.isEmpty else { return .ignore }
        var isSaved = false
        for path in paths {
            let new = content(path)
            let old = contents.updateValue(new, forKey: path)
            if Self.isSource(path), old != .some(new) { isSaved = true }
        }
        guard !isSaved, let loaded, first <= loaded + Self.suspicion else {
            inRow = 0
            return .reload
        }
        inRow += 1
        guard inRow > Self.maximum else { return .reload }
        leftOut.formUnion(paths)
        return .leaveOut(paths.sorted())
    }

    private static func isSource(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        let parts = name.split(separator: ".")
        guard parts.count > 1, let suffix = parts.last else { return name.lowercased().hasSuffix("makefile") }
        return sourceSuffixes.contains(suffix)
    }

    /// Returns a hash of the content of a file; `nil` if it cannot be read. Blocks.
    static func content(_ path: String) -> Int? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var hasher = Hasher()
        let isWhole = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { chunk in
            while true {
                let count = read(descriptor, chunk.baseAddress, chunk.count)
                guard count > 0 else { return count == 0 }
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
        }
        return isWhole ? hasher.finalize() : nil
    }
}
