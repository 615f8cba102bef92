/// A call's way through the interceptors of its task: kept beside the call from the first question about it on. Loop
/// thread only.
final class InterceptionState {
    /// Those that were asked about the call, or were passed by: none sees it twice, so that calls that are sent to and
    /// fro come to an end.
    var seen: [Interceptor] = []
    /// The one that has the call in hand, and the question to it.
    var asked: (interceptor: Interceptor, question: CallHandle, since: RuntimeInstant)?
    /// The call's options, readable for 64 bytes past their end, while it is asked about.
    var options: [UInt8] = []
    /// The plugin in whose queue the call keeps its position until it is decided.
    var queue: (any QueueingProvider)?
    /// The task that the caller named, where the call has become one of another task. Retained: its name stands in
    /// answers.
    var original: TaskEntry?

    static let padding = 64

    func hold(_ options: UnsafeRawBufferPointer) {
        // As it comes from here a second time, nothing is copied.
        let isHeld = self.options.withUnsafeBytes { $0.baseAddress == options.baseAddress && !options.isEmpty }
        if !isHeld { self.options = Array(options) + repeatElement(0, count: Self.padding) }
    }

    /// The held options, borrowed.
    func withOptions(_ body: (UnsafeRawBufferPointer) -> Void) {
        // Kept alive here: the call, and this with it, may end within `body`.
        let options = options
        options.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.dropLast(Self.padding))) }
    }
}

extension Call {
    /// Its way through interceptors; nil: it was not asked about.
    var interception: InterceptionState? { record.pointee.extras?.interception }

    /// The interceptors in whose hands the calls are, or were, that led to this one.
    var ancestry: [Interceptor] { record.pointee.extras?.ancestry ?? [] }

    /// Whether an interceptor has it in hand, and the call keeps its position in that plugin's queue meanwhile.
    func isAskedAbout(in queue: any QueueingProvider) -> Bool { interception?.queue === queue }
}
