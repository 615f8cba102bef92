import Testing
import WebContainer

@Suite("Names of downloads") struct DownloadNameTests {
    @Test(
        "cannot leave their folder, be hidden, or change the direction of text",
        arguments: [
            ("a.txt", "a.txt"), ("../../etc/passwd", "_.._etc_passwd"), (".bashrc", "bashrc"), ("", "download"),
            ("...", "download"), ("a\u{202E}txt.exe", "a_txt.exe"), ("a\nb\0c", "a_b_c"), ("C:\\x", "C__x"),
            ("Übung.pdf", "Übung.pdf"),
        ])
    func cleaned(suggested: String, name: String) {
        #expect(DownloadName.cleaned(suggested) == name)
    }

    @Test("fit into a file system") func length() {
        #expect(DownloadName.cleaned(String(repeating: "ü", count: 1_000)).utf8.count == 200)
    }

    @Test("have a number before the extension in copies") func copies() {
        #expect(DownloadName.copy("a.txt", 0) == "a.txt")
        #expect(DownloadName.copy("a.txt", 2) == "a (2).txt")
        #expect(DownloadName.copy("a", 1) == "a (1)")
    }
}

@Suite("Rate limits") struct RateLimitTests {
    @Test("one event passes in each interval") func interval() {
        var limit = RateLimit(.milliseconds(100))
        let moments: [Duration] = [.zero, .milliseconds(99), .milliseconds(100), .seconds(9)]
        #expect(moments.map { limit.admits(at: $0) } == [true, false, true, true])
    }
}
