import Foundation
import PluginInterface
import TestSupport
import Testing

@Suite("The symbols that a library exports")
struct ExportedSymbolTests {
    /// libEchoPlugin.so, which is built with the tests into the directory of the test executable.
    private let echo = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "libEchoPlugin.so").path(percentEncoded: false)

    @Test("Exported symbols are found in a library's file without loading it; other symbols are not found")
    func found() throws {
        #expect(ExportedSymbol.isExported("trestle_plugin_entry", by: echo))
        #expect(!ExportedSymbol.isExported("trestle_plugin_entr", by: echo))
        #expect(!ExportedSymbol.isExported(ExportedSymbol.wantsProcess, by: echo))
        // The library uses this symbol but does not define it.
        #expect(!ExportedSymbol.isExported("memcpy", by: echo))
    }

    @Test("A file that is not a library, or does not exist, exports nothing")
    func noLibrary() throws {
        let folder = try TemporaryFolder()
        for (name, text) in [("empty", ""), ("text", "trestle_plugin_entry"), ("start", "\u{7F}ELF")] {
            let path = try folder.write(text, to: name)
            #expect(!ExportedSymbol.isExported("trestle_plugin_entry", by: path))
        }
        #expect(!ExportedSymbol.isExported("trestle_plugin_entry", by: folder.file("missing")))
        #expect(!ExportedSymbol.isExported("trestle_plugin_entry", by: folder.path))
    }

    @Test("A damaged library is searched without reading out of bounds", arguments: 0..<200 as Range<UInt64>)
    func damaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // The first 64 KiB of the library. The offset of its section headers is set to a random place in them.
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: echo)).prefix(64 << 10))
        let sections = UInt64(Int.random(in: 64..<60 << 10, using: &random))
        bytes.replaceSubrange(0x28..<0x30, with: withUnsafeBytes(of: sections.littleEndian) { Array($0) })
        for _ in 0..<4 { bytes[Int(sections) + Int.random(in: 0..<1_024, using: &random)] = 11 }
        for _ in 0..<4 { bytes[Int.random(in: 6..<64, using: &random)] = .random(in: .min ... .max, using: &random) }
        let folder = try TemporaryFolder()
        let path = folder.file("damaged")
        try Data(bytes).write(to: URL(filePath: path))
        // The result does not matter; the search must not read out of bounds.
        _ = ExportedSymbol.isExported("trestle_plugin_entry", by: path)
    }
}
