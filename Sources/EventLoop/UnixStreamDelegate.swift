/// What a stream reports to its owner, on the loop thread. Any of these may close the stream.
@LoopActor
public protocol UnixStreamDelegate: AnyObject {
    /// There is something to be read. False: not now; then the delegate has stopped reading.
    func mayRead() -> Bool
    /// Bytes came. They are valid until this returns, and so are 64 bytes behind their end, whose content means
    /// nothing. Never empty.
    func read(bytes: UnsafeRawBufferPointer)
    /// The peer will send nothing more, but may still read: a half-close. Everything it sent has been delivered.
    func endOfInput()
    /// The peer is gone: nothing can be read or written any longer. Comes once; where the stream was being read, after
    /// everything that the peer had sent.
    func hangUp()
    /// There is room again, after `write` took less than it was given.
    func writable()
    /// The stream is broken for another reason. Nothing follows.
    func failed(_ error: SystemError)
}

extension UnixStreamDelegate {
    /// At once.
    public func mayRead() -> Bool { true }
}
