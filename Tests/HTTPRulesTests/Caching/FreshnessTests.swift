import HTTPRules
import Testing

@Suite struct FreshnessTests {
    private func lifetime(_ fields: HeaderList, status: Int = 200) -> Freshness {
        stored(status: status, fields).freshness
    }

    private let date = ("Date", HTTPDate.format(november1994))
    private func time(_ name: String, _ seconds: Int64) -> (String, String) {
        (name, HTTPDate.format(november1994.later(seconds)))
    }

    @Test("max-age takes precedence over Expires, and Expires over the heuristic")
    func order() {
        let all = fields(("Cache-Control", "max-age=5"), time("Expires", 100), time("Last-Modified", -1_000), date)
        #expect(lifetime(all).lifetime == .seconds(5) && lifetime(all).source == .maxAge)
        let two = fields(time("Expires", 100), time("Last-Modified", -1_000), date)
        #expect(lifetime(two).lifetime == .seconds(100) && lifetime(two).source == .expires)
        let one = fields(time("Last-Modified", -1_000), date)
        #expect(lifetime(one).lifetime == .seconds(100) && lifetime(one).source == .heuristic)
        #expect(lifetime(fields(date)).source == .none)
    }

    @Test("Expires counts from Date, or from the arrival without one; an invalid date means expired")
    func expires() {
        #expect(lifetime(fields(time("Date", 10), time("Expires", 100))).lifetime == .seconds(90))
        #expect(lifetime(fields(("Date", "x"), time("Expires", 100))).lifetime == .seconds(100))
        #expect(lifetime(fields(time("Expires", 100))).lifetime == .seconds(100))
        for value in ["0", "-1", "", "x"] {
            #expect(lifetime(fields(("Expires", value), time("Last-Modified", -1_000))).lifetime == .zero)
        }
        #expect(lifetime(fields(time("Date", 400), time("Expires", 300))).lifetime == .zero)
    }

    @Test("The heuristic is a tenth of the time since the change, at most a week, for some statuses or with public")
    func heuristic() {
        let long = fields(time("Last-Modified", -86_400 * 365), date)
        #expect(lifetime(long).lifetime == Freshness.maximumHeuristicLifetime)
        #expect(lifetime(fields(time("Last-Modified", 10), date)).source == .none)
        for status in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
            #expect(lifetime(long, status: status).source == .heuristic, "\(status)")
        }
        for status in [201, 302, 403, 500, 502, 503, 504, 599] {
            #expect(lifetime(long, status: status).source == .none, "\(status)")
            var open = long
            open.append(contentsOf: fields(("Cache-Control", "public")))
            #expect(lifetime(open, status: status).source == .heuristic, "\(status)")
        }
    }

    private func age(_ list: HeaderList, delay: Int64 = 0, after seconds: Int64 = 0) -> Duration {
        Age.current(
            of: list, requestedAt: november1994.later(-delay), receivedAt: november1994,
            now: november1994.later(seconds))
    }

    @Test("The age is the larger of those from Date and Age, plus the time in the store")
    func ages() {
        #expect(age(fields(date)) == .zero)
        #expect(age(fields(time("Date", -30)), after: 5) == .seconds(35))
        #expect(age(fields(time("Date", -30), ("Age", "50")), delay: 2, after: 5) == .seconds(57))
        #expect(age(fields(time("Date", 1_000), ("Age", "50"))) == .seconds(50))
        #expect(age(fields(("Age", "1")), delay: -100) == .seconds(1))
    }

    @Test("The first of several values of Age counts, and an invalid one is ignored")
    func badAges() {
        #expect(age(fields(("Age", "7200, 0"))) == .seconds(7_200))
        #expect(age(fields(("Age", "0"), ("Age", "7200"))) == .zero)
        for value in ["abc", "-7200", "7200.0", "", "7200;a=b"] { #expect(age(fields(("Age", value))) == .zero) }
        #expect(age(fields(("Age", String(repeating: "9", count: 400)))) == DeltaSeconds.maximum)
    }

    @Test("A clock that was set back makes a response older, and no clock causes an overflow")
    func clocks() {
        #expect(age(fields(date), after: -60) == .seconds(60))
        let extremes = [Int64.min, -62_167_219_200, -1, 0, 7_258_118_400, .max].map { UnixTime(seconds: $0) }
        for requested in extremes {
            for received in extremes {
                let list = fields(date, ("Age", "99999999999"), ("Cache-Control", "max-age=99999999999"))
                let response = StoredResponse(
                    id: 1, status: 200, fields: list, selecting: stored(HeaderList()).selecting,
                    requestedAt: requested, receivedAt: received, body: .complete(length: 0))
                for now in extremes { #expect(response.age(at: now) >= .zero) }
                #expect(response.freshUntil >= received)
            }
        }
    }

    @Test("A response is fresh until its lifetime ends")
    func fresh() {
        let response = stored(fields(("Cache-Control", "max-age=10"), ("Age", "3"), date))
        #expect(response.isFresh(at: november1994.later(6)) && !response.isFresh(at: november1994.later(7)))
        #expect(response.freshUntil == november1994.later(7))
    }
}
