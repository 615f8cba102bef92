import Foundation
import TestSupport
import Testing

// `scripts/test-install` checks the installed pages with mandoc. This suite needs no mandoc.
@Suite("Manual pages written from the help of the programs")
struct ManualPageTests {
    @Test("have no line of more than 80 columns outside of examples, as mandoc requires")
    func widths() throws {
        let folder = try TemporaryFolder()
        let built = DaemonProcess.buildFolder.path(percentEncoded: false)
        let root = Page.root.path(percentEncoded: false)
        _ = try Program.run(["\(root)/scripts/manual", built, "\(root)/etc/trestled.toml", folder.path])
        for page in ["trestle.1", "trestled.8", "trestled.toml.5"] {
            let text = try String(contentsOfFile: folder.file(page), encoding: .utf8)
            var isExample = false
            var count = 0
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if line.hasPrefix(".Bd -literal") { isExample = true }
                if line == ".Ed" { isExample = false }
                // A macro's line has no maximum: only text is wrapped.
                guard !isExample, !line.hasPrefix(".") else { continue }
                count += 1
                // mandoc counts a character outside of ASCII by its name, such as \[u2026].
                let columns = line.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 8) }
                #expect(columns <= 80, "\(page):\(number + 1): \(line)")
            }
            #expect(count > 20, "\(page) has no text")
        }
    }
}
