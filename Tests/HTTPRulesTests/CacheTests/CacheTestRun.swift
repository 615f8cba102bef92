import HTTPRules
import TestSupport

/// One run of a test of the suite cache-tests: the actions and checks of the suite's client, in its order.
struct CacheTestRun {
    /// A deviation from the expectations of the test.
    struct Fault: Error, CustomStringConvertible {
        /// Whether the preparation failed, so that the test proves nothing about the cache.
        var isSetup: Bool
        var description: String
    }

    /// The time that the suite waits if a test requests a pause, in seconds.
    private static let pause: Int64 = 3
    private let test: CacheTest
    private let isWithoutStore: Bool
    private let server: CacheTestServer
    private let loader: CacheTestLoader
    private var results: [CacheTestLoader.Result] = []

    /// - Parameters:
    ///   - test: The test.
    ///   - isWithoutStore: Whether all requests are made as if there were no cache.
    init(_ test: CacheTest, isWithoutStore: Bool = false) {
        self.test = test
        self.isWithoutStore = isWithoutStore
        // 1 March 2026, some time after midnight.
        server = CacheTestServer(test, now: UnixTime(seconds: 1_772_323_456))
        loader = CacheTestLoader(server)
    }

    /// Runs the test. Throws the first deviation.
    mutating func run() throws {
        for (index, request) in test.requests.enumerated() {
            let url = url(of: request)
            let result: CacheTestLoader.Result
            do {
                result = try loader.load(url, try cacheRequest(request, number: index + 1))
            } catch is CacheTestLoader.Failure {
                throw Fault(isSetup: false, description: "the connection of request \(index + 1) failed")
            }
            results.append(result)
            try check(result, of: request, number: index + 1)
            if request.has("pause_after") { server.now.seconds += Self.pause }
        }
        try checkWhatCame()
    }

    private func url(of request: CacheTest.Request) -> String {
        let file = request.values["filename"].map { "/\($0)" } ?? ""
        return "/test/\(test.id)\(file)\(request.values["query_arg"].map { "?\($0)" } ?? "")"
    }

    private func cacheRequest(_ request: CacheTest.Request, number: Int) throws -> CacheRequest {
        var fields = HeaderList()
        for field in request.requestFields {
            let last = results.last.map { serverTime($0) } ?? server.now
            try fields.put(
                field.name, CacheTestServer.text(of: field.name, field.value, base: "", in: request, now: last))
        }
        try fields.put("Test-ID", test.id)
        try fields.put("Req-Num", "\(number)")
        let name = request.values["cache"] ?? "default"
        guard let policy = CachePolicy(name: name) else { throw TestFailure("the policy \(name)") }
        return CacheRequest(
            method: request.values["request_method"] ?? "GET", fields: fields,
            policy: isWithoutStore ? .noStore : policy)
    }

    private func serverTime(_ result: CacheTestLoader.Result) -> UnixTime {
        UnixTime(seconds: result.fields.first(named: "Server-Now").flatMap { Int64($0) } ?? 0)
    }

    private func require(
        _ condition: Bool, _ request: CacheTest.Request?, _ member: String, _ text: @autoclosure () -> String
    ) throws {
        if !condition { throw Fault(isSetup: request?.isSetup(member) ?? true, description: text()) }
    }
}

/// Checks of the responses.
extension CacheTestRun {
    private func check(_ result: CacheTestLoader.Result, of request: CacheTest.Request, number: Int) throws {
        try checkRepeats(result)
        let count = result.fields.first(named: "Server-Request-Count").flatMap { Int($0) }
        switch request.values["expected_type"] {
        case "cached" where !(result.status == 304 && count == nil):
            try require(count.map { $0 < number } ?? false, request, "expected_type", "\(number) is not from the cache")
        case "not_cached": try require(count == number, request, "expected_type", "\(number) is from the cache")
        default: break
        }
        try checkStatus(result.status, of: request, number: number)
        try checkFields(result, of: request, number: number)
        try checkBody(result, of: request, number: number)
    }

    private func checkRepeats(_ result: CacheTestLoader.Result) throws {
        let numbers = result.fields.first(named: "Request-Numbers")?.split(separator: " ") ?? []
        try require(numbers.count == Set(numbers).count, nil, "", "a request was sent again")
    }

    private func checkStatus(_ status: Int, of request: CacheTest.Request, number: Int) throws {
        if let expected = request.values["expected_status"] {
            let isRight = expected == "null" || "\(status)" == expected
            try require(isRight, request, "expected_status", "\(number) has status \(status), not \(expected)")
        } else if let expected = request.values["response_status"] {
            try require("\(status)" == expected, nil, "", "\(number) has status \(status), not \(expected)")
        } else if status == 999 {
            try require(false, request, "expected_type", "\(number) did not ask whether it had changed")
        } else {
            try require(status == 200, nil, "", "\(number) has status \(status)")
        }
    }

    private func checkFields(_ result: CacheTestLoader.Result, of request: CacheTest.Request, number: Int) throws {
        func got(_ name: String) -> String? {
            let values = result.fields.values(named: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        for expectation in request.responseExpectations {
            let isRight: Bool
            switch expectation {
            case .present(let name): isRight = got(name) != nil
            case .value(let name, let value):
                let base = result.fields.first(named: "Server-Base-Url") ?? ""
                let wanted = CacheTestServer.text(
                    of: name, value, base: base, in: request, now: serverTime(result))
                isRight = got(name) == wanted
            case .equalTo(let name, let other): isRight = got(name) == got(other) && got(name) != nil
            case .greater(let name, let least): isRight = got(name).flatMap { Int64($0) }.map { $0 > least } ?? false
            }
            try require(isRight, request, "expected_response_headers", "\(number): \(expectation) of \(result.fields)")
        }
        for case .present(let name) in request.responseMissing {
            try require(got(name) == nil, request, "expected_response_headers_missing", "\(number) has \(name)")
        }
    }

    private func checkBody(_ result: CacheTestLoader.Result, of request: CacheTest.Request, number: Int) throws {
        let text = String(decoding: result.body, as: UTF8.self)
        if request.values["check_body"] == "false" { return }
        if let expected = request.values["expected_response_text"] {
            let isRight = expected == "null" || text == expected
            try require(isRight, request, "expected_response_text", "\(number) has the body \(text), not \(expected)")
        } else if let expected = request.values["response_body"], expected != "null" {
            try require(text == expected, nil, "", "\(number) has the body \(text), not \(expected)")
        } else if ![204, 304].contains(result.status), request.values["request_method"] != "HEAD" {
            try require(text == server.name, nil, "", "\(number) has the body \(text)")
        }
    }
}

/// Checks of the requests that the server received.
extension CacheTestRun {
    private func checkWhatCame() throws {
        var next = 0
        for (index, request) in test.requests.enumerated() {
            let type = request.values["expected_type"]
            if type == "cached" { continue }
            let seen = next < server.seen.count ? server.seen[next] : nil
            next += 1
            if type == "not_cached" {
                try require(seen?.number == index + 1, request, "expected_type", "\(index + 1) was not sent")
            }
            let condition = ["etag_validated": "If-None-Match", "lm_validated": "If-Modified-Since"][type ?? ""]
            if let condition {
                let isRight = seen?.fields.contains(named: condition) ?? false
                try require(isRight, request, "expected_type", "\(index + 1) was sent without \(condition)")
            }
            try checkSent(seen?.fields ?? HeaderList(), of: request, number: index + 1)
            for (name, value) in seen?.kept ?? [] where !["date", "set-cookie"].contains(name.lowercased()) {
                let got = results[index].fields.values(named: name).joined(separator: ", ")
                try require(got == value, nil, "", "\(index + 1) has \(name): \(got), not \(value)")
            }
            if let method = request.values["expected_method"] {
                try require(seen?.method == method, request, "expected_method", "\(index + 1) was no \(method)")
            }
        }
    }

    private func checkSent(_ fields: HeaderList, of request: CacheTest.Request, number: Int) throws {
        for expectation in request.requestExpectations {
            switch expectation {
            case .value(let name, .text(let text)):
                let isRight = fields.combined(named: name) == text
                try require(isRight, request, "expected_request_headers", "\(number) was sent without \(name): \(text)")
            case .present(let name):
                let isRight = fields.contains(named: name)
                try require(isRight, request, "expected_request_headers", "\(number) was sent without \(name)")
            default: throw TestFailure("an expectation of a request: \(expectation)")
            }
        }
        for case .present(let name) in request.requestMissing {
            try require(
                !fields.contains(named: name), request, "expected_request_headers_missing", "\(number) has \(name)")
        }
    }
}
