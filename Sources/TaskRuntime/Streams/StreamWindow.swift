/// The bytes of a stream that wait for its reader.
struct StreamWindow {
    private let capacityBytes: Int
    private var bytes: [UInt8] = []
    /// The index in `bytes` of the first byte that the reader has not received.
    private var start = 0

    /// - Parameter capacityBytes: The maximum number of waiting bytes. The code that appends enforces it.
    init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

    /// The number of waiting bytes.
    var count: Int { bytes.count - start }

    mutating func append(_ more: some Collection<UInt8>) {
        // An empty window takes over a whole array instead of copying it.
        if count == 0, let more = more as? [UInt8] {
            (bytes, start) = (more, 0)
        } else {
            bytes.append(contentsOf: more)
        }
    }

    /// Removes and returns the first bytes, at most this many.
    mutating func take(_ maximumBytes: Int) -> [UInt8] {
        let taken = Array(bytes[start...].prefix(maximumBytes))
        remove(taken.count)
        return taken
    }

    /// Passes all bytes to `write`, and removes as many as it returns.
    ///
    /// - Returns: The number of removed bytes.
    mutating func drain(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
        let count = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        remove(count)
        return count
    }

    private mutating func remove(_ count: Int) {
        start += count
        if start == bytes.count {
            clear()
        } else if start >= capacityBytes / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }

    /// Discards all bytes. An empty window keeps its memory for the next bytes.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: count == 0)
        start = 0
    }
}
