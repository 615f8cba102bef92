internal import BridgeJSON
internal import WebProfiles

/// The bridge of the document that a view shows, as a state machine. Inputs are the posts of the page, the commits of
/// the engine and the lines of the daemon; outputs are actions. A plain value without I/O and clock.
///
/// No line of the page is sent before the daemon has accepted the document's hello: after a refused one it would be a
/// call of the origin `local`.
struct PageSession {
    /// An action for the owner; actions are performed in their order.
    enum Action: Hashable {
        /// Connect for this document, and send the hello first.
        case connect(hello: [UInt8])
        /// Send a line.
        case send([UInt8])
        /// Close the connection, if there is one. Its calls are cancelled.
        case disconnect
        /// Answer the oldest held post with these lines, or with none.
        case deliver([UInt8])
        /// Reconnect after this time, unless the document has been replaced by then.
        case retry(after: Duration)
        /// The document has its session.
        case opened(PageOrigin, session: Int64?)
        /// The document gets no session.
        case refused(origin: String, reason: String)
        /// A call of the container's own has ended; it failed if there is no result.
        case ended(call: Int, result: JSON?)
        /// The daemon closed the page.
        case close
    }

    /// The outcome of a post's reply.
    enum Fate {
        /// The reply is held for ``Action/deliver(_:)``.
        case held
        /// Like `held`; the posts that were held before belong to another document and get no answer.
        case begins
        /// The post is not from the view's document and is refused.
        case dropped
    }

    private enum Phase {
        /// No document has posted a hello since the last commit.
        case absent
        /// The document has no session; all of its calls get this error.
        case refused(code: String, message: String)
        /// The hello has been sent and not answered.
        case opening
        case open
        /// There is no connection; another one will be made.
        case lost
    }

    /// The origins that get the bridge.
    let bridgeOrigins: Set<PageOrigin>
    /// The user agent that the daemon gets.
    let userAgent: String
    private let hello: HelloLine
    private var phase = Phase.absent
    /// The origin of the address of the last commit.
    private var committed: PageOrigin?
    private var document: [UInt8] = []
    private var origin: PageOrigin?
    private var pages = PageDescription()
    private var waiting = BoundedLines(lines: PageSessionLimits.waitingLines, bytes: PageSessionLimits.waitingBytes)
    private var undelivered: [UInt8] = []
    /// The line with the handlers that clients have added; empty if none was ever added.
    private var handlers: [UInt8] = []
    /// Whether this line must be sent to the document's porter. Only the newest one waits.
    private var hasNewHandlers = false
    /// The number of posts of the document whose replies are held.
    private var heldPosts = 0
    private var pauses = RetryPauses()
    private var own: OwnCalls

    /// Creates the session of a view without a document.
    ///
    /// - Parameters:
    ///   - bridgeOrigins: The origins that get the bridge.
    ///   - userAgent: The user agent that the daemon gets.
    ///   - secret: 128 random bits in hexadecimal, in the ids of the container's own calls.
    init(bridgeOrigins: Set<PageOrigin>, userAgent: String, secret: String) {
        self.bridgeOrigins = bridgeOrigins
        self.userAgent = userAgent
        hello = HelloLine(secret: secret)
        own = OwnCalls(secret: secret)
    }

    /// Whether the limit of undelivered output is reached, so that no more may be read for the page.
    var isFull: Bool { undelivered.count >= PageSessionLimits.undeliveredBytes }

    /// The origin that the session represents; `nil` if there is no session and none is being opened.
    var spokenFor: PageOrigin? {
        switch phase {
        case .opening, .open: origin
        case .absent, .refused, .lost: nil
        }
    }

    // MARK: The engine

    /// Notes that the view has another document, or none. Calls of the old one are cancelled, its later posts dropped.
    mutating func commit(_ uri: String?) -> [Action] {
        committed = uri.flatMap { PageOrigin(ofURI: $0) }
        pages = PageDescription(uri: uri)
        let hadDocument = !document.isEmpty
        let ended = leave()
        return (hadDocument ? [.disconnect] : []) + ended
    }

    /// Notes that the address or the title of the document has changed.
    mutating func describe(_ description: PageDescription) -> [Action] {
        guard description != pages else { return [] }
        pages = description
        guard case .open = phase else { return [] }
        return [.send(hello.update(pages))]
    }

    /// Sets the handlers that documents have from now on.
    mutating func setHandlers(_ handlers: [PageHandler]) -> [Action] {
        self.handlers = PageLine.handlers(handlers)
        hasNewHandlers = !document.isEmpty
        return delivery()
    }

    private mutating func leave() -> [Action] {
        phase = .absent
        hasNewHandlers = false
        document = []
        origin = nil
        waiting.removeAll()
        undelivered = []
        heldPosts = 0
        pauses = RetryPauses()
        return endOwnCalls()
    }

    // MARK: The container's own calls

    /// Calls a task on the document's session; `nil` if there is no session and none is being opened, or too many calls
    /// are pending.
    mutating func call(_ task: String, _ options: JSON) -> (number: Int, actions: [Action])? {
        switch phase {
        case .absent, .refused, .lost: return nil
        case .opening:
            guard let call = own.begin(task, options) else { return nil }
            own.hold(call.number, call.line)
            return (call.number, [])
        case .open:
            guard let call = own.begin(task, options) else { return nil }
            return (call.number, [.send(call.line)])
        }
    }

    /// Cancels such a call; no action reports its end then.
    mutating func cancel(_ call: Int) -> [Action] {
        guard let line = own.cancel(call) else { return [] }
        return [.send(line)]
    }

    private mutating func endOwnCalls() -> [Action] { own.end().map { .ended(call: $0, result: nil) } }

    // MARK: The page

    /// Handles a post of the porter.
    mutating func posted(_ message: PageMessage) -> (actions: [Action], fate: Fate) {
        if message.kind == .hello { return (begin(message) + hold(), .begins) }
        guard !document.isEmpty, message.document == document else { return ([], .dropped) }
        let held = hold()
        return (message.kind == .line ? held + take(line: message.text) : held, .held)
    }

    /// Holds the reply of a post. If the maximum is already held, the oldest is answered with nothing.
    private mutating func hold() -> [Action] {
        heldPosts += 1
        let actions = delivery()
        guard heldPosts > PageSessionLimits.heldPosts else { return actions }
        heldPosts -= 1
        return [.deliver([])]
    }

    private mutating func begin(_ message: PageMessage) -> [Action] {
        var actions: [Action] = document.isEmpty ? [] : [.disconnect]
        actions += leave()
        document = message.document
        // Its shim may be older than the last change.
        hasNewHandlers = !handlers.isEmpty
        let text = String(decoding: message.text, as: UTF8.self)
        guard let origin = try? PageOrigin(text), origin == committed else {
            return actions + [refuse(text, "the document's origin is not that of the view's address")]
        }
        guard bridgeOrigins.contains(origin) else { return actions + [refuse(text, "the profile gives it no bridge")] }
        self.origin = origin
        phase = .opening
        actions.append(.connect(hello: hello.line(origin, pages, userAgent)))
        return actions
    }

    private mutating func refuse(_ origin: String, _ reason: String) -> Action {
        phase = .refused(code: "permission.denied", message: "\(origin) has no bridge here: \(reason)")
        return .refused(origin: origin, reason: reason)
    }

    private mutating func take(line: ArraySlice<UInt8>) -> [Action] {
        let line = LineEnds.replaced(in: line)
        switch phase {
        case .absent: return []
        case .open: return [.send(line)]
        case .refused(let code, let message): return deliver(PageLine.answers(to: line, code: code, message: message))
        case .opening, .lost:
            guard waiting.append(line) else {
                return deliver(PageLine.answers(to: line, code: "busy", message: "too many calls wait for the daemon"))
            }
            return []
        }
    }

    // MARK: The daemon

    /// Handles lines of the daemon, each with its line end.
    mutating func received(_ lines: [UInt8]) -> [Action] {
        guard case .opening = phase else { return pass(lines) }
        guard let answer = hello.answer(in: lines) else { return [] }
        guard let refusal = answer.refusal else {
            phase = .open
            pauses = RetryPauses()
            var actions: [Action] = origin.map { [.opened($0, session: answer.session)] } ?? []
            actions += (own.takeHeld() + waiting.takeAll()).map { .send($0) }
            return actions + pass(answer.rest)
        }
        let text = origin?.text ?? ""
        phase = .refused(code: refusal.code, message: refusal.message)
        let answers = waiting.takeAll().flatMap {
            PageLine.answers(to: $0, code: refusal.code, message: refusal.message)
        }
        return [.disconnect, .refused(origin: text, reason: refusal.message)] + endOwnCalls() + deliver(answers)
    }

    private mutating func pass(_ lines: [UInt8]) -> [Action] {
        guard case .open = phase, !lines.isEmpty else { return [] }
        let (answers, rest) = own.takeAnswers(lines)
        let ended = answers.map { Action.ended(call: $0.number, result: $0.result) }
        return ended + deliver(rest) + (PageLine.containsClose(rest) ? [.close] : [])
    }

    /// Handles the end of the connection, or the failure to make one.
    mutating func disconnected() -> [Action] {
        switch phase {
        case .absent, .refused, .lost: return []
        case .opening:
            phase = .lost
            return endOwnCalls() + [.retry(after: pauses.next())]
        case .open:
            phase = .lost
            return endOwnCalls() + deliver(PageLine.lost) + [.retry(after: pauses.next())]
        }
    }

    /// Continues after the pause of ``Action/retry(after:)``.
    mutating func retry() -> [Action] {
        guard case .lost = phase, let origin else { return [] }
        phase = .opening
        return [.connect(hello: hello.line(origin, pages, userAgent))]
    }

    // MARK: To the page

    private mutating func deliver(_ lines: [UInt8]) -> [Action] {
        undelivered += lines
        return delivery()
    }

    private mutating func delivery() -> [Action] {
        guard heldPosts > 0, hasNewHandlers || !undelivered.isEmpty else { return [] }
        let lines = (hasNewHandlers ? handlers : []) + undelivered
        heldPosts -= 1
        hasNewHandlers = false
        undelivered = []
        return [.deliver(lines)]
    }
}
