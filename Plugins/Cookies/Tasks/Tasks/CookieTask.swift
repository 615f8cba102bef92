import HTTPRules
import Synchronization
import TaskKit

/// The state that the tasks share.
struct CookieService: Sendable {
    let lane = CookieLane()
    let suffixes: SuffixHolder

    /// The permission to read the values of HttpOnly cookies.
    static let secrets = "cookies.secrets"
    /// The permission to take and put cookies for any site, which the plugin that makes requests needs. Its name is
    /// outside `cookies.*`, because a page may have a rule for those names.
    static let requests = "requests.cookies"
}

/// The caller of a task, with its page and its permission for secrets.
struct CookieVisitor: Sendable {
    let caller: Caller
    /// The calling page; `nil` for a program of the user.
    let page: CookiePage?
    /// Whether values of HttpOnly cookies are shown.
    let showsSecrets: Bool

    /// The caller's view of a profile.
    var view: CookieView { page.map { .page($0) } ?? .local(showsSecrets: showsSecrets) }

    /// Returns the profile that an option names. A page may only use the profile `default`.
    ///
    /// - Throws: `options.invalid`, `permission.denied`.
    func profile(named name: String?) throws(BridgeError) -> ProfileID {
        let profile = try ProfileID(uid: caller.uid, naming: name)
        guard page == nil || profile == .standard(of: caller.uid) else {
            throw BridgeError(.permissionDenied, "a page uses the profile default, and names no other")
        }
        return profile
    }

    /// Refuses a page.
    ///
    /// - Throws: `permission.denied`.
    func requireLocal(_ what: String) throws(BridgeError) {
        guard page != nil else { return }
        throw BridgeError(.permissionDenied, "a page may not \(what)")
    }

    /// Returns the context of the script or request for the URL of an option.
    ///
    /// - Throws: `options.invalid`; `permission.denied`, if a page names a URL of another origin.
    func context(of text: String?, _ engine: CookieEngine) throws(BridgeError) -> CookieContext {
        guard let text = text ?? page.map({ $0.origin.text + "/" }) else {
            throw .unfit("$.url", expected: "a URL", got: "nothing")
        }
        let url = try Self.url(text)
        guard let page else {
            var context = CookieContext(url: url)
            context.trustsLoopback = engine.store.settings.secureLocalhost
            return context
        }
        guard url.origin == page.origin else {
            throw BridgeError(.permissionDenied, "a page of \(page.origin) has no cookies of another origin")
        }
        return page.context(of: url)
    }

    static func url(_ text: String, at path: String = "$.url") throws(BridgeError) -> WebURL {
        do throws(AddressRefusal) {
            return try WebURL(text)
        } catch {
            throw .unfit(path, expected: "a URL of http or https", got: "an invalid string")
        }
    }
}

/// A task that runs on the store's thread.
///
/// It is a raw task for two reasons: a call is queued before the next call of its session begins, except for calls that
/// ask for the permission for secrets first, and events that are sent after its answer arrive after it.
protocol CookieTask: RawTask {
    associatedtype Request: Decodable & Sendable
    /// Whether a page may call it.
    static var isForPages: Bool { get }
    /// Whether the answer contains the values of HttpOnly cookies if the caller has the permission. The call of a
    /// program is then queued after the policy's answer: calls that the session makes meanwhile may be performed before
    /// it.
    static var asksForSecrets: Bool { get }
    var service: CookieService { get }

    /// Performs the work on the store's thread. If it throws, it has changed nothing.
    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome
}

extension CookieTask {
    static var checksOptions: Bool { true }
    static var isForPages: Bool { false }
    static var asksForSecrets: Bool { false }

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        // On the loop, before the session can be reported as closed.
        service.lane.note(CollectionOfOne(call.caller.session))
        let text = options.withUnsafeBytes { Array($0) }
        let reply = HeldReply(reply)
        let page: CookiePage?
        do throws(BridgeError) {
            page = try self.page(call.caller)
        } catch {
            return reply.give(.failure(error))
        }
        guard Self.asksForSecrets, page == nil else {
            return submit(text, call, reply, CookieVisitor(caller: call.caller, page: page, showsSecrets: false))
        }
        Task(executorPreference: call.plugin.executor) {
            let may = await Self.mayShowSecrets(call)
            submit(text, call, reply, CookieVisitor(caller: call.caller, page: nil, showsSecrets: may))
        }
    }

    private func submit(_ text: [UInt8], _ call: Call, _ reply: HeldReply, _ visitor: CookieVisitor) {
        service.lane.submit(BridgeCall(task: self, text: text, call: call, reply: reply, visitor: visitor))
    }

    /// Returns the calling page; `nil` for a local session.
    private func page(_ caller: Caller) throws(BridgeError) -> CookiePage? {
        if caller.origin == "local" || caller.session == 0 { return nil }
        guard Self.isForPages else {
            throw BridgeError(.permissionDenied, "\(Self.name) is for programs of the user, not for pages")
        }
        guard let origin = try? WebOrigin(international: caller.origin) else {
            throw BridgeError(.permissionDenied, "only pages of http and https have cookies")
        }
        guard let page = service.suffixes.page(origin) else { throw .storeNotOpen }
        return page
    }

    /// Returns whether the policy permits the caller to read the values of HttpOnly cookies.
    private static func mayShowSecrets(_ call: Call) async -> Bool {
        let question: JSON = ["task": .string(CookieService.secrets)]
        let answer: JSON? = try? await call.call("bridge.explain", question)
        return answer?["allowed"]?.boolValue ?? false
    }
}

/// A call of a task that arrived over the bridge.
private final class BridgeCall<T: CookieTask>: CookieCall {
    let task: T
    let text: [UInt8]
    let call: Call
    let reply: HeldReply
    let visitor: CookieVisitor
    private let rest = Mutex<(@Sendable (Call) async throws(BridgeError) -> JSON)?>(nil)

    init(task: T, text: [UInt8], call: Call, reply: HeldReply, visitor: CookieVisitor) {
        (self.task, self.text, self.call, self.reply, self.visitor) = (task, text, call, reply, visitor)
    }

    var uid: UInt32 { call.caller.uid }
    var isCancelled: Bool { call.isCancelled }
    var sizeBytes: Int { text.count }

    func perform(_ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome {
        let request: T.Request
        do throws(JSONMismatch) {
            request = try JSONCoding.decode(T.Request.self, text: text, unknownKeys: .refuse)
        } catch {
            throw BridgeError(error)
        }
        let outcome = try task.perform(request, visitor, &engine)
        if let profile = outcome.profile { engine.note(call.caller.session, uses: profile) }
        rest.withLock { $0 = outcome.rest }
        return outcome
    }

    func answer(_ outcome: Result<[UInt8], BridgeError>) {
        guard case .success = outcome, let rest = rest.withLock({ $0 }) else { return reply.give(outcome) }
        let (call, reply) = (call, reply)
        Task(executorPreference: call.plugin.executor) {
            do throws(BridgeError) {
                var bytes: [UInt8] = []
                try await rest(call).write(to: &bytes)
                reply.give(.success(bytes))
            } catch {
                reply.give(.failure(error))
            }
        }
    }
}
