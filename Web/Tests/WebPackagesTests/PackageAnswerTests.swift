import Testing

@testable import OfflinePackages
@testable import WebPackages

@Suite("Requests for files of packages") struct PackageAnswerTests {
    private static let head = """
        {"id":"notes","version":"1.0","network":"https://api.example","csp":"default-src 'self'",\
        "accepts":[{"method":"POST","path":"/api/"}],"files":{}}
        """

    private func answer(
        _ method: String, _ path: String, _ fields: [String: String] = [:], head: String = Self.head
    ) throws -> PackageAnswer {
        let object = try PackageManifest.object(Array(head.utf8))
        let file = PackageManifest.File(
            path: "index.html", sha256: String(repeating: "0", count: 64), byteCount: 1, type: "text/html")
        let manifest = try PackageManifest(PackageHead(object), [file], PackageLimits())
        let request = PackageRequest(
            method, "trestle://notes\(path)",
            fields: fields.map { PackageRequest.Field(name: $0.key, value: $0.value) })
        return PackageAnswer(request, manifest, policy: "frame-src 'none'")
    }

    @Test(
        "an address has a path, and a folder its index",
        arguments: [
            ("trestle://notes", "index.html"), ("trestle://notes/", "index.html"),
            ("trestle://notes/a/", "a/index.html"),
            ("trestle://notes/a/b.js?c/d#e", "a/b.js"), ("trestle://notes/%E5%BC%B9%20x", "弹 x"),
            ("trestle://notes/a%2Fb", "a/b"), ("trestle://notes/..%2f..%2fx", "../../x"),
        ])
    func paths(uri: String, path: String) { #expect(PackageRequest("GET", uri).path == path) }

    @Test(
        "invalid percent encodings have no path",
        arguments: [
            "trestle://notes/%", "trestle://notes/%4", "trestle://notes/%zz", "trestle://notes/%+1",
            "trestle://notes/%FF",
        ])
    func broken(uri: String) { #expect(PackageRequest("GET", uri).path == nil) }

    @Test("a file that the package lacks is requested from its network, with path, query and the page's fields")
    func lacking() throws {
        let fields = [
            "X-Own": "1", "Cookie": "a=b", "Origin": "https://evil.example", "Sec-Fetch-Site": "none",
            "Proxy-Authorization": "x", "Host": "evil.example", "trestle-body": "whole",
        ]
        let found = try answer("GET", "/api/list%20x?q=a/../b&c=%2e#d", fields)
        #expect(found.network?.url == "https://api.example/api/list%20x?q=a/../b&c=%2e")
        #expect(found.network?.fields == [PackageRequest.Field(name: "X-Own", value: "1")])
        #expect(found.network?.hasBody == false)
        let policies = found.fields.filter { $0.name == "Content-Security-Policy" }.map(\.value)
        #expect(policies == ["frame-src 'none'", "default-src 'self'", "sandbox"])
    }

    @Test("the package's own files are never requested from the network") func own() throws {
        let found = try answer("GET", "/index.html")
        #expect(found.status == 200 && found.file != nil && found.network == nil)
    }

    @Test("documents come only from the package: a missing one is 404") func documents() throws {
        let found = try answer("GET", "/other.html", ["Accept": "text/html,application/xhtml+xml"])
        #expect(found.status == 404 && found.network == nil)
    }

    @Test("a package without a network answers 404, and refuses methods with a body") func alone() throws {
        let head = #"{"id":"notes","version":"1.0","accepts":[{"method":"POST","path":"/api/"}],"files":{}}"#
        #expect(try answer("GET", "/api/x", head: head).status == 404)
        #expect(try answer("POST", "/api/x", ["Trestle-Body": "whole"], head: head).status == 405)
    }

    @Test("a request with a body is sent if the manifest accepts its method and path and its body was read")
    func bodies() throws {
        let mark = ["Trestle-Body": "whole"]
        #expect(try answer("POST", "/api/x", mark).network?.hasBody == true)
        #expect(try answer("PUT", "/api/x", mark).status == 405)
        #expect(try answer("POST", "/apis", mark).status == 405)
        let unmarked = try answer("POST", "/api/x")
        #expect(unmarked.status == 415 && unmarked.network == nil)
    }

    @Test(
        "paths that a server could interpret differently are not requested from the network",
        arguments: [
            "/api/../admin", "/api/%2e%2e/admin", "/api/%2E./admin", "/api/..%2fadmin", "/api/../%CC%81admin",
            "/api/%25%CC%81",
            "/api/%5c%CC%81x", "/api%2fx", "/api/%5cx",
            "/api/\\x", "/api/%252e%252e/admin", "/api/%00", "/api/%0d%0aX: y", "/api/%zz", "/api/./x",
        ])
    func ambiguous(path: String) throws {
        #expect(try answer("GET", path).network == nil)
        #expect(try answer("POST", path, ["Trestle-Body": "whole"]).status == 405)
    }
}
