/// What is done with a response from the server: RFC 9111, sections 3, 3.4 and 4.3.
public enum CacheOutcome: Hashable, Sendable {
    /// It is passed on and stored, in place of what is stored with equal ``StoredResponse/selecting``. Its owner gives
    /// it an ``StoredResponse/id``, and sets ``StoredResponse/body`` once that has come, from
    /// ``HeldBytes/init(status:fields:receivedBytes:isFinished:)``.
    case store(StoredResponse)
    /// It is passed on and not stored.
    case pass(Storable.Refusal)
    /// It is passed on; stored responses are updated by it, others are wrong by what it says.
    case passAndUpdate([StoredResponse], remove: [StoredResponse.ID])
    /// The server has confirmed stored responses: the first list is written to the store, `remove` goes from it, and
    /// the answer goes out.
    case freshened([StoredResponse], remove: [StoredResponse.ID], answer: StoredAnswer)
    /// The maker of the request has the right response already: the 304 is passed on.
    case notModified
    /// The server has confirmed something that is not there: the request is sent again, as this.
    case again(CacheLoad)
    /// The bytes continue a stored response, which has its new fields already: they are written at this place, and its
    /// owner adds what came of them to its ``StoredResponse/body``. The maker of the request gets the whole body where
    /// he asked for it, else this response as it came.
    case join(StoredResponse, at: Range<Int64>)
    /// The server failed, and what is stored goes out instead.
    case stale(StoredAnswer)
}

extension CacheLoad {
    /// What is done with a response to this request.
    ///
    /// - Parameters:
    ///   - response: The response, before its body.
    ///   - stored: All that is stored of the URL.
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
        // A piece that was asked for to complete something, and does not, is no answer to the request.
        if resumed != nil, response.status == 206 || response.status == 416 { return .again(withoutConditions) }
        if let refusal { return .pass(refusal) }
        // Vary has been looked at: without `*` there are selecting fields.
        guard let selecting = SelectingFields(Vary(response.fields), request: request.fields) else {
            return .pass(.vary)
        }
        return .store(
            StoredResponse(
                id: 0, status: response.status, fields: StoredFields.storable(of: response.fields),
                selecting: selecting, requestedAt: response.requestedAt, receivedAt: response.receivedAt,
                body: .nothing))
    }

    /// RFC 9111, sections 4.3.3 and 4.3.4.
    private func outcomeOfNotModified(_ response: NetworkResponse) -> CacheOutcome {
        let own = isBehind ? nil : CallerConditions(request.fields)
        // Nothing of the store was asked about: the 304 is for the maker of the request, or is the server's mistake.
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

    /// The same request, and nothing asked.
    private var withoutConditions: CacheLoad { CacheLoad(unconditional: request, selected: selected) }

    /// RFC 9111, section 4.3.5, and RFC 9110, section 9.3.2.
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

    /// A piece that belongs to a stored response: RFC 9111, section 3.4. One that was asked for to complete something
    /// has to complete it, since the whole goes out.
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
    /// Whether the server had something else than what is stored, the third of the ``CacheSteps``; nil where it was not
    /// asked, or could not say.
    ///
    /// - Parameters:
    ///   - outcome: What became of its response.
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
