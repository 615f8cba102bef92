import CLibuv
import Glibc

/// The two ends of the pipe for a child's standard stream, or the stream's other target.
struct StandardPipe: ~Copyable {
    /// The descriptor for the child; -1 for /dev/null.
    let childDescriptor: Int32
    private var ours: UnixSocket?
    /// The child's end. Closed with this value, after the child has its copy.
    private let theirs: UnixSocket?

    /// - Parameter inherited: 0, 1 or 2; the child reads from 0 and writes to the others.
    init(_ stream: ChildProcess.StandardStream, inherited: Int32) throws(SystemError) {
        ours = nil
        switch stream {
        case .inherit: childDescriptor = inherited
        case .null: childDescriptor = -1
        case .descriptor(let descriptor): childDescriptor = descriptor
        case .pipe:
            var ends: (read: Int32, write: Int32) = (-1, -1)
            try systemCall("create a pipe") {
                withUnsafeMutablePointer(to: &ends) {
                    $0.withMemoryRebound(to: Int32.self, capacity: 2, clibuv_pipe)
                }
            }
            let childReads = inherited == STDIN_FILENO
            childDescriptor = childReads ? ends.read : ends.write
            ours = UnixSocket(adopting: childReads ? ends.write : ends.read)
            theirs = UnixSocket(adopting: childDescriptor)
            return
        }
        theirs = nil
    }

    /// Returns this process's end as a stream, once; `nil` if there is no pipe.
    @LoopActor
    mutating func ourStream() throws(SystemError) -> UnixStream? {
        guard let socket = ours.take() else { return nil }
        return try UnixStream(adopting: socket)
    }
}

/// The three standard streams of a child.
struct StandardPipes: ~Copyable {
    var input: StandardPipe
    var output: StandardPipe
    var error: StandardPipe

    init(_ options: ChildProcess.Options) throws(SystemError) {
        let input = try StandardPipe(options.standardInput, inherited: STDIN_FILENO)
        let output = try StandardPipe(options.standardOutput, inherited: STDOUT_FILENO)
        let error = try StandardPipe(options.standardError, inherited: STDERR_FILENO)
        self.input = input
        self.output = output
        self.error = error
    }
}

extension ChildProcess.Options {
    /// Calls `body` with libuv's form of these options, which is valid during the call.
    func withProcessOptions(
        _ pipes: borrowing StandardPipes, exited: @escaping uv_exit_cb,
        _ body: (UnsafePointer<uv_process_options_t>) -> Int32
    ) -> Int32 {
        var descriptors = [
            pipes.input.childDescriptor, pipes.output.childDescriptor, pipes.error.childDescriptor,
        ]
        descriptors += extraDescriptors
        var containers = descriptors.map { descriptor in
            var container = uv_stdio_container_t()
            container.flags = descriptor < 0 ? UV_IGNORE : UV_INHERIT_FD
            container.data.fd = descriptor
            return container
        }
        let variables = environment?.map { "\($0)=\($1)" }
        return withCStrings([file] + arguments) { arguments in
            withCStrings(variables ?? []) { environment in
                containers.withUnsafeMutableBufferPointer { containers in
                    withCStrings([file] + (workingDirectory.map { [$0] } ?? [])) { paths in
                        var options = uv_process_options_t()
                        options.exit_cb = exited
                        options.file = UnsafePointer(paths[0])
                        options.cwd = workingDirectory == nil ? nil : UnsafePointer(paths[1])
                        options.args = arguments.baseAddress
                        options.env = variables == nil ? nil : environment.baseAddress
                        options.flags = isSessionLeader ? UV_PROCESS_DETACHED.rawValue : 0
                        if let user {
                            options.flags |= UV_PROCESS_SETUID.rawValue | UV_PROCESS_SETGID.rawValue
                            (options.uid, options.gid) = (user.id, user.group)
                        }
                        options.stdio_count = Int32(containers.count)
                        options.stdio = containers.baseAddress
                        return body(&options)
                    }
                }
            }
        }
    }
}

/// Calls `body` with the strings in C's form: zero-terminated, with a null pointer after the last. A string that
/// contains a zero byte ends there.
private func withCStrings<R>(
    _ strings: [String], _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    var copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    copies.append(nil)
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeMutableBufferPointer { body($0) }
}
