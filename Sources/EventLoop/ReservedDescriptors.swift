import CLibuv
import Glibc

/// The descriptors that the process keeps for itself: files, databases, plugins. What clients can have more and more of
/// stays below them. Otherwise what serves them could open no files, and libdispatch, whose threads run Swift tasks,
/// would end the process.
enum ReservedDescriptors {
    private static let count: rlim_t = 32

    /// The first of them. The system hands out the lowest that is free, so that a number shows how many are taken.
    /// Asked for every time: a limit can be changed while the process runs.
    static var first: Int32 {
        var limit = rlimit()
        // Cannot fail: the resource exists and the address is ours.
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int32(clamping: limit.rlim_cur - min(count, limit.rlim_cur / 4))
    }

    /// Gives a descriptor of the process's own a number among them, so that it takes none of a client's. Where none is
    /// free there, it keeps its number.
    ///
    /// - Returns: the descriptor's number from now on.
    static func moved(_ descriptor: Int32) -> Int32 {
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, first)
        guard moved >= 0 else { return descriptor }
        close(descriptor)
        return moved
    }
}
