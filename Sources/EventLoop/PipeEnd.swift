import CLibuv
import Glibc

/// A pipe whose ends have not been given away. What is left is closed with this.
public struct PipeEnds: ~Copyable, Sendable {
    private var reader: UnixSocket?
    private var writer: UnixSocket?

    /// A new pipe, closed on exec.
    ///
    /// - Throws: `EMFILE` or `ENFILE`, where only those are left that the process keeps for itself.
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

    /// The end that is read, once.
    public mutating func takeReader() -> UnixSocket? { reader.take() }

    /// The end that is written, once.
    public mutating func takeWriter() -> UnixSocket? { writer.take() }
}

/// One end of a pipe: read and written immediately as far as that goes, and watched where it does not. A pipe whose end
/// is in another process shares nothing with that but the bytes. Closed with ``close()``, or when it goes.
@LoopActor
public final class PipeEnd {
    /// -1: it is closed.
    private var descriptor: Int32
    private var watcher: DescriptorWatcher?
    private var ready: (@LoopActor () -> Void)?

    /// Takes over an end, which does not block from now on.
    ///
    /// - Throws: `EPERM` where it cannot be watched: it is no pipe.
    public init(_ socket: consuming UnixSocket) throws(SystemError) {
        descriptor = -1
        watcher = try DescriptorWatcher(socket.descriptor) { [unowned self] in becameReady() }
        descriptor = socket.release()
    }

    isolated deinit { close() }

    /// Reads what is there, at most so many bytes.
    ///
    /// - Returns: none: the writer has closed its end; nil: nothing is there at present.
    /// - Throws: what `read` reports.
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

    /// Writes what fits. The loop thread blocks SIGPIPE.
    ///
    /// - Returns: how many bytes were taken.
    /// - Throws: `EPIPE` where the reader has closed its end.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        guard descriptor >= 0 else { throw SystemError(code: EPIPE, operation: "write to a pipe") }
        let count = uninterrupted { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        if count >= 0 { return count }
        guard errno == EAGAIN else { throw SystemError(code: errno, operation: "write to a pipe") }
        return 0
    }

    /// Calls `ready` once, when there is something to read, or the writer has closed its end.
    public func awaitBytes(_ ready: @escaping @LoopActor () -> Void) {
        self.ready = ready
        watcher?.watch(readable: true, writable: false)
    }

    /// Calls `ready` once, when there is room to write, or the reader has closed its end.
    public func awaitRoom(_ ready: @escaping @LoopActor () -> Void) {
        self.ready = ready
        watcher?.watch(readable: false, writable: true)
    }

    /// The watch goes on until it reports what nobody waits for: most who are called wait again in the same turn.
    private func becameReady() {
        guard let ready else {
            watcher?.watch(readable: false, writable: false)
            return
        }
        self.ready = nil
        ready()
    }

    /// Closes the end: the other side sees it. Nothing is watched for any longer.
    public func close() {
        guard descriptor >= 0 else { return }
        watcher?.close()
        watcher = nil
        ready = nil
        _ = Glibc.close(descriptor)
        descriptor = -1
    }
}
