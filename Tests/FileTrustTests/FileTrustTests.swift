import FileTrust
import Glibc
import Testing

private let isRoot = geteuid() == 0

@Suite("Trust in a file")
struct FileTrustTests {
    /// The uid of another user, on every machine.
    private static let nobody: uid_t = 65_534

    /// Creates a folder for the test, with `a/b/file` in it.
    private func withFile(_ body: (_ folder: String, _ file: String) throws -> Void) throws {
        var template = Array("/tmp/trestle-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        let file = "\(folder)/a/b/file"
        defer { remove(folder) }
        for name in ["a", "a/b"] {
            #expect(mkdir("\(folder)/\(name)", 0o755) == 0 && chmod("\(folder)/\(name)", 0o755) == 0)
        }
        close(creat(file, 0o644))
        chmod(file, 0o644)
        try body(folder, file)
    }

    private func remove(_ folder: String) {
        for name in ["a/b/file", "a/b/link", "link", "a/b", "a", ""] { Glibc.remove("\(folder)/\(name)") }
    }

    /// Returns the doubt about a path; `nil` if there is none.
    private func doubt(_ path: String) -> String? {
        do throws(FileTrust.Doubt) { try FileTrust.check(path) } catch { return error.description }
        return nil
    }

    @Test("A file of this user in directories that no other user may write is trusted; /tmp is sticky")
    func own() throws {
        try withFile { _, file in #expect(doubt(file) == nil) }
        #expect(doubt("/usr/bin/env") == nil)
        #expect(doubt("/tmp") == nil)
        #expect(doubt("/") == nil)
    }

    @Test("A file that everybody may write is not trusted")
    func writable() throws {
        try withFile { _, file in
            chmod(file, 0o646)
            #expect(doubt(file) == "everybody may write it; remove that permission: chmod o-w \(file)")
        }
    }

    @Test("A file that its group may write is not trusted", .enabled(if: isRoot, "only root can give a file a group"))
    func group() throws {
        try withFile { _, file in
            chown(file, 0, Self.nobody)
            chmod(file, 0o664)
            #expect(
                doubt(file)
                    == "the group 65534 may write it, and other users may be its members; remove that permission: "
                    + "chmod g-w \(file)")
            chown(file, 0, 0)
            #expect(doubt(file) == nil, "root is alone in root's group")
        }
    }

    @Test("A file of another user is not trusted", .enabled(if: isRoot, "only root can give one away"))
    func foreign() throws {
        try withFile { _, file in
            chown(file, Self.nobody, 0)
            #expect(
                doubt(file) == "it belongs to uid 65534; it must belong to root or to the daemon's user: chown -h root "
                    + file)
        }
    }

    @Test("A file below a directory that everybody may write is not trusted, unless the directory is sticky")
    func directory() throws {
        try withFile { folder, file in
            for directory in ["\(folder)/a/b", "\(folder)/a", folder] {
                chmod(directory, 0o777)
                #expect(
                    doubt(file) == "everybody may write the directory \(directory) on the way to it; remove that "
                        + "permission: chmod o-w \(directory)")
                chmod(directory, 0o1777)
                #expect(doubt(file) == nil)
                chmod(directory, 0o755)
            }
        }
    }

    @Test("A file in a directory of another user is not trusted", .enabled(if: isRoot, "only root can give one away"))
    func foreignDirectory() throws {
        try withFile { folder, file in
            chown("\(folder)/a", Self.nobody, 0)
            #expect(doubt(file)?.hasPrefix("the directory \(folder)/a on the way to it belongs to uid 65534; ") == true)
        }
    }

    @Test("A link is judged by its target and by the path to it")
    func link() throws {
        try withFile { folder, file in
            symlink("../b/./file", "\(folder)/a/b/link")
            symlink("\(folder)/a/b/link", "\(folder)/link")
            #expect(doubt("\(folder)/link") == nil)
            chmod("\(folder)/a", 0o777)
            #expect(doubt("\(folder)/link")?.contains("the directory \(folder)/a on the way to it") == true)
            chmod("\(folder)/a", 0o755)
            chmod(file, 0o666)
            #expect(doubt("\(folder)/link") == "everybody may write it; remove that permission: chmod o-w \(file)")
        }
    }

    @Test("A link of another user is not trusted", .enabled(if: isRoot, "only root can give one away"))
    func foreignLink() throws {
        try withFile { folder, file in
            symlink(file, "\(folder)/link")
            lchown("\(folder)/link", Self.nobody, 0)
            #expect(doubt("\(folder)/link")?.hasPrefix("the link \(folder)/link to it belongs to uid 65534; ") == true)
        }
    }

    @Test("A file that does not exist yet is judged by the path to it")
    func way() throws {
        try withFile { folder, _ in
            #expect(throws: Never.self) { try FileTrust.checkWay(to: "\(folder)/a/b/new") }
            chmod("\(folder)/a/b", 0o777)
            #expect(throws: FileTrust.Doubt.self) { try FileTrust.checkWay(to: "\(folder)/a/b/new") }
        }
    }

    @Test("A broken or circular link is reported")
    func nowhere() throws {
        try withFile { folder, _ in
            symlink("nowhere", "\(folder)/a/b/link")
            #expect(doubt("\(folder)/a/b/link") == "it cannot be read: No such file or directory")
            symlink("link", "\(folder)/link")
            #expect(doubt("\(folder)/link") == "it cannot be read: Too many levels of symbolic links")
        }
    }

    @Test("A relative path is resolved from the working directory")
    func relative() { #expect(doubt("no-such-file") == "it cannot be read: No such file or directory") }
}
