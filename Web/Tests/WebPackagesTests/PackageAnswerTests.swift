import Testing

@testable import WebPackages

@Suite("Requests for files of packages") struct PackageAnswerTests {
    @Test(
        "an address names a path, a folder its index",
        arguments: [
            ("trestle://notes", "index.html"), ("trestle://notes/", "index.html"),
            ("trestle://notes/a/", "a/index.html"),
            ("trestle://notes/a/b.js?c/d#e", "a/b.js"), ("trestle://notes/%E5%BC%B9%20x", "弹 x"),
            ("trestle://notes/a%2Fb", "a/b"), ("trestle://notes/..%2f..%2fx", "../../x"),
        ])
    func paths(uri: String, path: String) { #expect(PackageAnswer.path(of: uri) == path) }

    @Test(
        "percent signs that make no text name nothing",
        arguments: [
            "trestle://notes/%", "trestle://notes/%4", "trestle://notes/%zz", "trestle://notes/%+1",
            "trestle://notes/%FF",
        ])
    func broken(uri: String) { #expect(PackageAnswer.path(of: uri) == nil) }
}
