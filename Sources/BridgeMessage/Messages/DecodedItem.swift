/// What a line, or an item of a batch, turned out to be. What it points to stands in the decoder's memory, where it is
/// read instead of being handed on whole from function to function, and borrows the line's bytes: all of it is good
/// until the handler returns.
public enum DecodedItem {
    /// A call of a task: by far the most frequent message.
    case call(UnsafePointer<CallMessage>)
    /// Another message.
    case message(UnsafePointer<BridgeMessage>)
    /// Something else, to be answered with an error.
    case problem(UnsafePointer<MessageProblem>)
}
