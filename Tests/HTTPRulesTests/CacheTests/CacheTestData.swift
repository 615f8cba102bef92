import HTTPRules
import TestSupport

/// A test of the suite cache-tests: its requests in order, the responses of the server, and the expected results.
struct CacheTest {
    enum Kind: String { case required, optimal, check }

    /// The value of a field, actual or expected.
    enum Value: Equatable {
        case text(String)
        /// A number; in a date field, the seconds after the time of the response.
        case seconds(Int64)
    }

    /// A field with its value. `isKept` is whether the client must receive the value that the server sent.
    struct Field {
        var name: String
        var value: Value
        var isKept = true
    }

    /// The expected state of a field of a response or a request.
    enum Expectation {
        case present(String)
        case value(String, Value)
        case equalTo(String, other: String)
        case greater(String, than: Int64)
    }

    /// One request.
    struct Request {
        var values: [String: String] = [:]
        var requestFields: [Field] = []
        var responseFields: [Field] = []
        var responseExpectations: [Expectation] = []
        var responseMissing: [Expectation] = []
        var requestExpectations: [Expectation] = []
        var requestMissing: [Expectation] = []

        /// Whether the test sets a flag.
        func has(_ name: String) -> Bool { values[name] == "true" }
        /// Whether a member belongs to the preparation, whose failure does not count against the cache.
        func isSetup(_ member: String) -> Bool {
            has("setup") || (values["setup_tests"] ?? "").split(separator: ",").contains { $0 == member }
        }
    }

    var id: String
    var kind: Kind
    var dependencies: [String]
    var requests: [Request]
}

/// The tests, read with Node.js because they are JavaScript modules.
enum CacheTestData {
    /// Whether Node.js is installed.
    static let hasNode = (try? run("/usr/bin/env", ["node", "--version"]))?.end == .exited(0)

    /// Writes the tests that apply to a private cache: one item a line, with tabs between its parts.
    private static let script = """
        const { default: suites } = await import(process.argv[1])
        const lines = []
        const put = (...parts) => {
          if (parts.some(part => /[\\t\\n]/.test(part))) throw new Error('a tab in ' + parts)
          lines.push(parts.join('\\t'))
        }
        const value = v => Number.isInteger(v) ? '#' + v : '=' + v
        const fields = ['request_headers', 'response_headers']
        const expected = ['expected_response_headers', 'expected_response_headers_missing',
          'expected_request_headers', 'expected_request_headers_missing']
        for (const test of suites.flatMap(suite => suite.tests)) {
          if (test.cdn_only || test.browser_skip) continue
          put('test', test.id, test.kind ?? 'required', (test.depends_on ?? []).join(','))
          for (const request of test.requests) {
            put('request')
            for (const [key, member] of Object.entries(request)) {
              if (fields.includes(key)) {
                for (const [name, text, kept] of member) put(key, name, value(text), String(kept ?? true))
              } else if (expected.includes(key)) {
                for (const one of member) {
                  if (typeof one === 'string') put(key, one)
                  else put(key, one[0], ...one.slice(1).map(value))
                }
              } else if (key === 'response_status') put(key, String(member[0]))
              else put(key, String(member))
            }
          }
        }
        console.log(lines.join('\\n'))
        """

    /// Reads the tests.
    static func read() throws -> [CacheTest] {
        let path = PublicSuite.cacheTests.path(of: "tests/index.mjs")
        let node = try run("/usr/bin/env", ["node", "--input-type=module", "--eval", script, path])
        guard node.end == .exited(0) else { throw TestFailure(node.errors) }
        var tests: [CacheTest] = []
        for line in node.output.split(separator: "\n") {
            try take(line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init), &tests)
        }
        return tests
    }

    private static func take(_ parts: [String], _ tests: inout [CacheTest]) throws {
        let last = tests.count - 1
        switch parts[0] {
        case "test":
            guard let kind = CacheTest.Kind(rawValue: parts[2]) else { throw TestFailure("kind \(parts[2])") }
            let dependencies = parts[3].split(separator: ",").map(String.init)
            tests.append(CacheTest(id: parts[1], kind: kind, dependencies: dependencies, requests: []))
        case "request": tests[last].requests.append(CacheTest.Request())
        default: try take(parts, &tests[last].requests[tests[last].requests.count - 1])
        }
    }

    private static func take(_ parts: [String], _ request: inout CacheTest.Request) throws {
        switch parts[0] {
        case "request_headers": request.requestFields.append(try field(parts))
        case "response_headers": request.responseFields.append(try field(parts))
        case "expected_response_headers": request.responseExpectations.append(try expectation(parts))
        case "expected_response_headers_missing": request.responseMissing.append(try expectation(parts))
        case "expected_request_headers": request.requestExpectations.append(try expectation(parts))
        case "expected_request_headers_missing": request.requestMissing.append(try expectation(parts))
        default: request.values[parts[0]] = parts[1]
        }
    }

    private static func field(_ parts: [String]) throws -> CacheTest.Field {
        CacheTest.Field(name: parts[1], value: try value(parts[2]), isKept: parts[3] == "true")
    }

    private static func expectation(_ parts: [String]) throws -> CacheTest.Expectation {
        switch parts.count {
        case 2: return .present(parts[1])
        case 3: return .value(parts[1], try value(parts[2]))
        default: break
        }
        switch (parts[2], try value(parts[3])) {
        case ("==", .text(let other)): return .equalTo(parts[1], other: other)
        case ("=>", .seconds(let number)): return .greater(parts[1], than: number)
        default: throw TestFailure("an expectation of \(parts)")
        }
    }

    private static func value(_ text: String) throws -> CacheTest.Value {
        guard text.first == "#" else { return .text(String(text.dropFirst())) }
        guard let seconds = Int64(text.dropFirst()) else { throw TestFailure("a number in \(text)") }
        return .seconds(seconds)
    }
}
