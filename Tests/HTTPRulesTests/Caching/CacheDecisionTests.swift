import HTTPRules
import Testing

/// The table of policies, and the directives of requests and responses under the first policy.
@Suite struct CacheDecisionTests {
    /// The kind of a decision.
    private enum Word: Equatable { case stored, storedAndValidated, asked, loaded, miss }

    private func word(
        _ request: CacheRequest, _ stored: [StoredResponse], after seconds: Int64 = 0
    ) -> Word {
        switch CacheDecision(for: request, stored: stored, at: november1994.later(seconds)).action {
        case .answer: .stored
        case .answerAndRevalidate: .storedAndValidated
        case .load(let load): load.asked.isEmpty ? .loaded : .asked
        case .miss: .miss
        }
    }

    private func cached(_ control: String, id: Int64 = 1, _ more: (String, String)...) -> StoredResponse {
        var list = fields(("Cache-Control", control), ("ETag", "\"\(id)\""))
        list.append(contentsOf: HeaderList(more.compactMap { HeaderField(name: $0.0, value: $0.1) }))
        return stored(id: id, list)
    }

    private func load(_ request: CacheRequest, _ stored: [StoredResponse], after seconds: Int64 = 0) -> CacheLoad? {
        switch CacheDecision(for: request, stored: stored, at: november1994.later(seconds)).action {
        case .load(let load), .answerAndRevalidate(_, let load): load
        case .answer, .miss: nil
        }
    }

    @Test("Each policy treats fresh, stale and missing responses as in its row of the table")
    func table() {
        let rows: [(CachePolicy, fresh: Word, stale: Word, none: Word)] = [
            (.useProtocol, .stored, .asked, .loaded), (.reloadIgnoringLocal, .loaded, .loaded, .loaded),
            (.returnElseLoad, .stored, .stored, .loaded), (.returnDontLoad, .stored, .stored, .miss),
            (.reloadIgnoringLocalAndRemote, .loaded, .loaded, .loaded), (.reloadRevalidating, .asked, .asked, .loaded),
            (.noStore, .loaded, .loaded, .loaded),
        ]
        #expect(rows.map(\.0) == CachePolicy.allCases)
        for (policy, fresh, stale, none) in rows {
            let request = get(HeaderList(), policy)
            #expect(word(request, [cached("max-age=10")]) == fresh, "\(policy)")
            #expect(word(request, [cached("max-age=10")], after: 10) == stale, "\(policy)")
            #expect(word(request, []) == none, "\(policy)")
        }
    }

    @Test("Policies add their fields unless the request has its own")
    func added() {
        func added(_ policy: CachePolicy, _ own: HeaderList = HeaderList()) -> HeaderList? {
            load(get(own, policy), [])?.fields
        }
        let reload = fields(("Cache-Control", "no-cache"), ("Pragma", "no-cache"))
        #expect(added(.reloadIgnoringLocalAndRemote) == reload && added(.noStore) == reload)
        #expect(added(.reloadRevalidating) == fields(("Cache-Control", "max-age=0")))
        #expect(added(.useProtocol) == HeaderList() && added(.reloadIgnoringLocal) == HeaderList())
        let own = fields(("cache-control", "x"))
        #expect(added(.reloadRevalidating, own) == own)
    }

    @Test("Policies have the names of Fetch and of NSURLRequest, and the numbers of NSURLRequest")
    func names() {
        for policy in CachePolicy.allCases {
            #expect(CachePolicy(name: policy.fetchName) == policy)
            if let number = policy.number { #expect(CachePolicy(number: number) == policy) }
        }
        #expect(CachePolicy(name: "returnCacheDataDontLoad") == .returnDontLoad)
        #expect(CachePolicy(name: "NSURLRequestReturnCacheDataDontLoad") == .returnDontLoad)
        #expect(CachePolicy(name: "reloadIgnoringCacheData") == .reloadIgnoringLocal)
        for name in ["", "Default", "returnCacheData", "NSURLRequestdefault", "NSURLRequest"] {
            #expect(CachePolicy(name: name) == nil)
        }
        #expect(CachePolicy(number: 6) == nil && CachePolicy(number: -1) == nil)
    }

    @Test("The steps report whether a stored response exists and has expired")
    func steps() {
        func steps(_ policy: CachePolicy, _ stored: [StoredResponse], after seconds: Int64 = 0) -> CacheSteps {
            CacheDecision(for: get(HeaderList(), policy), stored: stored, at: november1994.later(seconds)).steps
        }
        #expect(steps(.useProtocol, [cached("max-age=5")]) == CacheSteps(exists: true, hasExpired: false))
        #expect(steps(.returnElseLoad, [cached("max-age=5")], after: 5) == CacheSteps(exists: true, hasExpired: true))
        #expect(steps(.useProtocol, []) == CacheSteps(exists: false))
        #expect(steps(.reloadIgnoringLocal, [cached("max-age=5")]) == CacheSteps())
    }

    @Test("The cache directives of a request are followed")
    func requestDirectives() {
        let fresh = [cached("max-age=100")]
        func ask(_ control: String, _ stored: [StoredResponse], after: Int64) -> Word {
            word(get(fields(("Cache-Control", control))), stored, after: after)
        }
        #expect(ask("max-age=5", fresh, after: 5) == .stored && ask("max-age=5", fresh, after: 6) == .asked)
        #expect(ask("min-fresh=50", fresh, after: 50) == .stored && ask("min-fresh=50", fresh, after: 51) == .asked)
        #expect(ask("max-stale=5", fresh, after: 105) == .stored && ask("max-stale=5", fresh, after: 106) == .asked)
        #expect(ask("max-stale", fresh, after: 10_000) == .stored)
        #expect(ask("no-cache, max-stale", fresh, after: 0) == .asked && ask("no-store", fresh, after: 0) == .loaded)
        #expect(ask("only-if-cached", fresh, after: 0) == .stored && ask("only-if-cached", fresh, after: 100) == .miss)
        #expect(ask("only-if-cached", [], after: 0) == .miss)
    }

    @Test("max-stale overrides neither no-cache nor must-revalidate of a response")
    func forbidden() {
        let request = get(fields(("Cache-Control", "max-stale")))
        #expect(word(request, [cached("max-age=5, must-revalidate")], after: 5) == .asked)
        #expect(word(request, [cached("max-age=5, must-revalidate")], after: 4) == .stored)
        #expect(word(request, [cached("max-age=5, no-cache")]) == .asked)
        #expect(word(request, [cached("max-age=5, no-cache=\"a\"")]) == .stored)
        #expect(word(request, [cached("max-age=5, proxy-revalidate, s-maxage=0")], after: 5) == .stored)
    }

    @Test("stale-while-revalidate answers within its time and revalidates without the caller's conditions")
    func behind() throws {
        let stored = [cached("max-age=5, stale-while-revalidate=10")]
        #expect(word(get(), stored, after: 15) == .storedAndValidated && word(get(), stored, after: 16) == .asked)
        let request = get(fields(("If-None-Match", "\"x\""), ("Range", "bytes=0-1")))
        let load = try #require(self.load(request, stored, after: 15))
        #expect(load.isBackground && load.fields == fields(("If-None-Match", "\"1\"")))
        let head = CacheRequest(method: "HEAD", fields: fields(("If-None-Match", "\"x\"")))
        let headLoad = try #require(self.load(head, stored, after: 15))
        #expect(headLoad.isBackground && headLoad.fields == HeaderList())
    }

    @Test("An immutable response is not revalidated while fresh, unless no-cache or the policy requires it")
    func immutable() {
        let stored = [cached("max-age=5, immutable")]
        let reload = get(fields(("Cache-Control", "max-age=0")))
        #expect(word(reload, stored, after: 4) == .stored && word(reload, stored, after: 5) == .asked)
        #expect(word(get(HeaderList(), .reloadRevalidating), stored) == .asked)
        #expect(word(get(fields(("Cache-Control", "no-cache"))), stored) == .asked)
    }

    @Test("Only GET and HEAD without If-Match and If-Unmodified-Since are answered from the store")
    func methods() {
        let stored = [cached("max-age=5")]
        #expect(word(CacheRequest(method: "HEAD", fields: HeaderList()), stored) == .stored)
        for method in ["POST", "get", "OPTIONS"] {
            #expect(word(CacheRequest(method: method, fields: HeaderList()), stored) == .loaded)
        }
        #expect(word(get(fields(("If-Match", "\"1\""))), stored) == .loaded)
        #expect(word(get(fields(("If-Unmodified-Since", "x"))), stored) == .loaded)
    }

    @Test("The newest matching response is used; a date in the future counts as the time of arrival")
    func newest() {
        func dated(_ id: Int64, _ seconds: Int64, at: Int64) -> StoredResponse {
            let date = ("Date", HTTPDate.format(november1994.later(seconds)))
            return stored(id: id, fields(("Cache-Control", "max-age=9999"), date), at: november1994.later(at))
        }
        func chosen(_ stored: [StoredResponse]) -> Int64? {
            let decision = CacheDecision(for: get(), stored: stored, at: november1994.later(100))
            guard case .answer(let answer) = decision.action else { return nil }
            return answer.stored.id
        }
        #expect(chosen([dated(1, 0, at: 10), dated(2, 5, at: 5)]) == 2)
        #expect(chosen([dated(1, 1_000_000, at: 10), dated(2, 20, at: 20)]) == 2)
        let other = stored(id: 3, fields(("Cache-Control", "max-age=9999"), ("Vary", "a")), request: fields(("a", "1")))
        #expect(chosen([other]) == nil)
    }

    @Test("A revalidation carries the tags of all variants, the selected one first, and the date as received")
    func conditions() throws {
        let date = "Sunday, 06-Nov-94 08:49:37 GMT"
        let one = cached("max-age=0", id: 1, ("Vary", "a"), ("Last-Modified", date))
        let two = stored(
            id: 2, fields(("ETag", "W/\"2\""), ("Vary", "a")), request: fields(("a", "1")))
        let load = try #require(self.load(get(), [two, one]))
        #expect(load.fields == fields(("If-None-Match", "\"1\", W/\"2\""), ("If-Modified-Since", date)))
        #expect(load.asked.map(\.id) == [1, 2])
        let other = try #require(self.load(get(fields(("a", "2"))), [two, one]))
        #expect(other.fields == fields(("a", "2"), ("If-None-Match", "W/\"2\", \"1\"")) && other.selected == nil)
    }

    @Test("A caller's conditions are added to a revalidation, and answered from a fresh response")
    func ownConditions() throws {
        func status(_ request: HeaderList, _ stored: StoredResponse) -> Int? {
            let decision = CacheDecision(for: get(request), stored: [stored], at: november1994)
            guard case .answer(let answer) = decision.action else { return nil }
            return answer.status
        }
        let date = HTTPDate.format(november1994.later(-100))
        let fresh = cached("max-age=5", id: 1, ("Last-Modified", date))
        #expect(status(fields(("If-None-Match", "\"0\", W/\"1\"")), fresh) == 304)
        #expect(status(fields(("If-None-Match", "\"0\"")), fresh) == 200)
        #expect(status(fields(("If-None-Match", "*")), fresh) == 304)
        #expect(status(fields(("If-Modified-Since", date)), fresh) == 304)
        #expect(status(fields(("If-None-Match", "\"0\""), ("If-Modified-Since", date)), fresh) == 200)
        let earlier = HTTPDate.format(november1994.later(-101))
        #expect(status(fields(("If-Modified-Since", earlier)), fresh) == 200)
        #expect(status(fields(("If-None-Match", "*")), stored(status: 404, fresh.fields)) == 404)

        let request = get(fields(("If-None-Match", "\"0\", \"1\""), ("If-Modified-Since", earlier)))
        let load = try #require(self.load(request, [fresh], after: 5))
        #expect(load.fields == fields(("If-None-Match", "\"0\", \"1\""), ("If-Modified-Since", date)))
        let star = try #require(self.load(get(fields(("If-None-Match", "*"))), [fresh], after: 5))
        #expect(star.asked.isEmpty && star.fields == fields(("If-None-Match", "*")))
    }

    @Test("Without a tag only the stored date is sent; with a tag the caller's date is dropped")
    func dates() throws {
        let date = HTTPDate.format(november1994.later(-100))
        let dated = stored(fields(("Last-Modified", date), ("Cache-Control", "max-age=0")))
        #expect(load(get(), [dated])?.fields == fields(("If-Modified-Since", date)))
        let own = get(fields(("If-Modified-Since", HTTPDate.format(november1994))))
        #expect(load(own, [dated])?.fields == fields(("If-Modified-Since", date)))
        #expect(load(own, [cached("max-age=0")])?.fields == fields(("If-None-Match", "\"1\"")))
        let unreadable = stored(fields(("Last-Modified", "x"), ("ETag", "x"), ("Cache-Control", "max-age=0")))
        #expect(load(get(), [unreadable])?.asked.isEmpty == true)
    }

    @Test("A revalidation carries at most the maximum number of tags")
    func manyTags() throws {
        let many = (1...100).map { cached("max-age=0", id: $0) }
        #expect(try #require(load(get(), many)).asked.count == CacheLoad.maximumTags)
    }
}
