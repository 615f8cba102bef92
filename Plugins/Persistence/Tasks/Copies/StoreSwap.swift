import Glibc
import TaskKit

/// Replaces a database on disk by another one. No connection may have it open. At every moment, also after a crash, the
/// path leads to one of the two databases, complete.
struct StoreSwap {
    let database: StoreFile
    /// The path of the new database, in the same directory.
    let replacement: String

    /// The suffix of the names of replaced databases; a number follows.
    static let keptSuffix = ".before-restore-"

    private static let logSuffixes = ["-wal", "-journal"]

    /// - Returns: The new path of the replaced database.
    func carryOut() throws(BridgeError) -> String {
        // SQLite would use a log of the old database as one of the new database.
        for suffix in Self.logSuffixes where access(database.path + suffix, F_OK) == 0 {
            throw BridgeError(
                .storageFailed, "\(database.name)\(suffix) exists already: nothing was replaced; move it away")
        }
        let kept = try keep()
        do throws(BridgeError) {
            try Self.synchronise(database.directory, Self.directory)
            try check(rename(replacement, database.path), "the backup cannot be renamed")
        } catch {
            unlink(kept)
            throw error
        }
        do throws(BridgeError) {
            try Self.synchronise(database.directory, Self.directory)
        } catch {
            undo(kept: kept)
            throw error
        }
        return kept
    }

    /// Restores the old database. No connection may have the new one open.
    func undo(kept: String) {
        for suffix in Self.logSuffixes + ["-shm"] { unlink(database.path + suffix) }
        rename(kept, database.path)
        try? Self.synchronise(database.directory, Self.directory)
    }

    /// Gives the database a second name, the first free one with the suffix.
    private func keep() throws(BridgeError) -> String {
        var number = 1
        while true {
            let kept = "\(database.path)\(Self.keptSuffix)\(number)"
            if link(database.path, kept) == 0 { return kept }
            guard errno == EEXIST else {
                throw BridgeError(systemCode: errno, "a second name of \(database.name) cannot be created")
            }
            number += 1
        }
    }

    private func check(_ status: Int32, _ what: String) throws(BridgeError) {
        if status != 0 { throw BridgeError(systemCode: errno, what) }
    }

    private static let directory = "the state directory"

    /// Waits until a file, or the names in a directory, are on disk.
    ///
    /// - Parameter what: The file or directory, for messages: "the state directory".
    static func synchronise(_ path: String, _ what: String) throws(BridgeError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BridgeError(systemCode: errno, "\(what) cannot be opened") }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw BridgeError(systemCode: errno, "\(what) cannot be flushed to disk") }
    }

    /// Removes the files that a killed daemon has left: transfer files, and a second name of the database from an
    /// unfinished restore. No connection may have the database open.
    static func removeLeftovers(of database: StoreFile) {
        var present = stat()
        let exists = stat(database.path, &present) == 0
        for name in names(in: database.directory) where name.hasPrefix(database.name) {
            let path = "\(database.directory)/\(name)"
            let ending = name.dropFirst(database.name.count)
            if ending.hasPrefix(TransferRegistry.suffix) { unlink(path) }
            guard exists, ending.hasPrefix(keptSuffix) else { continue }
            var status = stat()
            if stat(path, &status) == 0, status.st_ino == present.st_ino, status.st_dev == present.st_dev {
                unlink(path)
            }
        }
    }

    private static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}
