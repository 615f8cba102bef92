import Foundation
import Testing

@Suite("Suites whose tests wait")
struct WaitingSuiteTests {
    /// Returns the text from each `@Suite` in the sources of the tests to the next one.
    private func suites() throws -> [(file: String, text: Substring)] {
        let tests = Page.root.appending(path: "Tests").path
        let files = try #require(FileManager.default.enumerator(atPath: tests)).compactMap { $0 as? String }
        return try files.filter { $0.hasSuffix(".swift") }.flatMap { file in
            let text = try String(contentsOfFile: "\(tests)/\(file)", encoding: .utf8)
            let starts = text.ranges(of: /@Suite\b/).map(\.lowerBound)
            return zip(starts, starts.dropFirst() + [text.endIndex]).map { (file, text[$0..<$1]) }
        }
    }

    @Test("have a time limit, by which a test that waits without end fails with its name")
    func limits() throws {
        // In a test, or in a helper beside it.
        let waits = #/func [^{]*\basync\b/#
        let suites = try suites().filter { $0.text.contains(waits) }
        #expect(suites.count > 100)
        let endless = suites.filter { !$0.text.prefix { $0 != "{" }.contains(".timeLimit(") }
        #expect(endless.map(\.file) == [], "give their @Suite the trait .timeLimit(.minutes(20))")
    }
}
