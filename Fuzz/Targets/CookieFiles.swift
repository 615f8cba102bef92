@testable import CookiesTasks
import HTTPRules

// Files of cookies. The input: a byte for the size of the chunks, and the file.
//
// - The parts of a file add up to the file, whatever its chunks are; a part begins with the line that it states.
// - The cookies of a file in Netscape's form are the same after writing and reading them, apart from data that the form
//   cannot represent.
// - A line is a cookie, a comment, or an error with its number.
// - The cookies of JSON lines can be set, or are errors with their numbers.
func fuzzCookieFiles(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let chunk = Int(input.byte()) % 64 + 1
    let file = input.all()
    let now = UnixTime(seconds: 1_800_000_000)
    try checkParts(of: file, chunk: chunk)
    try checkNetscape(file, at: now)
    var cookies = ImportedCookies(jsonLines: file, from: 1, at: now)
    var jar = CookieJar(suffixes: suffixes)
    let count = cookies.set(in: &jar, at: now)
    try require(count + cookies.problems.count >= cookies.entries.count, "a cookie is neither set nor refused")
}

// `!`: the system's list exists wherever libpsl is installed.
private let suffixes = PublicSuffixList()!

private func checkParts(of file: [UInt8], chunk: Int) throws(Violation) {
    var parts = LineParts()
    var rest = file[...]
    var joined: [UInt8] = []
    var lines = 1
    func take(_ part: LineParts.Part) throws(Violation) {
        try require(part.firstLine == lines, "a part says line \(part.firstLine), not \(lines)")
        lines += part.bytes.count { $0 == UInt8(ascii: "\n") }
        joined += part.bytes
    }
    while !rest.isEmpty {
        parts.append(Array(rest.prefix(chunk)))
        rest = rest.dropFirst(chunk)
        // Inputs are shorter than the longest line.
        while let part = (try? parts.next()) ?? nil { try take(part) }
    }
    if let part = parts.last() { try take(part) }
    try require(joined == file, "the parts are another file")
}

private func checkNetscape(_ file: [UInt8], at now: UnixTime) throws(Violation) {
    guard let content = NetscapeCookieFile.read(file, suffixes: suffixes, at: now) else {
        throw Violation(description: "a short file is too long")
    }
    let lines = file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count
    try require(content.problems.keys.allSatisfy { (1...max(1, lines)).contains($0) }, "a problem with no line")
    let written = NetscapeCookieFile.write(content.cookies, withSameSite: true)
    try require(written.skipped.isEmpty, "what was read cannot be written")
    let again = NetscapeCookieFile.read(written.bytes, suffixes: suffixes, at: now)
    try require(again?.problems.isEmpty == true, "what was written is refused: \(written.bytes.shown)")
    try require(again?.cookies == content.cookies, "what was written is read as something else")
}
