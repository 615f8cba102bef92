import Glibc

/// What a library says before it is loaded: the symbols that it exports, read from its file.
package enum ExportedSymbol {
    /// A library that exports it runs in a process of its own, unless its section says otherwise. It is known before the
    /// library is loaded, with all that it is linked with; what the manifest says is not. Never called.
    package static let wantsProcess = "trestle_plugin_wants_process"

    /// A table of symbols, or of their names, that is longer is not read.
    private static let maximumTableBytes = 16 << 20

    /// Whether a library of 64 bits exports a symbol. Blocks.
    ///
    /// - Returns: false also where the file cannot be read or is no such library: who loads it says why.
    package static func isExported(_ name: String, by path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Library(file)?.exports(Array(name.utf8) + [0]) ?? false
    }

    /// The two tables of a file in the format ELF: its symbols for others, and their names.
    private struct Library {
        private let symbols: [UInt8]
        private let names: [UInt8]

        /// ELF-64: the header of the file, of a section, and a symbol.
        private static let (headerBytes, sectionBytes, symbolBytes) = (64, 64, 24)
        private static let dynamicSymbols: UInt32 = 11

        init?(_ file: Int32) {
            guard let header = Self.read(file, at: 0, Self.headerBytes),
                header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, Self.byteOrder]),
                Int(header.number(at: 0x3A, as: UInt16.self)) == Self.sectionBytes
            else { return nil }
            let count = Int(header.number(at: 0x3C, as: UInt16.self))
            let start = header.number(at: 0x28, as: UInt64.self)
            guard let sections = Self.read(file, at: start, count * Self.sectionBytes),
                let symbols = (0..<count).first(where: { Self.kind($0, sections) == Self.dynamicSymbols })
            else { return nil }
            let names = Int(sections.number(at: symbols * Self.sectionBytes + 0x28, as: UInt32.self))
            guard names < count, let symbolTable = Self.table(symbols, sections, file),
                let nameTable = Self.table(names, sections, file)
            else { return nil }
            (self.symbols, self.names) = (symbolTable, nameTable)
        }

        /// Whether a symbol of this name, a zero behind it, is defined.
        func exports(_ name: [UInt8]) -> Bool {
            stride(from: 0, to: symbols.count / Self.symbolBytes * Self.symbolBytes, by: Self.symbolBytes).contains {
                let start = Int(symbols.number(at: $0, as: UInt32.self))
                return symbols.number(at: $0 + 6, as: UInt16.self) != 0 && start < names.count
                    && names[start...].starts(with: name)
            }
        }

        private static var byteOrder: UInt8 { 1.littleEndian == 1 ? 1 : 2 }

        private static func kind(_ section: Int, _ sections: [UInt8]) -> UInt32 {
            sections.number(at: section * sectionBytes + 4, as: UInt32.self)
        }

        private static func table(_ section: Int, _ sections: [UInt8], _ file: Int32) -> [UInt8]? {
            let start = sections.number(at: section * sectionBytes + 0x18, as: UInt64.self)
            let count = sections.number(at: section * sectionBytes + 0x20, as: UInt64.self)
            return read(file, at: start, Int(clamping: count))
        }

        /// So many bytes of a file; nil: they are not there, or too many.
        private static func read(_ file: Int32, at start: UInt64, _ count: Int) -> [UInt8]? {
            guard (0...maximumTableBytes).contains(count), let start = Int(exactly: start) else { return nil }
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
                while filled < count {
                    let got = pread(file, bytes.baseAddress.map { $0 + filled }, count - filled, start &+ filled)
                    guard got > 0 else { break }
                    filled += got
                }
            }
            return bytes.count == count ? bytes : nil
        }
    }
}

extension [UInt8] {
    /// The number at an offset, in the byte order of this machine. The bytes are there.
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number
    {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
