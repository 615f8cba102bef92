import BridgeJSON

/// Who a session is, as text: made again only when its identity has changed. Loop thread only.
struct CallerText: ~Copyable {
    private var text = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The revision of the identity that the text was made of.
    private var revision: UInt32 = 0

    /// The text. Valid until this is called with another revision, or the session is gone.
    ///
    /// - Parameters:
    ///   - revision: The identity's revision.
    ///   - json: Makes the value of it.
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
