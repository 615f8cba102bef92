// Who follows whether there is a connection.

import EventLoop

/// Those who follow the state. Each gets the present one first.
@LoopActor
final class StateReaders {
    /// States that wait for a slow reader; beyond, the oldest are dropped: the last one says what there is to know.
    nonisolated static let capacity = 64

    /// Nil until the first connection is there.
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
