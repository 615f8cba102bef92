import Glibc

/// What the daemon runs, or lets say what it runs.
package enum PluginFile {
    /// What a plugin consists of must belong to root or to the daemon's own user, and nobody else may write it.
    package static func check(_ path: String) throws(PluginLoadError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw PluginLoadError(description: "it cannot be read: \(String(cString: strerror(errno)))")
        }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw PluginLoadError(
                description: "it belongs to uid \(status.st_uid); a plugin must belong to root or to the daemon's user")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            throw PluginLoadError(description: "everybody may write it; remove that permission: chmod o-w \(path)")
        }
    }
}
