import Testing

@testable import WebContainer

@Suite("Copies of pages") struct KeptPagesTests {
    private func page(_ uri: String, bytes: Int = 1) -> KeptPage {
        KeptPage(uri: uri, html: String(repeating: "x", count: bytes), time: "now")
    }

    @Test("an address has one copy, the newest, whatever its fragment")
    func newest() {
        var pages = KeptPages()
        for bytes in 1...2 { _ = pages.keep(page("https://a.example/", bytes: bytes)) }
        #expect(pages["https://a.example/#b"]?.html == "xx")
        #expect(pages["https://a.example/?b"] == nil)
        pages.removeAll()
        #expect(pages["https://a.example/"] == nil)
    }

    @Test("the oldest are removed if they are too many or too long; a page that is too long is not kept")
    func bounds() {
        var pages = KeptPages()
        for number in 0...KeptPages.maximum { _ = pages.keep(page("\(number)")) }
        #expect(pages["0"] == nil && pages["1"] != nil)
        let isTooLong = !pages.keep(page("long", bytes: KeptPages.maximumPageBytes + 1))
        #expect(isTooLong)
        for number in 0...(KeptPages.maximumBytes / KeptPages.maximumPageBytes) {
            _ = pages.keep(page("long\(number)", bytes: KeptPages.maximumPageBytes))
        }
        #expect(pages["1"] == nil && pages["long0"] == nil && pages["long1"] != nil)
    }
}
