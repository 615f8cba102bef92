import Glibc

/// The symbols that a library exports, read from its file before it is loaded.
package enum ExportedSymbol {
    /// The symbol whose export makes a library run in a process of its own, unless its section specifies otherwise.
    /// Unlike the manifest, it can be read before the library and its dependencies are loaded. Never called.
    package static let wantsProcess = "trestle_plugin_wants_process"

    /// Returns whether a 64-bit library exports a symbol. Blocks.
    ///
    /// - Returns: False also if the file cannot be read or is no such library; loading it will report the reason.
    package static func isExported(_ name: String, by path: String) -> Bool {
        guard let file = MappedFile(path) else { return false }
        return ExportedSymbols(of: file.bytes)?.contains(Array(name.utf8) + [0]) ?? false
    }
}

/// The two tables of an ELF file: its dynamic symbols and their names. Valid as long as the file's bytes.
private struct ExportedSymbols {
    private let symbols: UnsafeRawBufferPointer
    private let names: UnsafeRawBufferPointer

    /// The sizes in ELF-64 of the file header, a section header, and a symbol.
    private static let (headerBytes, sectionBytes, symbolBytes) = (64, 64, 24)
    private static let dynamicSymbols: UInt32 = 11

    /// Finds the tables; `nil` if the file is no 64-bit library or has no symbols.
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

    /// Returns whether a symbol of this zero-terminated name is defined.
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

/// A file that is mapped into memory, which takes no memory of this process. A user that can truncate the file can end
/// the process, so it is only for files that are loaded as code afterwards, for which this is true anyway.
private struct MappedFile: ~Copyable {
    let bytes: UnsafeRawBufferPointer

    /// Maps a file; `nil` if it cannot be read or is empty.
    init?(_ path: String) {
        // Non-blocking, as the path may name a pipe.
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
    /// Returns `count` bytes from an offset on; `nil` if they are out of bounds.
    fileprivate func part(at start: UInt64, _ count: UInt64) -> UnsafeRawBufferPointer? {
        guard start <= UInt64(self.count), count <= UInt64(self.count) - start else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[Int(start)..<Int(start + count)])
    }

    /// Returns the number at an offset, in the byte order of this machine. The offset must be in bounds.
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number
    {
        loadUnaligned(fromByteOffset: offset, as: type)
    }
}
