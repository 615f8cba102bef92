import Testing
import WebProfiles

@testable import WebContainer

@Suite("Public parameters") struct ParametersTests {
    private func parameters() throws -> Parameters {
        var parameters = Parameters()
        parameters.values = ["a": "1&2", "b": "ü"]
        parameters.places = [.url, .header]
        parameters.origins = [try PageOrigin("https://a.example")]
        return parameters
    }

    @Test(
        "are appended to the address of their origins' documents, escaped and at most once",
        arguments: [
            ("https://a.example/", "https://a.example/?a=1%262&b=%C3%BC"),
            ("https://a.example/?c=1#f", "https://a.example/?c=1&a=1%262&b=%C3%BC#f"),
            ("https://a.example/?a=0&b", "https://a.example/?a=0&b"),
            ("https://a.example/?", "https://a.example/?a=1%262&b=%C3%BC"),
            ("https://a.example/#?", "https://a.example/?a=1%262&b=%C3%BC#?"),
            ("https://a.example:444/", "https://a.example:444/"), ("https://b.example/", "https://b.example/"),
            ("about:blank", "about:blank"),
        ])
    func address(uri: String, expected: String) throws {
        #expect(try parameters().address(uri) == expected)
    }

    @Test(
        "are removed from an address before others receive it; its original parameters stay",
        arguments: [
            ("https://a.example/?c=1&a=1%262&b=%C3%BC#f", "https://a.example/?c=1#f"),
            ("https://a.example/?a=1%262&b=%C3%BC", "https://a.example/"),
            ("https://a.example/?a=0&b", "https://a.example/?a=0&b"),
            ("https://a.example/#?a", "https://a.example/#?a"),
            ("https://b.example/?a=1%262", "https://b.example/?a=1%262"),
        ])
    func removed(uri: String, expected: String) throws {
        #expect(try parameters().removed(from: uri) == expected)
    }

    @Test("are headers of the same requests") func headers() throws {
        let headers = try parameters().headers("https://a.example/")
        #expect(headers.map(\.0) == ["a", "b"] && headers.map(\.1) == ["1%262", "%C3%BC"])
        #expect(try parameters().headers("https://b.example/").isEmpty)
    }

    @Test("have names that are valid in headers, and values without control characters") func names() {
        #expect(Parameters.isName("x-token_1"))
        for name in ["", "a b", "a:b", "ü", "a\n", String(repeating: "a", count: 65)] {
            #expect(!Parameters.isName(name), "\(name)")
        }
        #expect(Parameters.isValue("ü x"))
        #expect(!Parameters.isValue("a\r\nb"))
    }
}
