import DurableDatabase
import Glibc
import TestSupport
import Testing

@Suite("The change mark of a database")
struct ChangeMarkTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("notes.sqlite") }
    private var mark: ChangeMark { ChangeMark(of: path) }

    init() throws { folder = try TemporaryFolder() }

    @Test("has no value before the first change, a new one after each, and the same one for all readers")
    func values() throws {
        #expect(mark.value == nil)
        var seen: Set<UInt64> = []
        for _ in 0..<100 {
            try mark.change()
            let value = try #require(mark.value)
            #expect(ChangeMark(of: path).value == value)
            seen.insert(value)
        }
        #expect(seen.count == 100)
    }

    @Test("has mode 0600")
    func mode() throws {
        try mark.change()
        var status = stat()
        #expect(stat(path + ".changed", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("has no value after its file is removed or truncated, and the next change creates it again")
    func removed() throws {
        try mark.change()
        let before = mark.value
        truncate(path + ".changed", 3)
        #expect(mark.value == nil)
        unlink(path + ".changed")
        #expect(mark.value == nil)
        try mark.change()
        #expect(mark.value != nil && mark.value != before)
    }

    @Test("has the value of the current file, even if the file was replaced")
    func replaced() throws {
        let reader = mark
        try mark.change()
        let before = reader.value
        try ChangeMark(of: folder.file("other.sqlite")).change()
        rename(folder.file("other.sqlite") + ".changed", path + ".changed")
        #expect(reader.value != nil && reader.value != before && reader.value == mark.value)
        unlink(path + ".changed")
        #expect(reader.value == nil)
        try mark.change()
        #expect(reader.value != nil && reader.value == mark.value)
        truncate(path + ".changed", 3)
        #expect(reader.value == nil)
    }

    @Test("does not follow a symbolic link, and does not block on a FIFO")
    func others() throws {
        symlink(folder.file("elsewhere"), path + ".changed")
        #expect(mark.value == nil)
        #expect(throws: DatabaseFailure.self) { try mark.change() }
        unlink(path + ".changed")
        mkfifo(path + ".changed", 0o600)
        #expect(mark.value == nil)
        #expect(throws: DatabaseFailure.self) { try mark.change() }
    }
}
