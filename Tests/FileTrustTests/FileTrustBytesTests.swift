import CExtendedAttributes
import FileTrust
import Glibc
import TestSupport
import Testing

private let isRoot = geteuid() == 0

/// What the kernel compares by bytes, Swift compares by characters.
@Suite("Trust in a file, by the bytes of its path and by its access list")
struct FileTrustBytesTests {
    private func doubt(_ path: String) -> String? {
        do throws(FileTrust.Doubt) { try FileTrust.check(path) } catch { return error.description }
        return nil
    }

    @Test("A directory is checked if the next name begins with a combining character")
    func combining() throws {
        let folder = try TemporaryFolder()
        let (directory, file) = (folder.file("open"), folder.file("open/\u{301}file"))
        #expect(mkdir(directory, 0o755) == 0)
        close(creat(file, 0o644))
        #expect(doubt(file) == nil)
        chmod(directory, 0o777)
        #expect(doubt(file)?.hasPrefix("everybody may write the directory \(directory) on the way to it") == true)
        symlink("\u{301}file", folder.file("open/link"))
        #expect(doubt(folder.file("open/link")) != nil)
        symlink("/\u{301}nowhere", folder.file("link"))
        #expect(doubt(folder.file("link")) == "it cannot be read: No such file or directory")
    }

    @Test("A file whose access list lets another user write is not trusted", .enabled(if: isRoot, "a list of root's"))
    func accessList() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("file")
        close(creat(file, 0o644))
        // Version 2, then entries of tag, permissions and id: the owner and user 65534 may write; so may the mask.
        let entries: [(UInt16, UInt16, UInt32)] = [
            (0x01, 6, .max), (0x02, 6, 65_534), (0x04, 4, .max), (0x10, 6, .max), (0x20, 4, .max),
        ]
        let list = entries.reduce(into: bytes(UInt32(2))) { list, entry in
            list += bytes(entry.0) + bytes(entry.1) + bytes(entry.2)
        }
        try #require(
            setxattr(file, "system.posix_acl_access", list, list.count, 0) == 0, "/tmp has no access lists")
        #expect(
            doubt(file)
                == "an access list lets other users write it; remove the list: setfacl -b \(file)")
        #expect(removexattr(file, "system.posix_acl_access") == 0)
        chmod(file, 0o644)
        #expect(doubt(file) == nil)
    }

    private func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
