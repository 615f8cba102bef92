import Glibc
import Synchronization

/// A small file beside a database that shows whether its contents have changed, for processes that cache answers about
/// them and do not open the database. Each change writes another random number into it.
///
/// The writer changes the mark before it acknowledges a change. A reader reads the mark first and then requests an
/// answer. The answer is valid as long as the mark is the same. This also holds while one process replaces another, and
/// after the file was removed, because writer and reader share only its path.
///
/// Any thread. Reading takes two short system calls and does not wait for the disk: the file stays open, and is opened
/// again if it was removed or replaced. It must not be moved while a reader uses it.
public final class ChangeMark: Sendable {
    private let path: String
    /// The descriptor of the file that is read; -1 if none is open.
    private let file = Mutex<Int32>(-1)

    /// Creates the mark of a database. Does not access the file.
    /// - Parameter database: The path of the database.
    public init(of database: String) { path = database + ".changed" }

    deinit { file.withLock { if $0 >= 0 { close($0) } } }

    /// Records that the contents have changed.
    ///
    /// - Throws: `DatabaseFailure` if the mark cannot be written. The change must not be acknowledged then.
    public func change() throws(DatabaseFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw DatabaseFailure("\(path) cannot be opened", errno: errno) }
        defer { close(file) }
        var number = UInt64.random(in: .min ... .max)
        // A partly written number also differs from the previous one.
        guard write(file, &number, MemoryLayout.size(ofValue: number)) > 0 else {
            throw DatabaseFailure("\(path) cannot be written", errno: errno)
        }
    }

    /// A value that stays the same as long as the contents do not change; `nil` if there is no mark and no answer may
    /// be cached.
    public var value: UInt64? {
        file.withLock { file in
            if file >= 0, !Self.hasName(file) {
                close(file)
                file = -1
            }
            if file < 0 { file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
            guard file >= 0 else { return nil }
            var number: UInt64 = 0
            let size = MemoryLayout.size(ofValue: number)
            return pread(file, &number, size, 0) == size ? number : nil
        }
    }

    /// Whether an open file still has a name, and so has not been removed.
    private static func hasName(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_nlink > 0
    }
}
