import HTTPRules

// The rules of caching. The input: a byte for the policy, a byte for the status, a byte for the time that passes. Then
// the fields of a request, of a response to it, and of the next response. Each field is a record, and each list ends
// with an empty one.
//
// - A response that must not be stored is not stored; lifetimes and ages are not negative.
// - A store that answers without the server has a response that is fresh, or that the rules allow to be stale, unless
//   the policy requests it at any age.
// - Tags, ranges, dates and selecting fields are parsed to the same values after they were written.
func fuzzCacheRules(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let policy = CachePolicy.allCases[Int(input.byte()) % CachePolicy.allCases.count]
    let status = CacheStatuses.all[Int(input.byte()) % CacheStatuses.all.count]
    let before = UnixTime(seconds: 1_800_000_000)
    let now = UnixTime(seconds: before.seconds + Int64(input.byte()) * Int64(input.byte()))
    let request = CacheRequest(fields: fields(&input), policy: policy)
    let response = NetworkResponse(status: status, fields: fields(&input), requestedAt: before, receivedAt: before)
    let next = NetworkResponse(status: 304, fields: fields(&input), requestedAt: now, receivedAt: now)
    for list in [request.fields, response.fields, next.fields] { try checkTexts(list, at: now) }
    let first = CacheDecision(for: request, stored: [], at: before)
    guard case .load(let load) = first.action else {
        guard case .miss = first.action else { throw Violation(description: "an empty store answers") }
        return
    }
    guard case .store(var stored) = load.outcome(of: response, stored: []) else { return }
    try require(
        !ResponseDirectives(response.fields).isNoStore || stored.directives.mustUnderstand, "no-store is stored")
    try require(!request.directives.isNoStore && policy != .noStore, "a request that stores nothing stores")
    guard let body = HeldBytes(status: status, fields: response.fields, receivedBytes: 10, isFinished: true) else {
        return
    }
    stored.body = body
    try checkStored(stored, request, next, at: now)
}

private enum CacheStatuses {
    static let all = [200, 203, 204, 206, 301, 302, 307, 308, 404, 410, 416, 500, 503, 999]
}

/// Parses records up to an empty one; an invalid field is left out.
private func fields(_ input: inout FuzzInput) -> HeaderList {
    var list = HeaderList()
    while !input.isEmpty, case let record = input.record(), !record.isEmpty {
        let name = record.prefix { $0 != UInt8(ascii: ":") }
        let value = record.dropFirst(name.count + 1)
        _ = list.append(name: FieldText.decode(name), value: FieldText.decode(value))
    }
    return list
}

private func checkStored(
    _ stored: StoredResponse, _ request: CacheRequest, _ next: NetworkResponse, at now: UnixTime
) throws(Violation) {
    try require(stored.freshness.lifetime >= .zero, "a lifetime of \(stored.freshness.lifetime)")
    try require(stored.age(at: now) >= .zero, "an age of \(stored.age(at: now))")
    let text = stored.selecting.text
    try require(SelectingFields(text: text) == stored.selecting, "selecting fields that are not read again: \(text)")
    let second = CacheDecision(for: request, stored: [stored], at: now)
    switch second.action {
    case .answer(let answer), .answerAndRevalidate(let answer, _):
        _ = answer.fields(at: now)
        let use = StoredUse(of: stored, for: request.directives, at: now)
        try require(
            request.policy != .useProtocol || use != .afterValidation, "an answer that the server had to confirm")
        if let bytes = answer.bytes { try require(bytes.lowerBound >= 0 && bytes.upperBound <= 10, "bytes \(bytes)") }
    case .load(let load):
        let outcome = load.outcome(of: next, stored: [stored])
        if case .store = outcome { throw Violation(description: "a 304 is stored") }
        _ = load.hasChanged(after: outcome, of: next)
        _ = load.answerAfterFailure(at: now)
    case .miss: break
    }
}

private func checkTexts(_ list: HeaderList, at now: UnixTime) throws(Violation) {
    try require(HeaderList(bytes: list.bytes) == list, "fields that are not read again")
    for field in list {
        if let tag = EntityTag(field.value) { try require(EntityTag(tag.text) == tag, "the tag \(tag.text)") }
        if let range = ByteRange(field.value) { try require(ByteRange(range.text) == range, "the range \(range.text)") }
        if let place = ContentRange(field.value) {
            try require(ContentRange(place.text) == place, "the place \(place.text)")
        }
        guard let time = HTTPDate.parse(field.value, now: now) else { continue }
        let text = HTTPDate.format(time)
        try require(HTTPDate.parse(text, now: now) == time, "the date \(text) of \(field.value)")
    }
    _ = Vary(list)
    _ = StrictTransport(list)
    _ = RequestDirectives(list)
}
