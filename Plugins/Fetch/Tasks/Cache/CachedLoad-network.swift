import HTTPRules
import TaskKit

/// The network part of a request, and the storing of its response.
extension CachedLoad {
    /// One request to the server, with its response.
    private struct Exchange {
        var load: CacheLoad
        var entries: [CacheEntry]
        var steps: CacheSteps
        var response: HopResponse
        var network: NetworkResponse
        /// The shared load whose followers wait for the response; `nil` if there is none.
        var lead: SharedLoad?
        /// The number of removals of the user when the request was sent.
        var removals: UInt64

        var stored: [StoredResponse] { entries.map(\.response) }
    }

    /// Sends the request, and handles the response as the caching rules specify.
    ///
    /// - Parameters:
    ///   - load: The request, with the fields that the store adds.
    ///   - entries: All entries of the URL.
    ///   - steps: The cache steps so far.
    ///   - lead: The shared load whose followers wait for the response; `nil` if there is none.
    func perform(
        _ load: CacheLoad, _ entries: [CacheEntry], _ steps: CacheSteps, leading lead: SharedLoad? = nil
    ) async throws(BridgeError) -> HopResponse {
        var out = hop
        out.headers = load.fields
        out.keepsCoding = keepsCoding(load)
        let requestedAt = stage.now()
        let removals = stage.shared.removals(of: context.user)
        let response: HopResponse
        do throws(BridgeError) {
            response = try await next.load(out, context)
        } catch {
            guard error.isFailedConnection, let answer = load.answerAfterFailure(at: stage.now()),
                let stale = try await respond(answer, entries, steps: steps)
            else { throw error }
            if let lead { stage.shared.end(lead, of: address) }
            return stale
        }
        let network = NetworkResponse(
            status: response.head.status, fields: response.head.headers, requestedAt: requestedAt,
            receivedAt: stage.now())
        await invalidate(load, network)
        let exchange = Exchange(
            load: load, entries: entries, steps: steps, response: response, network: network, lead: lead,
            removals: removals)
        return try await conclude(exchange)
    }

    /// Returns a function that decides whether a body is requested without decoding, because it is stored that way;
    /// `nil` if nothing can be stored.
    private func keepsCoding(_ load: CacheLoad) -> (@Sendable (ResponseHead) -> Bool)? {
        guard request.policy != .noStore, let maximum = cache.maximumBodyBytes else { return nil }
        let request = load.request
        return { head in
            let moment = UnixTime(seconds: 0)
            let response = NetworkResponse(
                status: head.status, fields: head.headers, requestedAt: moment, receivedAt: moment)
            return head.announcedBytes <= maximum
                && Storable.refusal(of: response, to: request, isContentOfURL: true) == nil
        }
    }

    private func conclude(_ exchange: Exchange) async throws(BridgeError) -> HopResponse {
        let isContent =
            exchange.network.fields.first(named: "Content-Location").map { resolved($0) == hop.url } ?? false
        let outcome = exchange.load.outcome(
            of: exchange.network, stored: exchange.stored, isContentOfURL: isContent)
        var exchange = exchange
        exchange.steps.hasChanged = exchange.load.hasChanged(after: outcome, of: exchange.network)
        if case .store(let response) = outcome {
            if let stored = try await store(response, exchange) { return stored }
            return try pass(exchange)
        }
        defer { if let lead = exchange.lead { stage.shared.end(lead, of: address) } }
        switch outcome {
        case .store, .notModified: return try pass(exchange)
        case .pass:
            if exchange.lead != nil { stage.shared.noteUnshared(address, at: stage.now()) }
            return try pass(exchange)
        case .passAndUpdate(let updated, let removed):
            await cache.update(updated, remove: removed, at: address)
            return try pass(exchange)
        case .freshened(let updated, let removed, let answer):
            return try await confirm(updated, removed, answer, exchange)
        case .again(let load):
            exchange.response.body.cancel()
            return try await perform(load, exchange.entries, exchange.steps)
        case .join(let response, let range):
            if let joined = try await join(response, range, exchange) { return joined }
            return try pass(exchange)
        case .stale(let answer):
            if let stale = try await respond(answer, exchange.entries, steps: exchange.steps) {
                exchange.response.body.cancel()
                return stale
            }
            return try pass(exchange)
        }
    }

    // MARK: Responses that are not stored

    /// Returns the response without storing it.
    private func pass(_ exchange: Exchange) throws(BridgeError) -> HopResponse {
        var response = exchange.response
        response.cache = report(exchange, isStored: false)
        guard response.head.isBodyAsSent else { return response }
        response.body = try StoredBody(
            [.passing(response.body)], response.head.headers, context.request, isReceived: true, cache.bodies,
            of: context.user)
        return response
    }

    private func report(_ exchange: Exchange, isStored: Bool) -> CacheReport {
        let asks: [CachePolicy] = [.useProtocol, .returnElseLoad, .reloadRevalidating]
        let isAsked = asks.contains(request.policy) && request.canBeAnsweredFromStore && cache.maximumBodyBytes != nil
        return CacheReport(state: isAsked ? .miss : .bypass, steps: exchange.steps, isStored: isStored)
    }

    /// Removes the entries that an unsafe request has made invalid.
    private func invalidate(_ load: CacheLoad, _ response: NetworkResponse) async {
        guard let invalidation = Invalidation(method: load.request.method, response: response) else { return }
        var places = [address]
        for reference in invalidation.references {
            guard let url = resolved(reference), url.origin == hop.url.origin else { continue }
            places.append(CacheAddress(address.partition, url, key: context.request.cacheKey))
        }
        // An entry without the caller's key belongs to the same URL.
        let plain = CacheAddress(address.partition, hop.keyURL ?? hop.url, key: nil)
        places += context.request.cacheKey == nil ? [] : [plain]
        for place in places { await cache.remove(at: place) }
    }

    private func resolved(_ reference: String) -> WebURL? {
        FieldText.encode(reference).flatMap { try? hop.url.resolving(bytes: $0) }
    }

    // MARK: Responses that are stored

    /// Answers with a stored response that the server has confirmed.
    private func confirm(
        _ updated: [StoredResponse], _ removed: [Int64], _ answer: StoredAnswer, _ exchange: Exchange
    ) async throws(BridgeError) -> HopResponse {
        exchange.response.body.cancel()
        // The answer does not wait for the disk.
        cache.note(confirmed: updated, remove: removed, at: address)
        exchange.lead?.publish(.confirmed)
        let answered = try await respond(answer, exchange.entries, steps: exchange.steps, isConfirmed: true)
        if let answered { return answered }
        return try await loadAnew(exchange.steps)
    }

    /// Stores a response while its body arrives; returns `nil` if it cannot be stored.
    private func store(_ response: StoredResponse, _ exchange: Exchange) async throws(BridgeError) -> HopResponse? {
        let head = exchange.response.head
        let lead = exchange.lead
        let isPlain = head.isBodyAsSent || !head.headers.contains(named: "Content-Encoding")
        guard let maximum = cache.maximumBodyBytes, isPlain, head.announcedBytes <= maximum else {
            if let lead { stage.shared.end(lead, of: address) }
            return nil
        }
        let stored = response.selected(by: exchange.response.sent, request.fields)
        let base = stored.status == 206 ? ContentRange(stored.fields)?.range?.lowerBound ?? 0 : 0
        let body = growingBody(exchange, base)
        let reader = exchange.load.isBackground ? nil : body.reader()
        if let lead {
            lead.publish(.response(SharedResponse(stored: stored, head: head, body: body)))
            if !stored.selecting.fits(request.fields) { stage.shared.noteUnshared(address, at: stage.now()) }
        }
        let pump = BodyPump(
            source: exchange.response.body, body: body,
            purpose: .store(stored, hop.url, reason: head.reason, version: head.version), address: address,
            cache: cache, maximumBytes: maximum, isBackground: exchange.load.isBackground)
        if exchange.load.isBackground { await run(pump, exchange) } else { start(pump, exchange) }
        return try answer(exchange, reader.map { [.growing($0)] } ?? [], head)
    }

    /// Adds the bytes of a response to a stored body; returns `nil` if that body no longer exists.
    private func join(
        _ response: StoredResponse, _ range: Range<Int64>, _ exchange: Exchange
    ) async throws(BridgeError) -> HopResponse? {
        guard var entry = exchange.entries.first(where: { $0.response.id == response.id }),
            let maximum = cache.maximumBodyBytes
        else { return nil }
        entry.response = response
        var head = exchange.response.head
        let body = growingBody(exchange, range.lowerBound)
        guard let reader = body.reader() else { return nil }
        var parts: [BodyPart] = [.growing(reader)]
        if !request.fields.contains(named: "Range") {
            guard let whole = await whole(entry, range, .growing(reader)) else { return nil }
            parts = whole.parts
            head.status = whole.answer.status
            head.headers = whole.answer.fields(at: stage.now())
            head.reason = entry.reason
        }
        let pump = BodyPump(
            source: exchange.response.body, body: body, purpose: .join(entry, range), address: address,
            cache: cache, maximumBytes: maximum, isBackground: false)
        start(pump, exchange)
        return try answer(exchange, parts, head)
    }

    /// Returns the parts of a whole body of which one part is arriving, and its answer; `nil` if a part is missing.
    private func whole(
        _ entry: CacheEntry, _ range: Range<Int64>, _ coming: BodyPart
    ) async -> (parts: [BodyPart], answer: StoredAnswer)? {
        var joined = entry.response
        guard let held = joined.body.adding(range, length: nil) else { return nil }
        joined.body = held
        guard let answer = StoredAnswer(joined, to: request, isValidated: true), let bytes = answer.bytes else {
            return nil
        }
        var parts: [BodyPart] = []
        for (places, isComing) in [
            (0..<range.lowerBound, false), (range, true), (range.upperBound..<bytes.upperBound, false),
        ]
        where !places.isEmpty {
            if isComing {
                parts.append(coming)
            } else {
                guard let part = await part(places, of: entry) else { return nil }
                parts.append(part)
            }
        }
        return (parts, answer)
    }

    private func growingBody(_ exchange: Exchange, _ base: Int64) -> GrowingBody {
        let (source, plugin, isBackground) = (exchange.response.body, context.call.plugin, exchange.load.isBackground)
        return GrowingBody(base: base) { body, abandonment in
            guard !isBackground else { return }
            plugin.timer(after: BodyPump.lingering) { [weak body] in
                if body?.giveUp(abandonment) == true { source.cancel() }
            }
        }
    }

    private func start(_ pump: BodyPump, _ exchange: Exchange) {
        let (shared, address, context) = (stage.shared, address, context)
        Task(executorPreference: context.call.plugin.executor) {
            await run(pump, exchange)
            if let lead = exchange.lead { shared.end(lead, of: address) }
            // The fetch holds its ticket until its transfer has ended.
            withExtendedLifetime(context.ticket) {}
        }
    }

    /// Receives and stores a body.
    private func run(_ pump: BodyPump, _ exchange: Exchange) async {
        stage.shared.begin(pump.body, of: context.user, since: exchange.removals)
        await pump.run()
        stage.shared.end(pump.body)
    }

    private func answer(
        _ exchange: Exchange, _ parts: [BodyPart], _ head: ResponseHead
    ) throws(BridgeError) -> HopResponse {
        var response = exchange.response
        response.head = head
        response.cache = report(exchange, isStored: true)
        response.body = try StoredBody(
            parts, head.headers, context.request, isReceived: true, cache.bodies, of: context.user)
        return response
    }
}

extension ResponseHead {
    /// The length of the body that the server announces; 0 if it announces none.
    fileprivate var announcedBytes: Int64 { headers.first(named: "Content-Length").flatMap { Int64($0) } ?? 0 }
}

extension StoredResponse {
    /// Returns the response with the `Cookie` field of the sent request if `Vary` names that field, because cookies are
    /// added after this stage. A later request matches only if its caller sets `Cookie`; otherwise the server is asked.
    fileprivate func selected(by sent: HeaderList?, _ request: HeaderList) -> StoredResponse {
        guard case .fields(let names) = Vary(fields), names.contains("cookie") else { return self }
        var seen = request
        seen.remove(named: "Cookie")
        let cookies = sent?.values(named: "Cookie") ?? []
        for value in cookies.isEmpty ? ["-"] : cookies { _ = seen.append(name: "Cookie", value: value) }
        guard let selecting = SelectingFields(Vary(fields), request: seen) else { return self }
        return StoredResponse(
            id: id, status: status, fields: fields, selecting: selecting, requestedAt: requestedAt,
            receivedAt: receivedAt, body: body)
    }
}

extension BridgeError {
    /// Whether the request to the server failed.
    fileprivate var isFailedConnection: Bool {
        [.httpDNS, .httpConnect, .httpTimeout, .httpInterrupted].contains(code)
    }
}
