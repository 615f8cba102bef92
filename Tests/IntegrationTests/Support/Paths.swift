import Glibc

/// The paths that the tests need.
enum Paths {
    /// The build folder. It contains the test program, the daemon, the commands and the plugins.
    static let build: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        let program = path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
        return String(decoding: program.prefix(program.lastIndex(of: UInt8(ascii: "/")) ?? 0), as: UTF8.self)
    }()

    /// The root folder of the package.
    static let package: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(4).joined(separator: "/")
    }()

    static func program(_ name: String) -> String { "\(build)/\(name)" }
}
