public import Logging

// What lines of the log say of a call or a session beside their text: the same names everywhere, so that a reader of
// the log can look for them. Numbers and the task's name, never what a client sent.

extension Session {
    /// Its number and its user.
    public var logMetadata: Logger.Metadata {
        ["session": .stringConvertible(number), "uid": .stringConvertible(peer.uid)]
    }
}

extension Call {
    /// Its number, as `bridge.calls` shows it, its task, and the session on whose behalf it is made.
    var logMetadata: Logger.Metadata {
        var metadata = session?.logMetadata ?? [:]
        metadata["call"] = .stringConvertible(number)
        if let task { metadata["task"] = .string(task.name) }
        return metadata
    }
}
