import Glibc
import HTTPRules
import Synchronization
import TaskKit

/// The selection of URLs that are recorded.
struct URLChoice: Sendable {
    static let maximumPatterns = 64

    /// URLs, or prefixes of URLs with `*` at the end; empty for all URLs.
    private let patterns: [String]

    /// Creates a selection from patterns.
    ///
    /// - Throws: `options.invalid`.
    init(_ patterns: [String]) throws(BridgeError) {
        for (index, pattern) in patterns.enumerated() {
            guard index < Self.maximumPatterns, (1...WebURL.maximumBytes).contains(pattern.utf8.count) else {
                throw .invalidOption(
                    "$.match[\(index)]",
                    expected: "at most \(Self.maximumPatterns) URLs, or prefixes with * at the end",
                    got: "something else")
            }
        }
        self.patterns = patterns
    }

    func contains(_ url: WebURL) -> Bool {
        patterns.isEmpty
            || patterns.contains { pattern in
                guard pattern.utf8.last == UInt8(ascii: "*") else { return url.text.utf8.elementsEqual(pattern.utf8) }
                return url.text.utf8.starts(with: pattern.utf8.dropLast())
            }
    }
}

/// A running recording. The HAR is complete after each entry. Its methods are called on the recorder's thread.
final class Recording: Sendable {
    /// The maximum number of responses in a recording.
    static let maximumEntries = 10_000
    /// The maximum size of a HAR in bytes. A replay reads the whole HAR.
    static let maximumHARBytes: Int64 = 16 << 20
    /// The maximum size of all bodies of a recording in bytes.
    static let maximumBodyBytes: Int64 = 256 << 20

    private static let begin = Array(
        #"{"log":{"version":"1.2","creator":{"name":"Trestle","version":"\#(FetchSettings.version)"},"entries":["#.utf8)
    private static let end = Array("\n]}}\n".utf8)

    struct Figures: Sendable {
        var entries = 0
        var harBytes: Int64 = 0
        var bodyBytes: Int64 = 0
        /// The number of responses that are missing because a limit was exceeded or the disk failed.
        var missing = 0
    }

    let folder: RecordingFolder
    let choice: URLChoice
    private let file: RecordedFile
    private let figures: Mutex<Figures>
    private let lastBody = Atomic<UInt64>(0)

    /// Begins a recording in a folder, which is created if necessary.
    ///
    /// - Throws: `storage.full`, `storage.failed`.
    init(_ folder: RecordingFolder, _ choice: URLChoice) throws(BridgeError) {
        (self.folder, self.choice) = (folder, choice)
        for path in [folder.path, "\(folder.path)/\(RecordingFolder.bodies)"] where mkdir(path, 0o700) != 0 {
            if errno != EEXIST { throw .recordingFailed(path) }
        }
        file = try RecordedFile(folder.harPath, O_RDWR | O_CREAT | O_TRUNC)
        try file.write(Self.begin + Self.end, at: 0)
        figures = Mutex(Figures(harBytes: Int64(Self.begin.count + Self.end.count)))
    }

    var state: Figures { figures.withLock { $0 } }

    /// Returns a path for a body whose hash is not known yet.
    func newBodyPath() -> String {
        folder.bodyPath(".\(lastBody.add(1, ordering: .relaxed).newValue)")
    }

    /// Reserves room for bytes of bodies, and returns whether there was enough.
    func takeRoom(for count: Int) -> Bool {
        figures.withLock { figures in
            guard figures.bodyBytes + Int64(count) <= Self.maximumBodyBytes else { return false }
            figures.bodyBytes += Int64(count)
            return true
        }
    }

    /// Releases the room of a body that is not stored.
    func giveBack(_ count: Int64) { figures.withLock { $0.bodyBytes -= count } }

    func noteMissing() { figures.withLock { $0.missing += 1 } }

    /// Adds an entry at the end. It overwrites the closing text of the HAR and appends it again.
    ///
    /// - Throws: `storage.full`, `storage.failed`, `busy` if the recording is full.
    func append(_ entry: HAREntry) throws(BridgeError) {
        let state = self.state
        let text = Array(((state.entries == 0 ? "\n" : ",\n") + entry.json.text).utf8) + Self.end
        let position = state.harBytes - Int64(Self.end.count)
        guard state.entries < Self.maximumEntries, position + Int64(text.count) <= Self.maximumHARBytes else {
            throw BridgeError(.busy, "the recording is full")
        }
        try file.write(text, at: position)
        figures.withLock { figures in
            figures.entries += 1
            figures.harBytes = position + Int64(text.count)
        }
    }
}
