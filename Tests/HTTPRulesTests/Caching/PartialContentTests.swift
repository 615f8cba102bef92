import HTTPRules
import TestSupport
import Testing

@Suite struct PartialContentTests {
    private func piece(_ range: Range<Int64>, tag: String = "\"1\"", control: String = "max-age=5") throws
        -> StoredResponse
    {
        let list = fields(
            ("Cache-Control", control), ("ETag", tag),
            ("Content-Range", ContentRange(range: range, length: 10).text), ("Content-Length", "\(range.count)"))
        let held = HeldBytes(status: 206, fields: list, receivedBytes: Int64(range.count), isFinished: true)
        return stored(status: 206, list, body: try #require(held))
    }

    private func cut(tag: String = "\"1\"") throws -> StoredResponse {
        let list = fields(("Cache-Control", "max-age=5"), ("ETag", tag), ("Content-Length", "10"))
        let held = HeldBytes(status: 200, fields: list, receivedBytes: 4, isFinished: false)
        return stored(list, body: try #require(held))
    }

    private func action(_ request: HeaderList, _ stored: StoredResponse, _ policy: CachePolicy = .useProtocol)
        -> CacheDecision.Action
    {
        CacheDecision(for: get(request, policy), stored: [stored], at: november1994).action
    }

    private func answer(_ request: HeaderList, _ stored: StoredResponse) -> StoredAnswer? {
        guard case .answer(let answer) = action(request, stored) else { return nil }
        return answer
    }

    @Test("A whole response answers a range with its bytes, and with 416 if there are none")
    func whole() throws {
        let whole = stored(fields(("Cache-Control", "max-age=5"), ("Content-Length", "10")))
        let answer = try #require(self.answer(fields(("Range", "bytes=2-3")), whole))
        #expect(answer.status == 206 && answer.bytes == 2..<4)
        #expect(answer.fields(at: november1994).first(named: "Content-Range") == "bytes 2-3/10")
        #expect(answer.fields(at: november1994).first(named: "Content-Length") == "2")
        #expect(self.answer(fields(("Range", "bytes=-1")), whole)?.bytes == 9..<10)
        let none = try #require(self.answer(fields(("Range", "bytes=10-")), whole))
        #expect(none.status == 416 && none.fields(at: november1994).first(named: "Content-Range") == "bytes */10")
        #expect(self.answer(fields(("Range", "bytes=0-1")), stored(status: 404, whole.fields))?.status == 404)
    }

    @Test("Several ranges and other units are sent to the server")
    func others() {
        let whole = stored(fields(("Cache-Control", "max-age=5")))
        #expect(answer(fields(("Range", "bytes=0-1,3-4")), whole) == nil)
        #expect(answer(fields(("Range", "items=0-1")), whole) == nil)
    }

    @Test("If-Range applies a range only to the identical response")
    func ifRange() {
        let date = HTTPDate.format(november1994.later(-100))
        let whole = stored(fields(("Cache-Control", "max-age=5"), ("ETag", "\"1\""), ("Last-Modified", date)))
        func status(_ condition: String) -> Int? {
            answer(fields(("Range", "bytes=0-1"), ("If-Range", condition)), whole)?.status
        }
        #expect(status("\"1\"") == 206 && status("\"2\"") == 200 && status("W/\"1\"") == 200)
        #expect(status(date) == 206 && status(HTTPDate.format(november1994)) == 200 && status("x") == 200)
    }

    @Test("A piece answers ranges within it, and requests for the whole only if it is complete")
    func pieces() throws {
        let piece = try piece(4..<8)
        #expect(answer(fields(("Range", "bytes=5-6")), piece)?.bytes == 5..<7)
        #expect(
            answer(fields(("Range", "bytes=5-8")), piece) == nil && answer(fields(("Range", "bytes=-1")), piece) == nil)
        #expect(answer(HeaderList(), piece) == nil)
        #expect(action(HeaderList(), piece, .returnDontLoad) == .miss)
        let all = try self.piece(0..<10)
        #expect(answer(HeaderList(), all)?.status == 200)
        #expect(answer(HeaderList(), all)?.fields(at: november1994).contains(named: "Content-Range") == false)
    }

    @Test("Missing bytes are requested with If-Range if a strong tag allows joining")
    func resumes() throws {
        guard case .load(let load) = action(HeaderList(), try cut()) else {
            Issue.record("not loaded")
            return
        }
        #expect(load.fields == fields(("Range", "bytes=4-"), ("If-Range", "\"1\"")) && load.resumed?.id == 1)
        guard case .load(let middle) = action(HeaderList(), try piece(4..<10)) else {
            Issue.record("not loaded")
            return
        }
        #expect(middle.fields.first(named: "Range") == "bytes=0-3")
        for response in [try cut(tag: "W/\"1\""), try cut(tag: "x")] {
            guard case .load(let plain) = action(HeaderList(), response) else {
                Issue.record("not loaded")
                continue
            }
            #expect(plain.fields == HeaderList() && plain.resumed == nil && plain.asked.isEmpty)
        }
    }

    private func outcome(
        _ status: Int, _ list: HeaderList, _ stored: StoredResponse, _ request: HeaderList = HeaderList()
    ) throws -> CacheOutcome {
        guard case .load(let load) = action(request, stored) else { throw TestFailure("it is not loaded") }
        return load.outcome(of: response(status, list), stored: [stored])
    }

    @Test("A piece with the same strong tag is joined, and the whole has the newer fields")
    func joins() throws {
        let rest = fields(("ETag", "\"1\""), ("Content-Range", "bytes 4-9/10"), ("Content-Length", "6"), ("A", "2"))
        guard case .join(var joined, let place) = try outcome(206, rest, try cut()) else {
            Issue.record("not joined")
            return
        }
        #expect(place == 4..<10 && joined.fields.first(named: "A") == "2")
        joined.body = try #require(joined.body.adding(place, length: nil))
        let answer = try #require(StoredAnswer(joined, to: get()))
        #expect(answer.status == 200 && answer.bytes == 0..<10)
        #expect(answer.fields(at: november1994).first(named: "Content-Length") == "10")
        let unknown = fields(("Cache-Control", "max-age=5"), ("ETag", "\"1\""), ("Content-Range", "bytes 0-3/*"))
        let held = HeldBytes(status: 206, fields: unknown, receivedBytes: 4, isFinished: true)
        let piece = stored(status: 206, unknown, body: try #require(held))
        guard case .join(let sized, at: 4..<10) = try outcome(206, rest, piece) else {
            Issue.record("not joined")
            return
        }
        #expect(sized.body.length == 10 && sized.body.adding(4..<10, length: nil)?.isComplete == true)
        let ownRange = fields(("Range", "bytes=8-9"))
        let more = fields(("ETag", "\"1\""), ("Content-Range", "bytes 8-9/10"))
        guard case .join(_, at: 8..<10) = try outcome(206, more, try self.piece(0..<4), ownRange) else {
            Issue.record("not joined")
            return
        }
    }

    @Test("A response that does not match the stored piece causes a load of the whole")
    func mismatches() throws {
        let rests: [(Int, HeaderList)] = [
            (206, fields(("ETag", "\"2\""), ("Content-Range", "bytes 4-9/10"))),
            (206, fields(("ETag", "\"1\""), ("Content-Range", "bytes 4-9/11"))),
            (206, fields(("Content-Range", "bytes 4-9/10"))), (206, fields(("ETag", "\"1\""))),
            (206, fields(("ETag", "\"1\""), ("Content-Range", "bytes 4-9/10"), ("Cache-Control", "no-store"))),
            (206, fields(("ETag", "\"1\""), ("Content-Range", "bytes 4-8/10"))),
            (206, fields(("ETag", "\"1\""), ("Content-Range", "bytes 5-9/10"))),
            (416, fields(("Content-Range", "bytes */3"))), (304, fields(("ETag", "\"1\""))),
        ]
        for (status, list) in rests {
            guard case .again(let load) = try outcome(status, list, try cut()) else {
                Issue.record("\(status) \(list)")
                continue
            }
            #expect(load.fields == HeaderList())
        }
        guard case .store = try outcome(200, HeaderList(), try cut()) else {
            Issue.record("a whole response is stored")
            return
        }
    }
}
