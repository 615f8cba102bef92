import Glibc
import Synchronization
import TaskKit

/// A small file in the state directory. It is written as a whole, some time after a change. Any thread.
final class StateFile: Sendable {
    /// The time between a change and its write, so that several changes are written once.
    static let delay = Duration.seconds(5)
    /// The maximum length of the file. A longer one is neither written nor read.
    static let maximumBytes = 4 << 20

    private struct State {
        var path: String?
        var context: PluginContext?
        var isDue = false
    }

    private let name: String
    private let text: @Sendable () throws -> [UInt8]
    private let state = Mutex(State())

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - text: Returns the content to write.
    init(_ name: String, text: @escaping @Sendable () throws -> [UInt8]) { (self.name, self.text) = (name, text) }

    /// Reads the file, and writes changes from now on.
    ///
    /// - Parameter take: Receives the content if the file exists.
    func open(_ context: PluginContext, take: @escaping @Sendable ([UInt8]) throws -> Void) async {
        let path = "\(context.stateDirectory)/\(name)"
        state.withLock { state in
            state.path = path
            state.context = context
        }
        do {
            try await context.blocking { if let bytes = try Self.read(path) { try take(bytes) } }
        } catch {
            context.log.warning("\(path) is replaced by a new file: \(error)")
        }
    }

    /// Schedules a write after the content has changed.
    func noteChange() {
        let context = state.withLock { state -> PluginContext? in
            guard !state.isDue, let context = state.context else { return nil }
            state.isDue = true
            return context
        }
        guard let context else { return }
        context.timer(after: Self.delay) { [self] in
            Task(executorPreference: context.executor) { await self.write() }
        }
    }

    /// Writes changes that have not been written yet.
    func write() async {
        let due = state.withLock { state -> (path: String, context: PluginContext)? in
            guard state.isDue, let path = state.path, let context = state.context else { return nil }
            state.isDue = false
            return (path, context)
        }
        guard let due else { return }
        do {
            try await due.context.blocking { [text] in try Self.write(text(), to: due.path) }
        } catch {
            due.context.log.warning("\(due.path) cannot be written: \(error)")
        }
    }

    // MARK: The disk (blocking)

    private static func read(_ path: String) throws -> [UInt8]? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("it cannot be opened")
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            guard count >= 0 else { throw failure("it cannot be read") }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= maximumBytes else {
                throw BridgeError(.internal, "it has more than \(maximumBytes) bytes")
            }
        }
    }

    /// Replaces the file atomically: it has either the new or the previous content.
    private static func write(_ bytes: [UInt8], to path: String) throws {
        guard bytes.count <= maximumBytes else {
            throw BridgeError(.internal, "the new content has more than \(maximumBytes) bytes")
        }
        let other = path + ".new"
        let file = Glibc.open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("it cannot be created") }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure("it cannot be written") }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0, rename(other, path) == 0 else {
            throw failure("it cannot be renamed to its final name")
        }
    }

    private static func failure(_ what: String) -> BridgeError {
        BridgeError(.internal, "\(what): \(String(cString: strerror(errno)))")
    }
}
