/// The result of decoding a line or an item of a batch. The pointers refer to the decoder's memory, so that the result
/// is not copied from function to function. It borrows the line's bytes. All of it is valid until the handler returns.
public enum DecodedItem {
    /// A call of a task: by far the most frequent message.
    case call(UnsafePointer<CallMessage>)
    /// Another message.
    case message(UnsafePointer<BridgeMessage>)
    /// An invalid message, which is answered with an error.
    case problem(UnsafePointer<MessageProblem>)
}
