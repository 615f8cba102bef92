import BridgeMessage

/// The receiver of an end of a stream's pipe.
enum PipeReceiver {
    case session(Session)
    /// A plugin's process.
    case process(any DescriptorReceiver)
    /// A plugin in the daemon's process, where the end stays.
    case daemon
}

extension Call {
    /// The receiver of an end of a pipe with the result; `nil` if the caller cannot receive one.
    var pipeReceiver: PipeReceiver? {
        let extras = record.pointee.extras
        if origin == .session {
            // Not in a batch: its answers are one array.
            guard let session, hasID, extras?.batch == nil else { return nil }
            return .session(session)
        }
        if let receiver = extras?.descriptorReceiver { return .process(receiver) }
        return extras?.streamReply == nil ? nil : .daemon
    }
}
