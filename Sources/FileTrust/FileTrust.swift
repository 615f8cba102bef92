// FileTrust: whether any user but root and this process's user can change a file, or put another one in its place.
import Glibc

/// Files that the daemon runs, or goes by. Any thread; every method waits for the disk.
public enum FileTrust {
    /// Why a file is not to be trusted.
    public struct Doubt: Error, Sendable, Equatable, CustomStringConvertible {
        /// What is in doubt: the file itself, or a directory or link on the way to it.
        public var path: String
        /// The `errno` of what could not be looked at; `EPERM` where it could.
        public var code: Int32 = EPERM
        /// A sentence that says what to do. The file itself is "it" in there.
        public var description: String
    }

    /// A file, or a directory, must belong to root or to this process's user, and no other user may write it. So must
    /// every directory on the way to it, unless it is sticky as /tmp is, and every link on the way.
    ///
    /// Directories that lead to this program's own file are not asked: who can write those can replace the program.
    public static func check(_ path: String) throws(Doubt) { try check(PathWalk(path)) }

    /// As ``check(_:)``, but what is at the path itself is not asked, and need not be there.
    public static func checkWay(to path: String) throws(Doubt) { try check(PathWalk(aroundOf: path)) }

    private static func check(_ walk: PathWalk) throws(Doubt) {
        let ownWay = ownWay()
        var walk = walk
        while let step = try walk.next() {
            if !step.isTarget, ownWay.contains(step.path) { continue }
            try checkOwner(of: step)
            // Links have no permissions. In a sticky directory no user can remove what belongs to others.
            if !step.isLink, !step.isStickyDirectory { try checkWriters(of: step) }
        }
    }

    private static func checkOwner(of step: PathWalk.Step) throws(Doubt) {
        guard step.owner != 0, step.owner != geteuid() else { return }
        throw Doubt(
            path: step.path,
            description: "\(step.name) belongs to uid \(step.owner); it must belong to root or to the daemon's user: "
                + "chown -h root \(step.path)")
    }

    private static func checkWriters(of step: PathWalk.Step) throws(Doubt) {
        if step.mode & S_IWOTH != 0 {
            throw Doubt(
                path: step.path,
                description: "everybody may write \(step.name); remove that permission: chmod o-w \(step.path)")
        }
        if step.mode & S_IWGRP != 0, !OwnGroup.isAlone(in: step.group) {
            throw Doubt(
                path: step.path,
                description: "the group \(step.group) may write \(step.name), and others may be in it; remove that "
                    + "permission: chmod g-w \(step.path)")
        }
    }

    /// The directories on the way to this program's own file.
    private static func ownWay() -> Set<String> {
        guard let file = realpath("/proc/self/exe", nil) else { return [] }
        defer { free(file) }
        var way: Set<String> = ["/"]
        var path = ""
        for name in String(cString: file).split(separator: "/").dropLast() {
            path += "/\(name)"
            way.insert(path)
        }
        return way
    }
}
