import CLibuv
import Glibc

/// A new pipe with both ends. The ends that were not taken are closed with this value.
public struct PipeEnds: ~Copyable, Sendable {
    private var reader: UnixSocket?
    private var writer: UnixSocket?

    /// Creates a pipe, closed on exec.
    ///
    /// - Throws: `EMFILE` or `ENFILE`, also if only the descriptors are left that the process reserves for itself.
    public init() throws(SystemError) {
        var descriptors: (Int32, Int32) = (-1, -1)
        try systemCall("create a pipe") {
            withUnsafeMutablePointer(to: &descriptors) {
                $0.withMemoryRebound(to: Int32.self, capacity: 2, clibuv_pipe)
            }
        }
        reader = UnixSocket(adopting: descriptors.0)
        writer = UnixSocket(adopting: descriptors.1)
        guard max(descriptors.0, descriptors.1) < ReservedDescriptors.first else {
            throw SystemError(code: EMFILE, operation: "create a pipe")
        }
    }

    /// Returns the read end, once; `nil` after that.
    public mutating func takeReader() -> UnixSocket? { reader.take() }

    /// Returns the write end, once; `nil` after that.
    public mutating func takeWriter() -> UnixSocket? { writer.take() }
}

/// One end of a pipe. It is read and written immediately as far as possible, and watched otherwise. If the other end is
/// in another process, the two share only the bytes. Closed with ``close()``, or when it is released.
@LoopActor
public final class PipeEnd {
    /// The descriptor; -1 if it is closed.
    private var descriptor: Int32
    private var watcher: DescriptorWatcher?
    private var ready: (@LoopActor () -> Void)?

    /// Takes ownership of an end, which becomes non-blocking.
    ///
    /// - Throws: `EPERM` if it cannot be watched, because it is not a pipe.
    public init(_ socket: consuming UnixSocket) throws(SystemError) {
        descriptor = -1
        watcher = try DescriptorWatcher(socket.descriptor) { [unowned self] in becameReady() }
        descriptor = socket.release()
    }

    isolated deinit { close() }

    /// Reads the available bytes, at most `maximumBytes`.
    ///
    /// - Returns: The bytes; empty if the writer has closed its end; `nil` if no bytes are available now.
    /// - Throws: The error of `read`.
    public func read(_ maximumBytes: Int) throws(SystemError) -> [UInt8]? {
        guard descriptor >= 0 else { return [] }
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, count in
            let result = uninterrupted { Glibc.read(descriptor, buffer.baseAddress, maximumBytes) }
            if result < 0 { code = errno }
            count = max(0, result)
        }
        if code == EAGAIN { return nil }
        guard code == 0 else { throw SystemError(code: code, operation: "read a pipe") }
        return bytes
    }

    /// Writes the bytes that fit. The loop thread blocks SIGPIPE.
    ///
    /// - Returns: The number of written bytes.
    /// - Throws: `EPIPE` if the reader has closed its end.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        guard descriptor >= 0 else { throw SystemError(code: EPIPE, operation: "write to a pipe") }
        let count = uninterrupted { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        if count >= 0 { return count }
        guard errno == EAGAIN else { throw SystemError(code: errno, operation: "write to a pipe") }
        return 0
    }

    /// Calls `ready` once, when bytes can be read, or the writer has closed its end.
    public func awaitBytes(_ ready: @escaping @LoopActor () -> Void) {
        self.ready = ready
        watcher?.watch(readable: true, writable: false)
    }

    /// Calls `ready` once, when bytes can be written, or the reader has closed its end.
    public func awaitRoom(_ ready: @escaping @LoopActor () -> Void) {
        self.ready = ready
        watcher?.watch(readable: false, writable: true)
    }

    /// Keeps the watch active until it reports without a waiting callback: most callbacks wait again in the same turn.
    private func becameReady() {
        guard let ready else {
            watcher?.watch(readable: false, writable: false)
            return
        }
        self.ready = nil
        ready()
    }

    /// Closes the end, which the other side detects, and stops watching.
    public func close() {
        guard descriptor >= 0 else { return }
        watcher?.close()
        watcher = nil
        ready = nil
        _ = Glibc.close(descriptor)
        descriptor = -1
    }
}
