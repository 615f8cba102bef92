import Glibc
import Synchronization

/// A small file beside a database that says whether its contents have changed, for processes that keep answers about
/// them and do not open the database. Each change puts another random number into it.
///
/// The writer changes the mark before it acknowledges a change. A reader reads the mark first and asks for an answer
/// then; the answer holds as long as the mark is the same. This is also true while one process replaces another, and
/// after the file was removed, because writer and reader share only its path.
///
/// Safe on any thread. Reading takes two short system calls and does not wait for the disk: the file stays open, and is
/// opened again where it was removed or replaced. It must not be moved while somebody reads.
public final class ChangeMark: Sendable {
    private let path: String
    /// The file that is read; -1: none is open.
    private let file = Mutex<Int32>(-1)

    /// - Parameter database: The path of the database.
    public init(of database: String) { path = database + ".changed" }

    deinit { file.withLock { if $0 >= 0 { close($0) } } }

    /// Says that the contents have changed.
    ///
    /// - Throws: Where it cannot be said. The change must not be acknowledged then.
    public func change() throws(DatabaseFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw DatabaseFailure("\(path) cannot be opened", errno: errno) }
        defer { close(file) }
        var number = UInt64.random(in: .min ... .max)
        // A number of which only a part is written is another one as well.
        guard write(file, &number, MemoryLayout.size(ofValue: number)) > 0 else {
            throw DatabaseFailure("\(path) cannot be written", errno: errno)
        }
    }

    /// What is read again for as long as nothing changes; nil: there is no mark, and no answer may be kept.
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

    /// Whether an open file has not been removed.
    private static func hasName(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_nlink > 0
    }
}
