import GRDBSQLite
import Glibc
import Synchronization

/// A disk that fails on command: a layer over SQLite's file access for the databases of one directory.
public final class FaultyDisk: Sendable {
    /// A kind of failure.
    public enum Fault: Sendable {
        /// `fsync` fails; data that was written before stays in the file.
        case sync
        /// Writing fails because the disk is full.
        case full
        /// Reading fails.
        case read
    }

    private let faults = Mutex<Set<Fault>>([])

    /// - Parameter directory: The directory of the affected files. Files that are already open are not affected.
    public init(directory: String) {
        _ = Layer.install
        Layer.disks.withLock { $0[directory] = self }
    }

    /// Turns a fault on or off.
    public func set(_ fault: Fault, _ isOn: Bool) {
        faults.withLock { faults in
            if isOn { faults.insert(fault) } else { faults.remove(fault) }
        }
    }

    fileprivate func has(_ fault: Fault) -> Bool { faults.withLock { $0.contains(fault) } }
}

/// The layer. SQLite calls it from C, so its state is global.
private enum Layer {
    /// An open file under the layer.
    struct File {
        var disk: FaultyDisk
        /// SQLite's own methods for the file. Files with locks and files without locks have different methods.
        // nonisolated(unsafe): constant tables of SQLite.
        nonisolated(unsafe) var methods: UnsafePointer<sqlite3_io_methods>
    }

    static let disks = Mutex<[String: FaultyDisk]>([:])
    /// The open files, by the address of SQLite's handle.
    static let files = Mutex<[UInt: File]>([:])
    /// The changed copies of SQLite's method tables, by the addresses of the originals. Neither is ever freed.
    static let copies = Mutex<[UInt: UInt]>([:])

    // nonisolated(unsafe): written once before the layer is registered, and only read afterwards.
    nonisolated(unsafe) static let base: UnsafeMutablePointer<sqlite3_vfs> = sqlite3_vfs_find(nil)
    nonisolated(unsafe) static let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)

    /// Registers the layer for every database of this process. Databases of other directories are not affected.
    static let install: Void = {
        layer.initialize(to: base.pointee)
        layer.pointee.zName = UnsafePointer(strdup("faulty"))
        layer.pointee.xOpen = { _, name, file, flags, outFlags in
            let status = Layer.base.pointee.xOpen(Layer.base, name, file, flags, outFlags)
            if status == SQLITE_OK, let name, let file { Layer.adopt(file, String(cString: name)) }
            return status
        }
        sqlite3_vfs_register(layer, 1)
    }()

    static func adopt(_ file: UnsafeMutablePointer<sqlite3_file>, _ path: String) {
        guard let disk = disks.withLock({ $0.first { path.hasPrefix($0.key + "/") }?.value }),
            let original = file.pointee.pMethods
        else { return }
        files.withLock { $0[UInt(bitPattern: file)] = File(disk: disk, methods: original) }
        file.pointee.pMethods = copy(of: original)
    }

    static func copy(of original: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods>? {
        copies.withLock { copies in
            if let known = copies[UInt(bitPattern: original)] { return UnsafePointer(bitPattern: known) }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            copy.initialize(to: original.pointee)
            change(copy)
            copies[UInt(bitPattern: original)] = UInt(bitPattern: copy)
            return UnsafePointer(copy)
        }
    }

    static func change(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
        methods.pointee.xClose = { handle in
            let file = Layer.files.withLock { $0.removeValue(forKey: UInt(bitPattern: handle)) }
            return file?.methods.pointee.xClose(handle) ?? SQLITE_INTERNAL
        }
        methods.pointee.xSync = { handle, flags in
            let file = Layer.file(handle)
            let status = file?.methods.pointee.xSync(handle, flags) ?? SQLITE_INTERNAL
            return file?.disk.has(.sync) == true ? SQLITE_IOERR | (4 << 8) : status
        }
        methods.pointee.xWrite = { handle, bytes, count, offset in
            let file = Layer.file(handle)
            if file?.disk.has(.full) == true { return SQLITE_FULL }
            return file?.methods.pointee.xWrite(handle, bytes, count, offset) ?? SQLITE_INTERNAL
        }
        methods.pointee.xRead = { handle, bytes, count, offset in
            let file = Layer.file(handle)
            if file?.disk.has(.read) == true { return SQLITE_IOERR | (1 << 8) }
            return file?.methods.pointee.xRead(handle, bytes, count, offset) ?? SQLITE_INTERNAL
        }
    }

    static func file(_ handle: UnsafeMutablePointer<sqlite3_file>?) -> File? {
        files.withLock { $0[UInt(bitPattern: handle)] }
    }
}
