import Glibc

/// What a library says before it is loaded: the symbols that it exports, read from its file.
package enum ExportedSymbol {
    /// A library that exports it runs in a process of its own, unless its section says otherwise. It is known before
    /// the library is loaded, with all that it is linked with; what the manifest says is not. Never called.
    package static let wantsProcess = "trestle_plugin_wants_process"

    /// Whether a library of 64 bits exports a symbol. Blocks.
    ///
    /// - Returns: false also where the file cannot be read or is no such library: who loads it says why.
    package static func isExported(_ name: String, by path: String) -> Bool {
        guard let file = MappedFile(path) else { return false }
        return ExportedSymbols(of: file.bytes)?.contains(Array(name.utf8) + [0]) ?? false
    }
}

/// The two tables of a file in the format ELF: its symbols for others, and their names. Valid as long as the file's
/// bytes.
private struct ExportedSymbols {
    private let symbols: UnsafeRawBufferPointer
    private let names: UnsafeRawBufferPointer

    /// ELF-64: the header of the file, of a section, and a symbol.
    private static let (headerBytes, sectionBytes, symbolBytes) = (64, 64, 24)
    private static let dynamicSymbols: UInt32 = 11

    /// Nil: it is no library of 64 bits, or one without symbols.
    init?(of file: UnsafeRawBufferPointer) {
        guard let header = file.part(at: 0, UInt64(Self.headerBytes)),
            header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, Self.byteOrder]),
            Int(header.number(at: 0x3A, as: UInt16.self)) == Self.sectionBytes
        else { return nil }
        let count = Int(header.number(at: 0x3C, as: UInt16.self))
        let start = header.number(at: 0x28, as: UInt64.self)
        guard let sections = file.part(at: start, UInt64(count * Self.sectionBytes)),
            let symbols = (0..<count).first(where: { Self.kind($0, sections) == Self.dynamicSymbols })
        else { return nil }
        let names = Int(sections.number(at: symbols * Self.sectionBytes + 0x28, as: UInt32.self))
        guard names < count, let symbolTable = Self.table(symbols, sections, file),
            let nameTable = Self.table(names, sections, file)
        else { return nil }
        (self.symbols, self.names) = (symbolTable, nameTable)
    }

    /// Whether a symbol of this name, a zero behind it, is defined.
    func contains(_ name: [UInt8]) -> Bool {
        stride(from: 0, to: symbols.count / Self.symbolBytes * Self.symbolBytes, by: Self.symbolBytes).contains {
            let start = UInt64(symbols.number(at: $0, as: UInt32.self))
            guard symbols.number(at: $0 + 6, as: UInt16.self) != 0,
                let found = names.part(at: start, UInt64(name.count))
            else { return false }
            return found.elementsEqual(name)
        }
    }

    private static var byteOrder: UInt8 { 1.littleEndian == 1 ? 1 : 2 }

    private static func kind(_ section: Int, _ sections: UnsafeRawBufferPointer) -> UInt32 {
        sections.number(at: section * sectionBytes + 4, as: UInt32.self)
    }

    private static func table(
        _ section: Int, _ sections: UnsafeRawBufferPointer, _ file: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        file.part(
            at: sections.number(at: section * sectionBytes + 0x18, as: UInt64.self),
            sections.number(at: section * sectionBytes + 0x20, as: UInt64.self))
    }
}

/// A file's bytes as the kernel has them: no memory of this process's own is taken. Who may cut the file short may end
/// the process: for files that are loaded as code afterwards, where that holds anyway.
private struct MappedFile: ~Copyable {
    let bytes: UnsafeRawBufferPointer

    /// Nil: it cannot be read, or is empty.
    init?(_ path: String) {
        // Non-blocking: what lies there may be a pipe.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0,
            let start = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0), start != MAP_FAILED
        else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: Int(status.st_size))
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

extension UnsafeRawBufferPointer {
    /// So many bytes from an offset on; nil: they are not there.
    fileprivate func part(at start: UInt64, _ count: UInt64) -> UnsafeRawBufferPointer? {
        guard start <= UInt64(self.count), count <= UInt64(self.count) - start else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[Int(start)..<Int(start + count)])
    }

    /// The number at an offset, in the byte order of this machine. The bytes are there.
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number
    {
        loadUnaligned(fromByteOffset: offset, as: type)
    }
}
