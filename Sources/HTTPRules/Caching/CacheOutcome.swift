/// The action for a response from the server: RFC 9111, sections 3, 3.4 and 4.3.
public enum CacheOutcome: Hashable, Sendable {
    /// The response is passed on and stored. It replaces the stored response with equal ``StoredResponse/selecting``.
    /// Its owner sets ``StoredResponse/id``. When the body has arrived, the owner sets ``StoredResponse/body`` from
    /// ``HeldBytes/init(status:fields:receivedBytes:isFinished:)``.
    case store(StoredResponse)
    /// The response is passed on and not stored.
    case pass(Storable.Refusal)
    /// The response is passed on. It updates the stored responses in the first list, and invalidates those in `remove`.
    case passAndUpdate([StoredResponse], remove: [StoredResponse.ID])
    /// The server has confirmed stored responses. The first list is written to the store, `remove` is deleted from it,
    /// and the answer is sent to the caller.
    case freshened([StoredResponse], remove: [StoredResponse.ID], answer: StoredAnswer)
    /// The caller already has the current response: the 304 is passed on.
    case notModified
    /// The server has confirmed a response that the store cannot use, or sent no bytes that complete a stored response.
    /// The request is sent again in this form.
    case again(CacheLoad)
    /// The bytes belong to a stored response, whose fields are already updated. They are written at this place, and the
    /// owner adds the received ones to ``StoredResponse/body``. The caller receives the whole body if it requested
    /// that, otherwise this response as received.
    case join(StoredResponse, at: Range<Int64>)
    /// The server failed, and the stored response is sent to the caller instead.
    case stale(StoredAnswer)
}

extension CacheLoad {
    /// Returns the action for a response to this request.
    ///
    /// - Parameters:
    ///   - response: The response, before its body.
    ///   - stored: All stored responses of the URL.
    ///   - isContentOfURL: Whether its `Content-Location` names the URL.
    public func outcome(
        of response: NetworkResponse, stored: [StoredResponse], isContentOfURL: Bool = false
    ) -> CacheOutcome {
        if StatusRules.isFailure(response.status), let answer = answerAfterFailure(at: response.receivedAt) {
            return .stale(answer)
        }
        if response.status == 304 { return outcomeOfNotModified(response) }
        if request.method == "HEAD" { return outcomeOfHead(response, stored) }
        let refusal = Storable.refusal(of: response, to: request, isContentOfURL: isContentOfURL)
        if refusal == nil, response.status == 206, let joined = joined(response, stored) { return joined }
        // A part that was requested to complete a response, and does not, is no answer to the request.
        if resumed != nil, response.status == 206 || response.status == 416 { return .again(withoutConditions) }
        if let refusal { return .pass(refusal) }
        // `Vary` has been checked: without `*` there are selecting fields.
        guard let selecting = SelectingFields(Vary(response.fields), request: request.fields) else {
            return .pass(.vary)
        }
        return .store(
            StoredResponse(
                id: 0, status: response.status, fields: StoredFields.storable(of: response.fields),
                selecting: selecting, requestedAt: response.requestedAt, receivedAt: response.receivedAt,
                body: .nothing))
    }

    /// Returns the action for a 304: RFC 9111, sections 4.3.3 and 4.3.4.
    private func outcomeOfNotModified(_ response: NetworkResponse) -> CacheOutcome {
        let own = isBackground ? nil : CallerConditions(request.fields)
        // No validation was requested: the 304 answers the caller's conditions, or is an error of the server.
        guard !asked.isEmpty else {
            if resumed != nil { return .again(withoutConditions) }
            return own?.areThere == true ? .notModified : .pass(.status)
        }
        let confirmed = Validation.confirmed(by: response, among: asked, hasOtherTags: own?.tags?.isEmpty == false)
        guard !confirmed.isEmpty else {
            let isForCaller = response.entityTag.map { tag in own?.tags?.contains { $0.isWeaklyEqual(to: tag) } } ?? nil
            return isForCaller == true ? .notModified : .again(withoutConditions)
        }
        let updated = confirmed.map { $0.freshened(by: response, request: request.fields) }
        guard let answer = StoredAnswer(updated[0], to: request, isValidated: true) else {
            return .again(withoutConditions)
        }
        return .freshened(updated.filter { !$0.mustGo }, remove: updated.filter(\.mustGo).map(\.id), answer: answer)
    }

    /// The same request without conditions of the store.
    private var withoutConditions: CacheLoad { CacheLoad(unconditional: request, selected: selected) }

    /// Returns the action for a response to HEAD: RFC 9111, section 4.3.5, and RFC 9110, section 9.3.2.
    private func outcomeOfHead(_ response: NetworkResponse, _ stored: [StoredResponse]) -> CacheOutcome {
        guard response.status == 200, !request.avoidsStore else { return .pass(.method) }
        var (kept, removed): ([StoredResponse], [StoredResponse.ID]) = ([], [])
        for one in stored where one.statusOfWhole == 200 && one.selecting.fits(request.fields) {
            switch HeadComparison(one, response) {
            case .same:
                let updated = one.freshened(by: response, request: request.fields)
                if updated.mustGo { removed.append(one.id) } else { kept.append(updated) }
            case .other: removed.append(one.id)
            case .unknown: break
            }
        }
        return .passAndUpdate(kept, remove: removed)
    }

    /// Returns the action for a part that belongs to a stored response; `nil` if there is no such response: RFC 9111,
    /// section 3.4. A part that was requested to complete a response must complete it, because the whole is sent to the
    /// caller.
    private func joined(_ response: NetworkResponse, _ stored: [StoredResponse]) -> CacheOutcome? {
        guard let place = ContentRange(response.fields), let range = place.range, let tag = response.entityTag else {
            return nil
        }
        let whole = resumed.map { [$0] } ?? stored.filter { $0.selecting.fits(request.fields) }
        for candidate in whole where candidate.canBeJoined {
            guard candidate.entityTag.map({ $0.isStronglyEqual(to: tag) }) == true,
                let before = candidate.body.adding(range.lowerBound..<range.lowerBound, length: place.length),
                let after = before.adding(range, length: nil), resumed == nil || after.isComplete
            else { continue }
            var joined = candidate.freshened(by: response, request: request.fields)
            joined.body = before
            return .join(joined, at: range)
        }
        return nil
    }
}

extension CacheLoad {
    /// Returns whether the server had a different response from the stored one, the third of the ``CacheSteps``; `nil`
    /// if no validation was requested, or the result is unknown.
    ///
    /// - Parameters:
    ///   - outcome: The action for its response.
    ///   - response: The response.
    public func hasChanged(after outcome: CacheOutcome, of response: NetworkResponse) -> Bool? {
        guard !asked.isEmpty || resumed != nil else { return nil }
        switch outcome {
        case .freshened, .join: return false
        case .store, .notModified: return true
        case .pass: return response.status < 500 ? true : nil
        case .again, .stale, .passAndUpdate: return nil
        }
    }
}
