import BridgeJSON

/// The identity of a session as text, rebuilt only when the identity has changed. Loop thread only.
struct CallerText: ~Copyable {
    private var text = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The revision of the identity from which the text was built.
    private var revision: UInt32 = 0

    /// Returns the text. It is valid until this is called with another revision or the session is released.
    ///
    /// - Parameters:
    ///   - revision: The identity's revision.
    ///   - json: Returns the identity as JSON.
    mutating func bytes(_ revision: UInt32, _ json: () -> JSON) -> UnsafeRawBufferPointer {
        if text.count > 0, revision == self.revision { return text }
        text.deallocate()
        let bytes = json().bytes
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        text = UnsafeRawBufferPointer(copy)
        self.revision = revision
        return text
    }

    deinit { text.deallocate() }
}
