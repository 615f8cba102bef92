import EventLoop
import Glibc

/// Where vectors are, and which.
enum VectorFolder {
    /// The folder that comes with the program: where it is installed, or in the checkout that it was built in.
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

    /// The vectors of a folder, or the one that is named, by their names.
    ///
    /// - Throws: ``VectorError`` where there is none, or where one cannot be used.
    static func vectors(at path: String) throws(VectorError) -> [Vector] {
        let files = path.hasSuffix(".json") ? [path] : try names(in: path).map { "\(path)/\($0)" }
        guard !files.isEmpty else { throw VectorError(description: "\(path) holds no file that ends in .json") }
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
            throw VectorError(description: "\(path) cannot be read: \(String(cString: strerror(error.code)))")
        }
    }
}
