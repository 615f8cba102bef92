public import Logging

// Metadata of log lines about a call or a session. The names are the same everywhere, so that the log can be searched
// for them. The values are numbers and the task's name, never data that a client sent.

extension Session {
    /// The session's number and its user.
    public var logMetadata: Logger.Metadata {
        ["session": .stringConvertible(number), "uid": .stringConvertible(peer.uid)]
    }
}

extension Call {
    /// The call's number, as shown by `bridge.calls`, its task, and the session on whose behalf it is made.
    var logMetadata: Logger.Metadata {
        var metadata = session?.logMetadata ?? [:]
        metadata["call"] = .stringConvertible(number)
        if let task { metadata["task"] = .string(task.name) }
        return metadata
    }
}
