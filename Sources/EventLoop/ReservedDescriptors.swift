import CLibuv
import Glibc

/// The descriptors that the process reserves for itself: for files, databases and plugins. Descriptors whose number
/// clients can increase stay below them. Otherwise the code that serves clients could open no files, and libdispatch,
/// whose threads run Swift tasks, would end the process.
enum ReservedDescriptors {
    private static let count: rlim_t = 32

    /// The first of them. The system assigns the lowest free number, so a number shows how many are in use. Read every
    /// time, because the limit can change while the process runs.
    static var first: Int32 {
        var limit = rlimit()
        // Cannot fail: the resource exists and the address is valid.
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int32(clamping: limit.rlim_cur - min(count, limit.rlim_cur / 4))
    }

    /// Moves a descriptor of the process itself into the reserved range, so that it takes no number from clients. If
    /// none is free there, it keeps its number.
    ///
    /// - Returns: The new number of the descriptor.
    static func moved(_ descriptor: Int32) -> Int32 {
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, first)
        guard moved >= 0 else { return descriptor }
        close(descriptor)
        return moved
    }
}
