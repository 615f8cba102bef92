// FileTrust: checks that only root and this process's user can change or replace a file.
import CExtendedAttributes
import Glibc

/// Checks of files that the daemon runs or reads as configuration. Any thread; every method waits for the disk.
public enum FileTrust {
    /// The reason why a file is not trusted.
    public struct Doubt: Error, Sendable, Equatable, CustomStringConvertible {
        /// The path that failed the check: the file itself, or a directory or link on the way to it.
        public var path: String
        /// The `errno` of a path that cannot be read; otherwise `EPERM`.
        public var code: Int32 = EPERM
        /// A sentence that states what to do. It refers to the file itself as "it".
        public var description: String
    }

    /// Checks that a file or directory belongs to root or to this process's user, and that no other user can write it,
    /// by its permissions or its access list. The same holds for every directory on the way to it, unless it is sticky
    /// as /tmp is, and for every link on the way.
    ///
    /// Directories on the way to this program's own file are not checked: a user that can write them can replace the
    /// program.
    public static func check(_ path: String) throws(Doubt) { try check(PathWalk(path)) }

    /// Checks the way to a path as ``check(_:)`` does, but not the path itself, which need not exist.
    public static func checkWay(to path: String) throws(Doubt) { try check(PathWalk(aroundOf: path)) }

    private static func check(_ walk: PathWalk) throws(Doubt) {
        let ownWay = ownWay()
        var walk = walk
        while let step = try walk.next() {
            if !step.isTarget, ownWay.contains(Array(step.path.utf8)) { continue }
            try checkOwner(of: step)
            // Links have no permissions. In a sticky directory a user cannot remove the files of other users.
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
        guard step.mode & S_IWGRP != 0 else { return }
        // With an access list, these bits are the maximum for all users and groups of the list.
        if hasAccessList(step.path) {
            throw Doubt(
                path: step.path,
                description: "an access list lets other users write \(step.name); remove the list: setfacl -b "
                    + step.path)
        }
        if !OwnGroup.isAlone(in: step.group) {
            throw Doubt(
                path: step.path,
                description:
                    "the group \(step.group) may write \(step.name), and other users may be its members; remove that "
                    + "permission: chmod g-w \(step.path)")
        }
    }

    private static func hasAccessList(_ path: String) -> Bool {
        lgetxattr(path, "system.posix_acl_access", nil, 0) > 0
    }

    /// The directories on the way to this program's own file, as bytes.
    private static func ownWay() -> Set<[UInt8]> {
        guard let file = realpath("/proc/self/exe", nil) else { return [] }
        defer { free(file) }
        let slash = UInt8(ascii: "/")
        var way: Set<[UInt8]> = [[slash]]
        var path: [UInt8] = []
        for name in String(cString: file).utf8.split(separator: slash).dropLast() {
            path += [slash] + name
            way.insert(path)
        }
        return way
    }
}
