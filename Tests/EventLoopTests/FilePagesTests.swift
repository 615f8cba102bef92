import Testing

@testable import EventLoop

@Suite struct FilePagesTests {
    private func mappings(_ text: String) -> [FilePages.Mapping] {
        var reader = FilePages.MappingReader()
        for line in text.split(separator: "\n") { String(line + "\n").withCString { reader.take($0) } }
        return reader.finish()
    }

    @Test("Only unmodified private mappings of files are selected")
    func cleanOnly() {
        let text = """
            55d0c0000000-55d0c0100000 r-xp 00000000 fe:00 1000                       /usr/bin/trestled
            Rss:                1024 kB
            Private_Dirty:         0 kB
            Anonymous:             0 kB
            7f0000000000-7f0000010000 r--p 00000000 fe:00 1001                       /usr/lib/relocated.so
            Private_Dirty:        12 kB
            Anonymous:            12 kB
            7f0000010000-7f0000020000 rw-p 00010000 fe:00 1001                       /usr/lib/relocated.so
            Private_Dirty:         0 kB
            Anonymous:             0 kB
            7f0000020000-7f0000030000 r--p 00000000 00:00 0                          [vvar]
            Anonymous:             0 kB
            7f0000030000-7f0000040000 r--p 00000000 00:00 0
            Anonymous:             0 kB
            7f0000040000-7f0000041000 r--s 00000000 fe:00 1002                       /var/lib/shared
            Anonymous:             0 kB
            7f0000050000-7f0000052000 r--p 00000000 fe:00 1003                       /usr/lib/last one.so
            Anonymous:             0 kB
            """
        #expect(
            mappings(text) == [
                .init(start: 0x55d0_c000_0000, byteCount: 0x10_0000), .init(start: 0x7f00_0005_0000, byteCount: 0x2000),
            ])
    }

    @Test(
        "Text that is not a list of mappings yields none", arguments: ["", "abc", "12-", "ff-00 r-xp /x", "-", "1-2"])
    func nonsense(_ text: String) { #expect(mappings(text).isEmpty) }
}
