/// The memory into which a decoder reads messages: allocated once for a decoder and overwritten in place for each
/// message. Copying the result would take most of the time for a message of 150 bytes.
final class DialectMemory {
    /// The last call that was read in the native dialect. Properties that never differ are not written.
    let call: UnsafeMutablePointer<CallMessage>
    /// The last message other than a call, and the last problem. There is one of each; a flag selects between them.
    private let message: UnsafeMutablePointer<BridgeMessage>
    private let problem: UnsafeMutablePointer<MessageProblem?>
    /// Memory for ``EnvelopePlaces``.
    let places: UnsafeMutablePointer<UInt32>

    /// The reader of messages of other dialects.
    let foreign = ForeignReader()

    init() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        call = .allocate(capacity: 1)
        call.initialize(to: CallMessage(task: nothing, options: nothing))
        message = .allocate(capacity: 1)
        problem = .allocate(capacity: 1)
        problem.initialize(to: nil)
        places = .allocate(capacity: EnvelopeField.allCases.count)
        places.initialize(repeating: 0, count: EnvelopeField.allCases.count)
    }

    deinit {
        call.deallocate()
        message.deallocate()
        problem.deinitialize(count: 1)
        problem.deallocate()
        places.deallocate()
    }

    func keep(_ message: BridgeMessage) -> DecodedItem {
        // The previous message contains only plain bytes and needs no release.
        self.message.initialize(to: message)
        return .message(UnsafePointer(self.message))
    }

    func keep(_ problem: MessageProblem) -> DecodedItem {
        self.problem.pointee = problem
        // An optional begins with the value that it wraps.
        return .problem(UnsafeRawPointer(self.problem).assumingMemoryBound(to: MessageProblem.self))
    }
}
