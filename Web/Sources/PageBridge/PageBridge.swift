// PageBridge: the bridge of the document that a view shows. It passes lines, unread, between the page's porter and a
// socket of the document's own. The daemon checks them, counts them and decides about them.
public import BridgeJSON
internal import MainLoop
public import WebProfiles

/// The owner of a bridge, which passes its lines to the page.
@MainActor
public protocol PageBridgeDelegate: AnyObject {
    /// Answers the oldest held post of the porter with these lines, or with none.
    func pageBridge(_ bridge: PageBridge, delivers lines: [UInt8])
    /// Called when the document has its session.
    func pageBridge(_ bridge: PageBridge, openedFor origin: PageOrigin, session: Int64?)
    /// Called when the document gets no session.
    func pageBridge(_ bridge: PageBridge, refused origin: String, because reason: String)
    /// Called when the daemon has closed the page.
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
    /// The delegate, which passes the lines to the page.
    public weak var delegate: (any PageBridgeDelegate)?

    /// Creates a bridge without a document.
    ///
    /// - Parameters:
    ///   - socket: The path of the daemon's socket.
    ///   - bridgeOrigins: The origins that get the bridge.
    ///   - userAgent: The user agent that the daemon gets.
    public init(socket: String, bridgeOrigins: Set<PageOrigin>, userAgent: String) {
        self.socket = socket
        session = PageSession(bridgeOrigins: bridgeOrigins, userAgent: userAgent, secret: RandomName.make())
    }

    /// The number of documents that the view had.
    public private(set) var documentNumber = 0
    /// The origin that the document's session represents; `nil` if there is no session and none is being opened.
    public var origin: PageOrigin? { session.spokenFor }

    /// Notes that the view has another document, or none.
    ///
    /// - Parameter uri: The document's address; `nil` for none.
    public func commit(_ uri: String?) {
        documentNumber += 1
        perform(session.commit(uri))
    }

    /// Notes that the address or the title of the document has changed.
    ///
    /// - Parameter description: The current ones.
    public func describe(_ description: PageDescription) { perform(session.describe(description)) }

    /// Sets the handlers that clients have added, for the current document and later ones. Other handlers are removed.
    ///
    /// - Parameter handlers: All handlers.
    public func setHandlers(_ handlers: [PageHandler]) { perform(session.setHandlers(handlers)) }

    /// Handles a text that the porter has posted.
    ///
    /// - Parameter text: The text.
    /// - Returns: The outcome of the post; the caller must then call ``finish(_:)``.
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

    /// Performs the actions of a post. Called after its reply has been held or dropped.
    ///
    /// - Parameter outcome: The outcome of the post.
    public func finish(_ outcome: PostOutcome) { perform(outcome.actions) }

    // MARK: The container's own calls

    /// Calls a task on the document's session, after the daemon has accepted its hello.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - options: Its options.
    ///   - completion: Receives the result once, later; `nil` if the call failed, or its document was replaced.
    /// - Returns: The call's number; `nil` if the document has no session, or too many calls are pending.
    public func call(_ task: String, _ options: JSON, _ completion: @escaping @MainActor (JSON?) -> Void) -> Int? {
        guard let call = session.call(task, options) else { return nil }
        completions[call.number] = completion
        perform(call.actions)
        return call.number
    }

    /// Cancels such a call; its completion is then not called.
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

/// The outcome of a post of the porter.
public struct PostOutcome {
    /// The kind of an outcome.
    public enum Kind: Sendable {
        /// The reply is held until there are lines for the page.
        case held
        /// Like `held`; the posts that were held before belong to another document.
        case begins
        /// The post is not from the view's document and is refused.
        case dropped
    }

    /// The kind.
    public let kind: Kind
    let actions: [PageSession.Action]
}
