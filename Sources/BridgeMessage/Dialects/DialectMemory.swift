/// What a dialect reads a message into: made once for a decoder, written again for each message, where it lies. Copies
/// of what is read are what a message of 150 bytes would spend most of its time on.
final class DialectMemory {
    /// The call that was read last in the native dialect. What is never different in it is never written.
    let call: UnsafeMutablePointer<CallMessage>
    /// What was read last, where it was no call: there is one of each, and a flag that says so.
    private let message: UnsafeMutablePointer<BridgeMessage>
    private let problem: UnsafeMutablePointer<MessageProblem?>
    /// Room for ``EnvelopePlaces``.
    let places: UnsafeMutablePointer<UInt32>

    /// What reads messages of other dialects.
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
        // Plain bytes: there is nothing to be released of the one before.
        self.message.initialize(to: message)
        return .message(UnsafePointer(self.message))
    }

    func keep(_ problem: MessageProblem) -> DecodedItem {
        self.problem.pointee = problem
        // An optional begins with what it wraps.
        return .problem(UnsafeRawPointer(self.problem).assumingMemoryBound(to: MessageProblem.self))
    }
}
