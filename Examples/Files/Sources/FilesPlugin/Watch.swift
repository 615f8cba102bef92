import Glibc
import TaskKit

struct FileChanged: BridgeEvent {
    static let name = "files.changed"
    static let summary = "A file of the folder was written or removed, by the plugin or by another program."
    /// The file's name; `nil` if some changes are missing, because there were too many.
    var name: String?
    /// Whether the file exists.
    var exists: Bool?
}

/// Publishes the changes of the folder until the plugin stops.
func watch(_ folder: Folder, _ context: PluginContext) async {
    let descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
    defer { close(descriptor) }
    let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
    guard descriptor >= 0, inotify_add_watch(descriptor, await folder.path, events) >= 0 else {
        return context.log.error("the folder is not watched: \(String(cString: strerror(errno)))")
    }
    do {
        while true {
            try await context.readable(descriptor)
            for change in changes(descriptor) where change.name?.hasPrefix(".") != true { context.publish(change) }
        }
    } catch {
        // The plugin stops.
    }
}

/// Returns the changes since the last read.
private func changes(_ descriptor: CInt) -> [FileChanged] {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let count = read(descriptor, &buffer, buffer.count)
    var changes: [FileChanged] = []
    buffer.withUnsafeBytes { bytes in
        let headBytes = MemoryLayout<inotify_event>.size
        var position = 0
        while position + headBytes <= count {
            let head = bytes.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
            let name = bytes[(position + headBytes)...].prefix(Int(head.len)).prefix { $0 != 0 }
            changes.append(FileChanged(head.mask, String(decoding: name, as: UTF8.self)))
            position += headBytes + Int(head.len)
        }
    }
    return changes
}

extension FileChanged {
    fileprivate init(_ mask: UInt32, _ name: String) {
        guard mask & UInt32(IN_Q_OVERFLOW) == 0 else { return }
        self.name = name
        exists = mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0
    }
}
