/// The interface of a session to its connection.
public protocol SessionTransport: AnyObject {
    /// Writes the session's output, as much as the socket accepts.
    func writeOutput()
    /// Closes the connection once all waiting output has been written.
    func closeWhenWritten()
    /// Reports that the jobs for which the session's input waited (``Session/waitsForJobs``) are done.
    func inputMayContinue()
    /// Continues reading while the daemon stops: a call that the session works on ends only by its messages.
    func readOn()
    /// Returns the systemd unit of the program at the other end; `nil` if it is not known.
    func peerUnit() -> String?
    /// Returns the number of sent descriptors that the client has not received yet; `nil` if none can be sent.
    func unreadDescriptors() -> Int?
}

extension SessionTransport {
    /// Does nothing, for transports that check by themselves.
    public func inputMayContinue() {}
    /// Does nothing, for transports that never stop reading.
    public func readOn() {}
    /// Returns `nil`: the unit is not known.
    public func peerUnit() -> String? { nil }
    /// Returns `nil`: descriptors cannot be sent.
    public func unreadDescriptors() -> Int? { nil }
}
