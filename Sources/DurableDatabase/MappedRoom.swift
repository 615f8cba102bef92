import Glibc

/// Checks the disk space for the file that SQLite maps into memory, the log's index (`-shm`).
///
/// SQLite allocates it by writing one byte into each page of memory. If the blocks of the file system are smaller than
/// a page, as on an ext4 below 512 MiB, this allocates one block of each page. The other blocks are allocated when the
/// memory is accessed: if none is free then, the kernel ends the process (SIGBUS).
enum MappedRoom {
    /// Twice the initial size of the index: two databases may be opened at a time.
    static let neededBytes: UInt64 = 2 * 32 << 10
    private static let pageBytes: UInt = 4_096

    /// Whether opening the database could end the process. The file may be missing; its directory must exist.
    static func isMissing(beside path: String) -> Bool {
        var system = statvfs()
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        return statvfs(directory, &system) == 0 && isMissing(system)
    }

    static func isMissing(_ system: statvfs) -> Bool {
        // Without the blocks that are reserved for root: even root does not get all of them.
        system.f_frsize < pageBytes && UInt64(system.f_bavail) * UInt64(system.f_frsize) < neededBytes
    }
}
