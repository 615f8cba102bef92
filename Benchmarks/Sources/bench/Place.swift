import Glibc

/// The locations of the programs and of a run's files. Sockets are in a folder with a short name. Databases are on the
/// file system of the build, because a temporary folder may be in memory.
struct Place {
    /// The folder of this program and of the programs built with it.
    let programs: String
    /// The daemon's executable.
    let daemon: String
    /// The folder for sockets, logs and configurations.
    let sockets: String
    /// The folder for databases.
    let data: String

    init(daemon: String) throws {
        let own = try Self.realPath("/proc/self/exe")
        programs = Self.folder(of: own)
        guard access(daemon, X_OK) == 0 else {
            throw Failure("there is no daemon at \(daemon): swift build -c release builds it, --daemon names another")
        }
        self.daemon = try Self.realPath(daemon)
        sockets = try Self.makeFolder("/tmp/trestle-bench-XXXXXX")
        data = try Self.makeFolder(programs + "/bench-data-XXXXXX")
    }

    /// Returns the path of a program that was built with this one.
    func program(_ name: String) -> String { programs + "/" + name }

    /// Returns the path of a library that was built with the daemon.
    func besideDaemon(_ library: String) -> String { Self.folder(of: daemon) + "/" + library }

    /// The path of the daemon's log, for the report of a failure.
    var daemonLog: String { sockets + "/trestle.log" }

    /// Removes the run's files.
    func remove() {
        _ = try? ChildProcess(["rm", "-rf", "--", sockets, data], tidiesUp: true).finish()
    }

    /// Returns the file system of a path, such as "ext4 on /dev/vda".
    static func fileSystem(of path: String) -> String {
        var found = (length: -1, text: "unknown")
        for line in readFile("/proc/self/mounts").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1] == "/" ? "/" : fields[1] + "/"
            if (path + "/").hasPrefix(point), point.utf8.count >= found.length {
                found = (point.utf8.count, "\(fields[2]) on \(fields[0])")
            }
        }
        return found.text
    }

    /// Returns the path of a program of the system; `nil` if it is not installed.
    static func find(_ program: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    private static func realPath(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else { throw Failure("\(path): \(lastError())") }
        defer { free(real) }
        return String(cString: real)
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
    }

    private static func makeFolder(_ pattern: String) throws -> String {
        var name = Array(pattern.utf8CString)
        guard mkdtemp(&name) != nil else { throw Failure("no folder \(pattern): \(lastError())") }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Returns a small file as text; empty if it does not exist.
func readFile(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// Writes a file.
func writeFile(_ path: String, _ text: String) throws {
    guard let file = fopen(path, "w") else { throw Failure("\(path): \(lastError())") }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else { throw Failure("\(path): \(lastError())") }
}
