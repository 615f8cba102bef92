// The readers of a bridge's connection state.

import EventLoop

/// The readers of the connection state. Each reader gets the current state first.
@LoopActor
final class StateReaders {
    /// The number of states that may wait for a slow reader. Beyond it, the oldest are dropped: the last one is
    /// sufficient.
    nonisolated static let capacity = 64

    /// `nil` until the first connection is open.
    private var state: ConnectionState?
    private var readers: [UInt64: AsyncStream<ConnectionState>.Continuation] = [:]
    private var lastReader: UInt64 = 0

    nonisolated init() {}

    func add(_ reader: AsyncStream<ConnectionState>.Continuation) {
        if let state { reader.yield(state) }
        if case .closed = state { return reader.finish() }
        lastReader += 1
        let number = lastReader
        readers[number] = reader
        reader.onTermination = { [weak self] _ in EventLoop.post { self?.readers[number] = nil } }
    }

    func notify(_ state: ConnectionState) {
        self.state = state
        for reader in readers.values { reader.yield(state) }
        guard case .closed = state else { return }
        for reader in readers.values { reader.finish() }
        readers = [:]
    }
}
