import HTTPRules
import TaskKit

/// Answers requests from the store of responses, and fills it: RFC 9111, for a private cache.
struct CacheStage: HopStage {
    let cache: HTTPCache
    let shared: SharedLoads
    let suffixes: PublicSuffixList?
    let now: @Sendable () -> UnixTime
    /// Whether a user's requests are kept from the network.
    var isOffline: @Sendable (UInt32) -> Bool = { _ in false }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let hop = hop.completed(context.settings)
        let caller = context.call.caller
        let profile = context.request.cookies.profile
        // What is kept in memory only does not come to the disk.
        guard !profile.isPrivate else { return try await pass(hop, context, next) }
        let partition = CachePartition(uid: caller.uid, profile: profile, origin: caller.origin, suffixes)
        let load = CachedLoad(
            stage: self, hop: hop, context: context, next: next,
            address: CacheAddress(partition, hop.keyURL ?? hop.url, key: context.request.cacheKey),
            request: CacheRequest(method: hop.method, fields: hop.headers, policy: policy(context)))
        return try await load.run()
    }

    /// Where the server cannot be asked, what is stored answers at any age. Other policies than the standard one want
    /// the server, or do the same already.
    private func policy(_ context: LoadContext) -> CachePolicy {
        let policy = context.request.cache
        return policy == .useProtocol && isOffline(context.user) ? .returnElseLoad : policy
    }

    /// Neither asks the store nor fills it.
    private func pass(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        guard context.request.cache != .returnDontLoad else { throw .cacheMiss }
        var response = try await next.load(hop, context)
        response.cache = response.cache ?? CacheReport(state: .bypass)
        return response
    }
}

/// One request, and what the store has for it.
struct CachedLoad: Sendable {
    /// How often a request begins again, where what was found is gone in the meantime.
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
                    await validateBehind(load, entries)
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

    /// Loads all of a response whose stored body is gone.
    func loadAnew(_ steps: CacheSteps) async throws(BridgeError) -> HopResponse {
        let decision = CacheDecision(for: request, stored: [], at: now)
        guard case .load(let load) = decision.action else { throw .cacheMiss }
        return try await perform(load, [], steps)
    }

    /// What is stored of the URL. A part of a coded body is of no use to who asks for a part of the plain one.
    func entries() async -> [CacheEntry] {
        guard request.canBeAnsweredFromStore, request.policy != .noStore else { return [] }
        let entries = await cache.entries(at: address)
        guard request.fields.contains(named: "Range") else { return entries }
        return entries.filter { !$0.response.fields.contains(named: "Content-Encoding") }
    }

    // MARK: Answers from the store

    /// The response that the store answers with; nil where it has lost the body.
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

    /// Bytes of a stored body; nil: they are gone.
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

    /// Asks the server with nobody waiting. It returns when the request has gone out: what belongs to it, such as
    /// cookies, is got in the name of a call that is not over.
    private func validateBehind(_ load: CacheLoad, _ entries: [CacheEntry]) async {
        guard stage.shared.beginBehind(address) else { return }
        let sent = SharedLoad()
        var behind = hop
        behind.onSend = { sent.publish(.nothing) }
        let validation = CachedLoad(
            stage: stage, hop: behind, context: context, next: next, address: address, request: request)
        Task(executorPreference: context.call.plugin.executor) {
            _ = try? await validation.perform(load, entries, CacheSteps())
            stage.shared.endBehind(address)
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

    /// What came of an attempt to share a load.
    private enum Shared {
        case response(HopResponse)
        /// The store is to be asked once more; then the request may wait for others again, or loads for itself.
        case again(isShareable: Bool)
    }

    /// Loads, or waits for another request that does.
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
            // Where all are cancelled, the one that loads may notice it first: none of the others begins again.
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

    /// Reads a body on its way; nil where it does not answer this request.
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
        .storageFailed, "the cache cannot be used: the daemon's log says why", isTransient: true)
}
