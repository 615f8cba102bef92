import Glibc

/// Room for the file that SQLite maps into memory, the log's index (`-shm`).
///
/// SQLite makes room for it by writing one byte into each page of memory. A file system whose blocks are smaller, as
/// ext4 has them below 512 MiB, gives out one block of each page then, and the others as the memory is touched: where
/// it has none left, the kernel ends the process (SIGBUS).
enum MappedRoom {
    /// Twice what the index takes at first: two databases may be opened at a time.
    static let neededBytes: UInt64 = 2 * 32 << 10
    private static let pageBytes: UInt = 4_096

    /// Whether opening the database could end the process. Its file may be missing, its directory not.
    static func isMissing(beside path: String) -> Bool {
        var system = statvfs()
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        return statvfs(directory, &system) == 0 && isMissing(system)
    }

    static func isMissing(_ system: statvfs) -> Bool {
        // Not what is kept for root: not even root gets all of that.
        system.f_frsize < pageBytes && UInt64(system.f_bavail) * UInt64(system.f_frsize) < neededBytes
    }
}
