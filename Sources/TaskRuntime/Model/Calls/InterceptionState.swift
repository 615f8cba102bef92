/// A call's progress through the interceptors of its task, kept from the first question on. Loop thread only.
final class InterceptionState {
    /// The interceptors that were asked about the call or were skipped. None is asked twice, so that repeated
    /// redirection ends.
    var seen: [Interceptor] = []
    /// The interceptor that is deciding, the question to it, and when it was asked.
    var asked: (interceptor: Interceptor, question: CallHandle, since: RuntimeInstant)?
    /// The call's options while an interceptor decides, readable for 64 bytes past their end.
    var options: [UInt8] = []
    /// The plugin in whose queue the call keeps its position until it is decided.
    var queue: (any QueueingProvider)?
    /// The task that the caller named, if the call now belongs to another task. Retained: its name appears in answers.
    var original: TaskEntry?

    static let padding = 64

    func hold(_ options: UnsafeRawBufferPointer) {
        // If the options are the held ones themselves, nothing is copied.
        let isHeld = self.options.withUnsafeBytes { $0.baseAddress == options.baseAddress && !options.isEmpty }
        if !isHeld { self.options = Array(options) + repeatElement(0, count: Self.padding) }
    }

    /// Calls `body` with the held options, which are borrowed.
    func withOptions(_ body: (UnsafeRawBufferPointer) -> Void) {
        // Kept alive here: the call, and this object with it, may end within `body`.
        let options = options
        options.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.dropLast(Self.padding))) }
    }
}

extension Call {
    /// The call's progress through interceptors; `nil` if no interceptor was asked.
    var interception: InterceptionState? { record.pointee.extras?.interception }

    /// The interceptors that are deciding, or decided, about the calls that led to this one.
    var ancestry: [Interceptor] { record.pointee.extras?.ancestry ?? [] }

    /// Whether an interceptor is deciding about the call and the call keeps its position in that plugin's queue.
    func isAskedAbout(in queue: any QueueingProvider) -> Bool { interception?.queue === queue }
}
