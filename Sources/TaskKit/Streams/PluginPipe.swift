internal import CTaskPlugin
internal import Glibc
internal import Synchronization

/// A non-blocking end of a pipe. It is read or written as far as possible; `ring` reports when more is possible. One
/// Swift task at a time uses it; any may close it. It is closed by ``close()`` or on deinitialization.
final class PluginPipe: Sendable {
    /// The maximum size of one read: the capacity of a pipe.
    private static let readBytes = 64 << 10

    private struct State {
        /// The descriptor; -1 if it is closed.
        var descriptor: Int32
        /// Whether a task waits for the descriptor or has borrowed it. A closed pipe's descriptor is closed after that.
        var isWatched = false
        var watch: Task<Void, Never>?
        var isClosed = false
    }

    private let state: Mutex<State>

    /// Takes ownership of the descriptor.
    init(adopting descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { state.withLock { if $0.descriptor >= 0 { _ = Glibc.close($0.descriptor) } } }

    /// Reads the available bytes.
    ///
    /// - Returns: The bytes; empty if the pipe has ended; `nil` if no bytes are available yet.
    func read() -> [UInt8]? {
        state.withLock { state in
            guard !state.isClosed else { return [] }
            var isEmpty = false
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.readBytes) { buffer, count in
                let result = retried { Glibc.read(state.descriptor, buffer.baseAddress, Self.readBytes) }
                isEmpty = result < 0 && errno == EAGAIN
                count = max(0, result)
            }
            return isEmpty ? nil : bytes
        }
    }

    /// Writes as many bytes as fit. The daemon and plugin processes ignore SIGPIPE.
    ///
    /// - Returns: The number of bytes written; `nil` if the reader has closed the pipe.
    func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let count = bytes.withUnsafeBytes { bytes in
                retried { Glibc.write(state.descriptor, bytes.baseAddress, bytes.count) }
            }
            if count < 0, errno == EAGAIN { return 0 }
            return count < 0 ? nil : count
        }
    }

    /// Lends the descriptor to `body`, and does not close it before `body` has returned. Returns 0 without calling
    /// `body` if the pipe is closed or in use.
    func lend(to body: (Int32) async -> Int) async -> Int {
        let descriptor = state.withLock { state -> Int32? in
            guard !state.isWatched, !state.isClosed else { return nil }
            state.isWatched = true
            return state.descriptor
        }
        guard let descriptor else { return 0 }
        defer { endWatch() }
        return await body(descriptor)
    }

    /// Rings the bell when the pipe is readable or writable, or its other end is closed. Rings immediately if the pipe
    /// is closed or in use.
    func ring(_ bell: Bell, when events: UInt32, _ runtime: PluginRuntime) {
        let descriptor = state.withLock { state -> Int32? in
            guard !state.isWatched, !state.isClosed else { return nil }
            state.isWatched = true
            return state.descriptor
        }
        guard let descriptor else { return bell.ring() }
        let watch = Task.immediate(executorPreference: runtime.executor) {
            // If the descriptor cannot be waited for, the next read or write reports the error.
            try? await DescriptorWait(descriptor, events, runtime.host).wait()
            self.endWatch()
            bell.ring()
        }
        let isClosed = state.withLock { state in
            // The wait may have ended already.
            if state.isWatched { state.watch = watch }
            return state.isClosed
        }
        if isClosed { watch.cancel() }
    }

    private func endWatch() {
        state.withLock { state in
            state.isWatched = false
            state.watch = nil
            if state.isClosed { Self.close(&state) }
        }
    }

    /// Closes the end, even while a task waits for it; the descriptor is then closed soon after. Any thread.
    func close() {
        let watch = state.withLock { state in
            state.isClosed = true
            if !state.isWatched { Self.close(&state) }
            return state.watch
        }
        watch?.cancel()
    }

    private static func close(_ state: inout State) {
        if state.descriptor >= 0 { _ = Glibc.close(state.descriptor) }
        state.descriptor = -1
    }
}

/// Repeats a system call while signals interrupt it.
private func retried(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
