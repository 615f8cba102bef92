import EventLoop
import Glibc

/// Distinguishes what a user saves from what the plugin itself writes into its folder, which would have it reloaded
/// without end.
///
/// A file is a source where its name says so and its content is another than before. Changes of nothing but other
/// files, soon after the plugin was loaded, may be the plugin's own: they reload it twice in a row, and then these
/// files no longer count.
struct OwnWrites {
    /// What becomes of changes.
    enum Verdict: Equatable {
        case reload
        /// Nothing: they are the plugin's own.
        case ignore
        /// Nothing from now on: this is the plugin's own, which is not reported yet.
        case leaveOut([String])
    }

    /// How long after it was loaded a plugin is suspected of what is written.
    static let suspicion = Duration.seconds(5)
    /// How often in a row it is reloaded by what is perhaps its own.
    static let maximum = 2

    private static let sourceSuffixes: Set<Substring> = [
        "bash", "c", "cc", "conf", "cpp", "cs", "go", "h", "hpp", "hs", "java", "jl", "js", "kt", "lua", "mjs", "pl",
        "php",
        "py", "rb", "rs", "sh", "swift", "toml", "ts", "zig",
    ]

    private var leftOut: Set<String> = []
    private var loaded: MonotonicInstant?
    private var inRow = 0
    /// What files held when they were last reported; nil: they were gone.
    private var contents: [String: Int?] = [:]

    /// The plugin has been loaded, or would not be.
    mutating func load(at now: MonotonicInstant) { loaded = now }

    /// Files were written, or went.
    ///
    /// - Parameters:
    ///   - first: when the first of them was.
    ///   - content: something that is another with each content of a file; nil: there is no such file.
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

    /// A number for the content of a file; nil: it cannot be read. Blocks.
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
