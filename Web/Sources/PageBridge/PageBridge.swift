// PageBridge: the bridge of the document that a view shows. Lines go between the page's porter and a socket of the
// document's own, unread; the daemon checks them, counts them and decides about them.
public import BridgeJSON
internal import MainLoop
public import WebProfiles

/// Who owns a bridge, and carries its texts to the page.
@MainActor
public protocol PageBridgeDelegate: AnyObject {
    /// The oldest post of the porter's that is held is to be answered with these lines, or with none.
    func pageBridge(_ bridge: PageBridge, delivers lines: [UInt8])
    /// The document has its session.
    func pageBridge(_ bridge: PageBridge, openedFor origin: PageOrigin, session: Int64?)
    /// The document gets none.
    func pageBridge(_ bridge: PageBridge, refused origin: String, because reason: String)
    /// The daemon closed the page.
    func pageBridgeClosed(_ bridge: PageBridge)
}

/// The bridge of one view: one session, and one socket, for each document.
@MainActor
public final class PageBridge {
    private let socket: String
    private var session: PageSession
    private var link: PageLink?
    private var retry: LoopSource?
    private var completions: [Int: @MainActor (JSON?) -> Void] = [:]
    /// Who carries its texts.
    public weak var delegate: (any PageBridgeDelegate)?

    /// A bridge without a document.
    ///
    /// - Parameters:
    ///   - socket: Where the daemon listens.
    ///   - lent: Who gets the bridge.
    ///   - userAgent: The description of the engine that the daemon gets.
    public init(socket: String, lent: Set<PageOrigin>, userAgent: String) {
        self.socket = socket
        session = PageSession(lent: lent, userAgent: userAgent, secret: RandomName.make())
    }

    /// Counts the documents that the view had.
    public private(set) var documentNumber = 0
    /// Whom the session of the document speaks for; nil: there is none, and none is on its way.
    public var origin: PageOrigin? { session.spokenFor }

    /// Another document is the view's now, or none.
    ///
    /// - Parameter uri: Its address.
    public func commit(_ uri: String?) {
        documentNumber += 1
        perform(session.commit(uri))
    }

    /// The address or the title of the document changed.
    ///
    /// - Parameter description: What they are now.
    public func describe(_ description: PageDescription) { perform(session.describe(description)) }

    /// Gives the document, and those to come, handlers that clients have added, and takes the others from it.
    ///
    /// - Parameter handlers: All of them.
    public func setHandlers(_ handlers: [PageHandler]) { perform(session.setHandlers(handlers)) }

    /// The porter posted a text.
    ///
    /// - Parameter text: The text.
    /// - Returns: What becomes of the post; then ``finish(_:)`` is to be called.
    public func posted(_ text: [UInt8]) -> PostOutcome {
        guard let message = PageMessage(text) else { return PostOutcome(kind: .dropped, actions: []) }
        let (actions, fate) = session.posted(message)
        let kind: PostOutcome.Kind =
            switch fate {
            case .held: .held
            case .begins: .begins
            case .dropped: .dropped
            }
        return PostOutcome(kind: kind, actions: actions)
    }

    /// Does what a post has led to. After the reply has been held or dropped.
    ///
    /// - Parameter outcome: The post's.
    public func finish(_ outcome: PostOutcome) { perform(outcome.actions) }

    // MARK: The container's own calls

    /// Calls a task on the session of the document, once the daemon has taken its hello.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - options: Its options.
    ///   - completion: Gets the result once, later; nil where the call failed, or its document has gone.
    /// - Returns: The call's number; nil: the document has no session.
    public func call(_ task: String, _ options: JSON, _ completion: @escaping @MainActor (JSON?) -> Void) -> Int? {
        guard let call = session.call(task, options) else { return nil }
        completions[call.number] = completion
        perform(call.actions)
        return call.number
    }

    /// Cancels such a call, whose completion is not called then.
    ///
    /// - Parameter call: Its number.
    public func cancel(_ call: Int) {
        guard completions.removeValue(forKey: call) != nil else { return }
        perform(session.cancel(call))
    }

    private func perform(_ actions: [PageSession.Action]) {
        for action in actions { perform(action) }
        link?.setPaused(session.isFull)
    }

    private func perform(_ action: PageSession.Action) {
        switch action {
        case .connect(let hello): connect(hello)
        case .send(let line): link?.send(line)
        case .disconnect: disconnect()
        case .deliver(let lines): delegate?.pageBridge(self, delivers: lines)
        case .retry(let pause):
            retry = .timer(after: pause) { [weak self] in self.map { $0.perform($0.session.retry()) } }
        case .opened(let origin, let session):
            delegate?.pageBridge(self, openedFor: origin, session: session)
        case .refused(let origin, let reason): delegate?.pageBridge(self, refused: origin, because: reason)
        case .ended(let call, let result): completions.removeValue(forKey: call)?(result)
        case .close: delegate?.pageBridgeClosed(self)
        }
    }

    private func connect(_ hello: [UInt8]) {
        disconnect()
        link = PageLink(
            path: socket, onLines: { [weak self] lines in self.map { $0.perform($0.session.received(lines)) } },
            onEnd: { [weak self] in self?.ended() })
        guard let link else { return ended() }
        link.send(hello)
    }

    private func ended() {
        link = nil
        perform(session.disconnected())
    }

    private func disconnect() {
        retry?.cancel()
        retry = nil
        link?.close()
        link = nil
    }
}

/// What becomes of a post of the porter's.
public struct PostOutcome {
    /// The kinds.
    public enum Kind: Sendable {
        /// Answered by lines for the page.
        case held
        /// As `held`, and the posts that were held before are another document's.
        case begins
        /// Not of the view's document: refused.
        case dropped
    }

    /// The kind.
    public let kind: Kind
    let actions: [PageSession.Action]
}
