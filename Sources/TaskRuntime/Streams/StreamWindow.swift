/// Bytes of a stream that wait for its reader.
struct StreamWindow {
    private let capacityBytes: Int
    private var bytes: [UInt8] = []
    /// Where in `bytes` those begin that the reader has not got.
    private var start = 0

    /// - Parameter capacityBytes: How many may wait. Who appends sees to it.
    init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

    /// How many wait.
    var count: Int { bytes.count - start }

    mutating func append(_ more: some Collection<UInt8>) {
        // What is empty takes a whole array instead of a copy of it.
        if count == 0, let more = more as? [UInt8] {
            (bytes, start) = (more, 0)
        } else {
            bytes.append(contentsOf: more)
        }
    }

    /// Takes the first of them out, at most so many.
    mutating func take(_ maximumBytes: Int) -> [UInt8] {
        let taken = Array(bytes[start...].prefix(maximumBytes))
        remove(taken.count)
        return taken
    }

    /// Hands all of them to `write`, and takes out as many as it returns.
    ///
    /// - Returns: how many.
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

    /// Discards all. What was empty keeps its memory for the next.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: count == 0)
        start = 0
    }
}
