import HTTPRules
import TaskKit

/// Answers requests from the response store, and fills the store: RFC 9111, for a private cache.
struct CacheStage: HopStage {
    let cache: HTTPCache
    let shared: SharedLoads
    let suffixes: PublicSuffixList?
    let now: @Sendable () -> UnixTime
    /// Returns whether a user's requests must not use the network.
    var isOffline: @Sendable (UInt32) -> Bool = { _ in false }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let hop = hop.completed(context.settings)
        let caller = context.call.caller
        let profile = context.request.cookies.profile
        // Data of a private profile must stay in memory and must not reach the disk.
        guard !profile.isPrivate else { return try await pass(hop, context, next) }
        let partition = CachePartition(uid: caller.uid, profile: profile, origin: caller.origin, suffixes)
        let load = CachedLoad(
            stage: self, hop: hop, context: context, next: next,
            address: CacheAddress(partition, hop.keyURL ?? hop.url, key: context.request.cacheKey),
            request: CacheRequest(method: hop.method, fields: hop.headers, policy: policy(context)))
        return try await load.run()
    }

    /// Returns the cache policy. A user who is offline gets stored responses of any age. Policies other than the
    /// default require the server, or behave this way already.
    private func policy(_ context: LoadContext) -> CachePolicy {
        let policy = context.request.cache
        return policy == .useProtocol && isOffline(context.user) ? .returnElseLoad : policy
    }

    /// Loads without using or filling the store.
    private func pass(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        guard context.request.cache != .returnDontLoad else { throw .cacheMiss }
        var response = try await next.load(hop, context)
        response.cache = response.cache ?? CacheReport(state: .bypass)
        return response
    }
}

/// One request that may be answered from the store.
struct CachedLoad: Sendable {
    /// The maximum number of attempts of a request whose stored response disappears meanwhile.
    static let maximumAttempts = 3

    let stage: CacheStage
    let hop: Hop
    let context: LoadContext
    let next: HopWay
    let address: CacheAddress
    let request: CacheRequest

    var cache: HTTPCache { stage.cache }
    private var now: UnixTime { stage.now() }

    func run() async throws(BridgeError) -> HopResponse {
        var mayShare = isShareable
        for _ in 0..<Self.maximumAttempts {
            let entries = await entries()
            let decision = CacheDecision(for: request, stored: entries.map(\.response), at: now)
            switch decision.action {
            case .miss: throw .cacheMiss
            case .answer(let answer):
                if let response = try await respond(answer, entries, steps: decision.steps) { return response }
            case .answerAndRevalidate(let answer, let load):
                if let response = try await respond(answer, entries, steps: decision.steps) {
                    await validateInBackground(load, entries)
                    return response
                }
            case .load(let load):
                guard mayShare else { return try await perform(load, entries, decision.steps) }
                switch try await share(load, entries, decision.steps) {
                case .response(let response): return response
                case .again(let isShareable): mayShare = isShareable
                }
            }
        }
        return try await loadAnew(CacheSteps())
    }

    /// Loads the whole response whose stored body no longer exists.
    func loadAnew(_ steps: CacheSteps) async throws(BridgeError) -> HopResponse {
        let decision = CacheDecision(for: request, stored: [], at: now)
        guard case .load(let load) = decision.action else { throw .cacheMiss }
        return try await perform(load, [], steps)
    }

    /// Returns the entries of the URL. Entries with a content coding are omitted for a range request, which refers to
    /// the plain body.
    func entries() async -> [CacheEntry] {
        guard request.canBeAnsweredFromStore, request.policy != .noStore else { return [] }
        let entries = await cache.entries(at: address)
        guard request.fields.contains(named: "Range") else { return entries }
        return entries.filter { !$0.response.fields.contains(named: "Content-Encoding") }
    }

    // MARK: Answers from the store

    /// Returns the stored response; `nil` if its body no longer exists.
    func respond(
        _ answer: StoredAnswer, _ entries: [CacheEntry], steps: CacheSteps, isConfirmed: Bool = false
    ) async throws(BridgeError) -> HopResponse? {
        guard let entry = entries.first(where: { $0.response.id == answer.stored.id }) else { return nil }
        var parts: [BodyPart] = []
        if let range = answer.bytes, !range.isEmpty {
            guard let part = await part(range, of: entry) else {
                await cache.update([], remove: [entry.response.id], at: address)
                return nil
            }
            parts = [part]
        }
        cache.note(used: entry.response.id)
        cache.countHit()
        let now = now
        let fields = answer.fields(at: now)
        let isFresh = answer.stored.isFresh(at: now)
        let body = try StoredBody(
            parts, fields, context.request, isReceived: false, cache.bodies, of: context.user)
        let head = ResponseHead(
            status: answer.status, reason: answer.status == answer.stored.status ? entry.reason : "",
            version: entry.version, headers: fields)
        return HopResponse(
            head: head, body: body, from: "cache",
            cache: CacheReport(
                state: isConfirmed ? .revalidated : isFresh ? .fresh : .stale,
                age: fields.first(named: "Age").flatMap { Int64($0) }, steps: steps, isStored: true))
    }

    /// Returns bytes of a stored body; `nil` if they no longer exist.
    func part(_ range: Range<Int64>, of entry: CacheEntry) async -> BodyPart? {
        switch entry.body {
        case .bytes(let bytes):
            guard range.upperBound <= bytes.count else { return nil }
            return .bytes(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        case .file(let name):
            guard let file = await cache.file(name, of: context.user), file.byteCount >= range.upperBound else {
                return nil
            }
            return .file(file, range)
        }
    }

    /// Validates an entry in the background. Returns when the request was sent, because its cookies and other parts are
    /// requested on behalf of the call, which must not end before.
    private func validateInBackground(_ load: CacheLoad, _ entries: [CacheEntry]) async {
        guard stage.shared.beginInBackground(address) else { return }
        let sent = SharedLoad()
        var background = hop
        background.onSend = { sent.publish(.nothing) }
        let validation = CachedLoad(
            stage: stage, hop: background, context: context, next: next, address: address, request: request)
        Task(executorPreference: context.call.plugin.executor) {
            _ = try? await validation.perform(load, entries, CacheSteps())
            stage.shared.endInBackground(address)
            sent.publish(.nothing)
        }
        _ = await sent.wait(context.call.plugin)
    }

    // MARK: One transfer for several requests

    /// Whether other requests for the URL could use the response to this one.
    private var isShareable: Bool {
        let own = ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"]
        let isOrdinary = !own.contains { request.fields.contains(named: $0) }
        let mayWait = [.useProtocol, .returnElseLoad].contains(request.policy)
        return request.method == "GET" && mayWait && isOrdinary && !request.directives.isNoStore
            && !request.directives.isNoCache && cache.maximumBodyBytes != nil
    }

    /// The result of an attempt to share a load.
    private enum Shared {
        case response(HopResponse)
        /// The store must be read again. The request may then wait for others again, or loads alone.
        case again(isShareable: Bool)
    }

    /// Loads, or waits for another request that loads.
    private func share(
        _ load: CacheLoad, _ entries: [CacheEntry], _ steps: CacheSteps
    ) async throws(BridgeError) -> Shared {
        if Task.isCancelled { throw .fetchCancelled }
        switch stage.shared.enter(address, at: now) {
        case .alone: return .response(try await perform(load, entries, steps))
        case .lead(let lead):
            do throws(BridgeError) {
                return .response(try await perform(load, entries, steps, leading: lead))
            } catch {
                stage.shared.end(lead, of: address, error.code == .callCancelled ? .cancelled : .nothing)
                throw error
            }
        case .follow(let other):
            let outcome = await other.wait(context.call.plugin)
            // If all requests are cancelled, the loading one may notice it first. The others must not begin again.
            if Task.isCancelled { throw .fetchCancelled }
            switch outcome {
            case .response(let response):
                guard let followed = try follow(response, steps) else { return .again(isShareable: false) }
                return .response(followed)
            case .confirmed: return .again(isShareable: false)
            case .cancelled: return .again(isShareable: true)
            case .nothing, nil: return .response(try await perform(load, entries, steps))
            }
        }
    }

    /// Reads a body that is arriving; returns `nil` if it does not answer this request.
    private func follow(_ response: SharedResponse, _ steps: CacheSteps) throws(BridgeError) -> HopResponse? {
        let use = StoredUse(of: response.stored, for: request.directives, at: now)
        let isFresh = use == .fresh || request.policy == .returnElseLoad
        guard response.stored.selecting.fits(request.fields) else {
            stage.shared.noteUnshared(address, at: now)
            return nil
        }
        guard isFresh, let reader = response.body.reader() else { return nil }
        cache.countHit()
        let age = response.stored.age(at: now).components.seconds
        let body = try StoredBody(
            [.growing(reader)], response.head.headers, context.request, isReceived: false, cache.bodies,
            of: context.user)
        return HopResponse(
            head: response.head, body: body, from: "cache",
            cache: CacheReport(state: .fresh, age: age, steps: steps, isStored: true))
    }
}

extension BridgeError {
    /// `http.cache_miss`.
    static let cacheMiss = BridgeError(
        .httpCacheMiss, "the response is not stored, and the request may not go to the server")

    /// `storage.failed`.
    static let cacheUnusable = BridgeError(
        .storageFailed, "the cache cannot be used: see the daemon's log", isTransient: true)
}
