import CLibuv
import Glibc

extension FolderContents {
    /// Exchanges two paths atomically, or renames the first to the second, which must not exist then. Blocks.
    public static func rename(_ path: String, to target: String, exchanging: Bool) throws(SystemError) {
        guard clibuv_rename(path, target, exchanging ? 1 : 0) != 0 else { return }
        throw SystemError(code: errno, operation: "rename", subject: path)
    }
}
