internal import CWebKitGTK
internal import MainLoop

/// Runs a program to its end.
@MainActor
enum HelperProcess {
    /// The end of the process.
    enum End {
        /// It exited with a status and this standard output.
        case exited(Int32, String)
        /// It was ended by a signal.
        case killed(Int32)
        /// It could not be started, or its output could not be read.
        case failed(EngineError)
    }

    /// Runs a program.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - input: Its standard input.
    static func run(_ words: [String], input: [UInt8]) async -> End {
        var error: UnsafeMutablePointer<GError>?
        var started: OpaquePointer?
        UserScript.withList(words) { list in
            let flags = G_SUBPROCESS_FLAGS_STDIN_PIPE.rawValue | G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue
            started = g_subprocess_newv(list, GSubprocessFlags(flags), &error)
        }
        guard let started else { return .failed(EngineError(owning: error)) }
        let process = GObjectBox(owning: UnsafeMutableRawPointer(started))
        return await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { continuation.resume(returning: end(process.opaque, $0)) }
            let bytes = g_bytes_new(input, gsize(input.count))
            g_subprocess_communicate_async(process.opaque, bytes, nil, AsyncResult.callback, data)
            g_bytes_unref(bytes)
        }
    }

    private static func end(_ process: OpaquePointer, _ outcome: OpaquePointer) -> End {
        var output: OpaquePointer?
        var error: UnsafeMutablePointer<GError>?
        let isRead = g_subprocess_communicate_finish(process, outcome, &output, nil, &error) != 0
        defer { if let output { g_bytes_unref(output) } }
        // A program that ends without reading its input causes an error of the input.
        guard g_subprocess_get_if_exited(process) != 0 else {
            g_clear_error(&error)
            return .killed(g_subprocess_get_term_sig(process))
        }
        guard isRead else { return .failed(EngineError(owning: error)) }
        return .exited(g_subprocess_get_exit_status(process), output.map(text) ?? "")
    }

    private static func text(_ bytes: OpaquePointer) -> String {
        var count: gsize = 0
        guard let start = g_bytes_get_data(bytes, &count) else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
}
