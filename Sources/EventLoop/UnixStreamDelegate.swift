/// The receiver of a stream's events, on the loop thread. Each method may close the stream.
@LoopActor
public protocol UnixStreamDelegate: AnyObject {
    /// Returns whether available input may be read now. If false, the delegate has stopped reading.
    func mayRead() -> Bool
    /// Receives bytes, never none. They are valid until this returns. The 64 bytes after their end are also readable;
    /// their content is meaningless.
    func read(bytes: UnsafeRawBufferPointer)
    /// Reports a half-close: the peer will send no more bytes, but may still read. All its bytes have been delivered.
    func endOfInput()
    /// Reports that the peer has disconnected: no more reads or writes are possible. Called once; if the stream was
    /// being read, after all bytes of the peer.
    func hangUp()
    /// Reports that there is space again, after a `write` was incomplete.
    func writable()
    /// Reports that the stream has failed for another reason. No other call follows.
    func failed(_ error: SystemError)
}

extension UnixStreamDelegate {
    /// Permits the read.
    public func mayRead() -> Bool { true }
}
