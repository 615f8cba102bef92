import EventLoop
import Glibc

/// The location of the vectors.
enum VectorFolder {
    /// The folder that is shipped with the program: in the installation, or in the checkout in which it was built.
    static var standard: String? {
        guard let program = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(program) }
        let parts = String(cString: program).split(separator: "/")
        let candidates = [
            parts.dropLast(2) + ["share", "trestle", "conformance"],
            // .build/TRIPLE/CONFIGURATION/trestle
            parts.dropLast(4) + ["Tests", "Conformance"],
            // .build/NAME/TRIPLE/CONFIGURATION/trestle, with --scratch-path .build/NAME
            parts.dropLast(5) + ["Tests", "Conformance"],
        ]
        return candidates.map { "/" + $0.joined(separator: "/") }.first { access($0, R_OK | X_OK) == 0 }
    }

    /// Reads the vectors of a folder in the order of their names, or a single named file.
    ///
    /// - Throws: ``VectorError`` if there is none or if one is invalid.
    static func vectors(at path: String) throws(VectorError) -> [Vector] {
        let files = path.hasSuffix(".json") ? [path] : try names(in: path).map { "\(path)/\($0)" }
        guard !files.isEmpty else {
            throw VectorError(description: "\(path) contains no file whose name ends in .json")
        }
        var vectors: [Vector] = []
        for file in files {
            let bytes: [UInt8]
            do { bytes = try InputFile(file).contents() } catch { throw VectorError(description: "\(error)") }
            vectors.append(try VectorReader(file: file).read(bytes))
        }
        return vectors
    }

    private static func names(in path: String) throws(VectorError) -> [String] {
        do throws(SystemError) {
            return try FolderContents.names(in: path).filter { $0.hasSuffix(".json") }.sorted()
        } catch {
            throw VectorError(description: "\(path) cannot be read: \(error.reason)")
        }
    }
}
