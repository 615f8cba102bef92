import TaskKit
import Testing

@testable import CookiesTasks

@Suite("Splitting a file in chunks into parts of whole lines")
struct LinePartsTests {
    /// Returns the parts of a file that arrives in chunks of `chunk` bytes.
    private func parts(_ file: [UInt8], chunk: Int) throws -> [LineParts.Part] {
        var (lines, parts) = (LineParts(), [LineParts.Part]())
        var rest = file[...]
        while !rest.isEmpty {
            lines.append(Array(rest.prefix(chunk)))
            rest = rest.dropFirst(chunk)
            while let part = try lines.next() { parts.append(part) }
        }
        if let part = lines.last() { parts.append(part) }
        return parts
    }

    @Test(
        "The parts make up the file for any chunk size, with correct line numbers", arguments: [1, 7, 4096])
    func anyChunks(chunk: Int) throws {
        let file = Array((1...1234).map { "line \($0)\n" }.joined().utf8) + Array("last".utf8)
        let parts = try parts(file, chunk: chunk)
        #expect(parts.flatMap(\.bytes) == file)
        #expect(parts.map(\.firstLine) == [1, 501, 1001])
        for part in parts {
            #expect(String(decoding: part.bytes.prefix { $0 != 0x0A }, as: UTF8.self) == "line \(part.firstLine)")
        }
    }

    @Test("A part is limited in bytes, however few lines it has")
    func bound() throws {
        let line = [UInt8](repeating: 0x61, count: LineParts.maximumLineBytes - 1) + [0x0A]
        let parts = try parts(Array(repeatElement(line, count: 10).joined()), chunk: 100_000)
        #expect(parts.count >= 3)
        #expect(parts.allSatisfy { $0.bytes.count <= LineParts.partBytes && $0.bytes.last == 0x0A })
    }

    @Test("An empty file has no parts, and a line that is too long is refused")
    func edges() throws {
        #expect(try parts([], chunk: 1).isEmpty)
        #expect(throws: BridgeError.self) {
            try parts([UInt8](repeating: 0x61, count: LineParts.maximumLineBytes + 1), chunk: 1000)
        }
    }
}
