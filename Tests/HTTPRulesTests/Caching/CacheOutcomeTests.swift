import HTTPRules
import TestSupport
import Testing

@Suite struct CacheOutcomeTests {
    private let variant = stored(
        fields(("Cache-Control", "max-age=5"), ("ETag", "\"1\""), ("Content-Length", "10"), ("A", "1"), ("Age", "7")))

    private func load(_ stored: [StoredResponse], for request: CacheRequest = get()) throws -> CacheLoad {
        let decision = CacheDecision(for: request, stored: stored, at: november1994.later(9))
        guard case .load(let load) = decision.action else { throw TestFailure("\(decision.action)") }
        return load
    }

    private func outcome(
        _ status: Int, _ list: HeaderList, of request: CacheRequest = get(), _ stored: [StoredResponse]
    ) throws -> CacheOutcome {
        try load(stored, for: request).outcome(of: response(status, list, at: november1994.later(10)), stored: stored)
    }

    @Test("A 304 updates the stored fields except those that describe the bytes, and the age counts from it")
    func freshens() throws {
        let news = fields(
            ("ETag", "\"1\""), ("Content-Length", "0"), ("A", "2"), ("B", "3"), ("Content-Type", "x"),
            ("Content-Encoding", "gzip"), ("Connection", "b"))
        guard case .freshened(let updated, let removed, let answer) = try outcome(304, news, [variant]) else {
            Issue.record("not freshened")
            return
        }
        #expect(removed.isEmpty && updated.count == 1 && updated[0].receivedAt == november1994.later(10))
        #expect(updated[0].fields.first(named: "A") == "2" && !updated[0].fields.contains(named: "B"))
        #expect(
            updated[0].fields.first(named: "Content-Length") == "10"
                && !updated[0].fields.contains(named: "Content-Type"))
        #expect(answer.status == 200 && answer.isValidated && answer.bytes == 0..<10)
        #expect(answer.fields(at: november1994.later(12)).first(named: "Age") == "2")
    }

    @Test("A 304 that forbids storing answers once and removes the stored response")
    func mustGo() throws {
        for news in [("Cache-Control", "no-store"), ("Vary", "*")] {
            let outcome = try outcome(304, fields(("ETag", "\"1\""), news), [variant])
            guard case .freshened(let updated, let removed, let answer) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(updated.isEmpty && removed == [1] && answer.status == 200)
        }
    }

    @Test("A strong tag updates all responses that have it, a weak tag the newest, no tag the only one revalidated")
    func selection() throws {
        func variant(_ id: Int64, _ tag: String, _ at: Int64 = 0) -> StoredResponse {
            stored(
                id: id, fields(("ETag", tag), ("Cache-Control", "max-age=0"), ("Vary", "a")),
                request: fields(("a", "\(id)")), at: november1994.later(at))
        }
        func updated(_ list: HeaderList, _ stored: [StoredResponse]) throws -> [Int64]? {
            guard case .freshened(let updated, _, _) = try outcome(304, list, of: get(fields(("a", "1"))), stored)
            else { return nil }
            return updated.map(\.id).sorted()
        }
        #expect(
            try updated(fields(("ETag", "\"x\"")), [variant(1, "\"x\""), variant(2, "\"x\""), variant(3, "\"y\"")]) == [
                1, 2,
            ])
        #expect(try updated(fields(("ETag", "W/\"x\"")), [variant(1, "W/\"x\""), variant(2, "W/\"x\"", 5)]) == [2])
        #expect(try updated(fields(("ETag", "\"y\"")), [variant(1, "\"x\""), variant(3, "\"y\"")]) == [3])
        #expect(try updated(HeaderList(), [variant(1, "\"x\"")]) == [1])
        #expect(try updated(HeaderList(), [variant(1, "\"x\""), variant(2, "\"y\"")]) == nil)
        #expect(try updated(fields(("ETag", "\"z\"")), [variant(1, "\"x\"")]) == nil)
    }

    @Test("A date confirms a response without a tag, even if the server sends one now")
    func newTag() throws {
        let date = ("Last-Modified", HTTPDate.format(november1994.later(-100)))
        let dated = stored(fields(date, ("Cache-Control", "max-age=0")))
        let outcome = try outcome(304, fields(("ETag", "\"1\""), date), [dated])
        guard case .freshened(let updated, _, _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(updated.first?.entityTag == EntityTag("\"1\""))
    }

    @Test("A 304 that confirms no stored response causes the request to be repeated, only once")
    func again() throws {
        let outcome = try outcome(304, fields(("ETag", "\"other\"")), [variant])
        guard case .again(let load) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(load.fields == HeaderList() && load.asked.isEmpty)
        #expect(load.outcome(of: response(304, HeaderList()), stored: [variant]) == .pass(.status))
    }

    @Test("A caller's condition that is met gets 304, from the server or from the confirmed response")
    func callers() throws {
        let request = get(fields(("If-None-Match", "\"0\"")))
        #expect(try outcome(304, fields(("ETag", "\"0\"")), of: request, [variant]) == .notModified)
        #expect(try outcome(304, HeaderList(), of: request, []) == .notModified)
        guard case .freshened(_, _, let answer) = try outcome(304, fields(("ETag", "\"1\"")), of: request, [variant])
        else {
            Issue.record("not freshened")
            return
        }
        #expect(answer.status == 200)
        let both = get(fields(("If-None-Match", "\"0\", \"1\"")))
        guard case .freshened(_, _, let met) = try outcome(304, fields(("ETag", "\"1\"")), of: both, [variant]) else {
            Issue.record("not freshened")
            return
        }
        #expect(
            met.status == 304 && met.bytes == nil && !met.fields(at: november1994).contains(named: "Content-Length"))
        guard case .again = try outcome(304, HeaderList(), of: request, [variant]) else {
            Issue.record("nobody knows which of the two it confirms")
            return
        }
    }

    @Test("A new response is stored, or only passed on if storing is not allowed")
    func stores() throws {
        guard case .store(let new) = try outcome(200, fields(("Vary", "a"), ("TE", "x")), [variant]) else {
            Issue.record("not stored")
            return
        }
        #expect(new.fields == fields(("Vary", "a")) && new.selecting.text == "a:-\n" && !new.body.isComplete)
        #expect(try outcome(200, fields(("Cache-Control", "no-store")), [variant]) == .pass(.responseNoStore))
        #expect(try outcome(503, HeaderList(), [variant]) == .pass(.noPermission))
    }

    @Test("stale-if-error of the response or the request answers a server failure, only within its time")
    func staleIfError() throws {
        let lenient = stored(fields(("Cache-Control", "max-age=5, stale-if-error=10")))
        for status in [500, 502, 503, 504] {
            guard case .stale(let answer) = try outcome(status, HeaderList(), [lenient]) else {
                Issue.record("\(status) goes out")
                continue
            }
            #expect(answer.status == 200)
        }
        #expect(try outcome(501, HeaderList(), [lenient]) != .stale(try #require(StoredAnswer(lenient, to: get()))))
        #expect(try load([lenient]).answerAfterFailure(at: november1994.later(15)) != nil)
        #expect(try load([lenient]).answerAfterFailure(at: november1994.later(16)) == nil)
        #expect(try load([variant]).answerAfterFailure(at: november1994.later(10)) == nil)
        let asking = get(fields(("Cache-Control", "stale-if-error=12")))
        #expect(try load([variant], for: asking).answerAfterFailure(at: november1994.later(10)) != nil)
        let strict = stored(fields(("Cache-Control", "max-age=5, stale-if-error=10, must-revalidate")))
        #expect(try load([strict]).answerAfterFailure(at: november1994.later(10)) == nil)
        let knowing = get(fields(("Cache-Control", "no-cache, stale-if-error=10")))
        #expect(try load([lenient], for: knowing).answerAfterFailure(at: november1994.later(10)) == nil)
    }

    @Test("A HEAD freshens an equal response, removes a different one, and ignores one that cannot be compared")
    func head() throws {
        let request = CacheRequest(method: "HEAD", fields: HeaderList())
        let same = try outcome(200, fields(("ETag", "\"1\""), ("A", "2")), of: request, [variant])
        guard case .passAndUpdate(let updated, let removed) = same else {
            Issue.record("\(same)")
            return
        }
        #expect(removed.isEmpty && updated.first?.fields.first(named: "A") == "2")
        for changed in [("ETag", "\"2\""), ("Content-Length", "11")] {
            #expect(try outcome(200, fields(changed), of: request, [variant]) == .passAndUpdate([], remove: [1]))
        }
        let nothing = CacheOutcome.passAndUpdate([], remove: [])
        #expect(try outcome(200, fields(("Content-Length", "10")), of: request, [variant]) == nothing)
        #expect(try outcome(200, HeaderList(), of: request, []) == nothing)
        let bare = stored(fields(("Content-Length", "10")))
        #expect(try outcome(200, fields(("Content-Length", "10")), of: request, [bare]) == nothing)
        #expect(
            try outcome(200, fields(("Content-Length", "11")), of: request, [bare]) == .passAndUpdate([], remove: [1]))
        #expect(try outcome(410, HeaderList(), of: request, [variant]) == .pass(.method))
    }

    @Test("Fields that no-cache names are omitted until the server has confirmed them")
    func withheld() throws {
        let list = fields(("Cache-Control", "max-age=5, no-cache=\"a\""), ("A", "1"), ("B", "2"))
        var answer = try #require(StoredAnswer(stored(list), to: get()))
        #expect(
            !answer.fields(at: november1994).contains(named: "A")
                && answer.fields(at: november1994).contains(named: "B"))
        answer.isValidated = true
        #expect(answer.fields(at: november1994).contains(named: "A"))
    }

    @Test("The third step reports whether the server had a different response")
    func changed() throws {
        let load = try load([variant])
        func changed(_ status: Int, _ list: HeaderList) -> Bool? {
            let response = response(status, list)
            return load.hasChanged(after: load.outcome(of: response, stored: [variant]), of: response)
        }
        #expect(changed(304, HeaderList()) == false && changed(200, HeaderList()) == true)
        #expect(changed(304, fields(("ETag", "\"z\""))) == nil)
        #expect(changed(503, HeaderList()) == nil && changed(200, fields(("Cache-Control", "no-store"))) == true)
        #expect(try self.load([]).hasChanged(after: .notModified, of: response(304, HeaderList())) == nil)
    }
}
