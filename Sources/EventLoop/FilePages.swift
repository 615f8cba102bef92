import Glibc

/// Pages of files in this process's memory that it can drop at any time.
///
/// After a launch, half of the resident memory consists of pages of libraries that the loader, the Swift runtime and
/// the plugins' first steps have read, most of them only once. They are clean copies of files. After this process drops
/// them, they stay in the kernel's cache, and pages that are used again come back from there without a read.
public enum FilePages {
    /// Drops these pages. Any thread; takes a few milliseconds.
    public static func release() {
        let descriptor = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let file = fdopen(ReservedDescriptors.moved(descriptor), "r") else { return }
        defer { fclose(file) }
        var reader = MappingReader()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0 {
            if let line { reader.take(line) }
        }
        for mapping in reader.finish() {
            // Fails only if the mapping was removed.
            _ = madvise(UnsafeMutableRawPointer(bitPattern: mapping.start), mapping.byteCount, MADV_DONTNEED)
        }
    }

    struct Mapping: Equatable {
        var start: UInt
        var byteCount: Int
    }

    /// Finds in the lines of /proc/PID/smaps the mappings of files that were not modified: read-only, and without
    /// private pages, which the loader's relocations create.
    ///
    /// There are thousands of lines: they are examined byte by byte, without creating strings.
    struct MappingReader {
        private var found: [Mapping] = []
        private var current: Mapping?

        mutating func take(_ line: UnsafePointer<CChar>) {
            if Self.begins(line, "Anonymous:") || Self.begins(line, "Private_Dirty:") {
                if let colon = strchr(line, 0x3A), strtoul(colon + 1, nil, 10) != 0 { current = nil }
            } else if isupper(Int32(line.pointee)) == 0 {
                // Names of values begin with a capital letter, addresses never do.
                keepCurrent()
                current = Self.readOnlyFile(line)
            }
        }

        mutating func finish() -> [Mapping] {
            keepCurrent()
            return found
        }

        private mutating func keepCurrent() {
            if let current { found.append(current) }
            current = nil
        }

        private static func begins(_ line: UnsafePointer<CChar>, _ word: StaticString) -> Bool {
            strncmp(line, UnsafeRawPointer(word.utf8Start).assumingMemoryBound(to: CChar.self), word.utf8CodeUnitCount)
                == 0
        }

        /// Parses a line such as `7f0000000000-7f0000021000 r-xp 00000000 fe:00 1234 /usr/lib/libfoo.so`.
        private static func readOnlyFile(_ line: UnsafePointer<CChar>) -> Mapping? {
            var behind: UnsafeMutablePointer<CChar>?
            let start = strtoul(line, &behind, 16)
            guard let dash = behind, dash.pointee == 0x2D else { return nil }
            let end = strtoul(dash + 1, &behind, 16)
            guard let space = behind, begins(space, " r-xp") || begins(space, " r--p"), strchr(space, 0x2F) != nil,
                end > start
            else { return nil }
            return Mapping(start: start, byteCount: Int(end - start))
        }
    }
}
