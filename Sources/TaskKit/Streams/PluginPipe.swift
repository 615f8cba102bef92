internal import CTaskPlugin
internal import Glibc
internal import Synchronization

/// An end of a pipe, which does not block: read or written as far as that goes, and waited for where it does not. Used
/// by one Swift task at a time, closed by any. Closed with ``close()``, or when it goes.
final class PluginPipe: Sendable {
    /// What one read takes at most: as much as a pipe holds.
    private static let readBytes = 64 << 10

    private struct State {
        /// -1: it is closed.
        var descriptor: Int32
        /// Somebody waits with the descriptor, or has borrowed it. It is closed when they are done.
        var isWatched = false
        var watch: Task<Void, Never>?
        var isClosed = false
    }

    private let state: Mutex<State>

    /// Takes the descriptor over.
    init(adopting descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { state.withLock { if $0.descriptor >= 0 { _ = Glibc.close($0.descriptor) } } }

    /// Reads what is there.
    ///
    /// - Returns: None: the pipe has ended; nil: nothing is there at present.
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

    /// Writes what fits. The daemon and the processes of plugins ignore SIGPIPE.
    ///
    /// - Returns: How many bytes were taken; nil: nobody reads.
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

    /// Lends the descriptor: it is not closed before `body` has returned. Nothing, where the pipe is closed.
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

    /// Rings when the pipe can be read, or written, or its other end is gone. Nothing, where that is awaited already.
    func ring(_ bell: Bell, when events: UInt32, _ runtime: PluginRuntime) {
        let descriptor = state.withLock { state -> Int32? in
            guard !state.isWatched, !state.isClosed else { return nil }
            state.isWatched = true
            return state.descriptor
        }
        guard let descriptor else { return bell.ring() }
        let watch = Task.immediate(executorPreference: runtime.executor) {
            // One that cannot be waited for is found out by the next read or write.
            try? await DescriptorWait(descriptor, events, runtime.host).wait()
            self.endWatch()
            bell.ring()
        }
        let isClosed = state.withLock { state in
            // It may be over already.
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

    /// Closes the end, also where it is waited for: the other side sees it, soon. Any thread.
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

/// Calls a function of the system again where a signal has interrupted it.
private func retried(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
