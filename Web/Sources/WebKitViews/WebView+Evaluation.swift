internal import CWebKitGTK
internal import MainLoop

/// The reason why a script has no result.
public struct ScriptFailure: Error, Sendable, Hashable {
    /// The name of the exception, such as `TypeError`; `nil` if there was none, for example if the document was closed.
    public var name: String?
    /// The message.
    public var message: String
    /// The line in the script; 0 if unknown.
    public var line: Int
    /// The column in the line; 0 if unknown.
    public var column: Int
}

extension WebView {
    /// Runs the body of an async function in the current document.
    ///
    /// - Parameters:
    ///   - body: The function's body. The result is its return value, or that of its promise.
    ///   - world: The isolated world; `nil` for the page's own.
    /// - Returns: The result as JSON; `nil` if it is `undefined`.
    /// - Throws: The reason why there is no result.
    public func evaluate(_ body: String, world: String? = nil) async throws(ScriptFailure) -> String? {
        let result: Result<String?, ScriptFailure> = await withCheckedContinuation { continuation in
            let pointer = pointer
            let data = AsyncResult.pointer { continuation.resume(returning: Self.result(pointer, $0)) }
            webkit_web_view_call_async_javascript_function(
                pointer, body, -1, nil, world, nil, nil, AsyncResult.callback, data)
        }
        return try result.get()
    }

    private static func result(
        _ view: UnsafeMutablePointer<WebKitWebView>, _ result: OpaquePointer
    ) -> Result<String?, ScriptFailure> {
        var error: UnsafeMutablePointer<GError>?
        guard let value = webkit_web_view_call_async_javascript_function_finish(view, result, &error) else {
            return .failure(ScriptFailure(EngineError(owning: error)))
        }
        defer { g_object_unref(UnsafeMutableRawPointer(value)) }
        guard jsc_value_is_undefined(value) == 0, let text = jsc_value_to_json(value, 0) else { return .success(nil) }
        defer { g_free(text) }
        return .success(String(cString: text))
    }
}

extension ScriptFailure {
    /// Parses the engine's message `ADDRESS:LINE:COLUMN: NAME: MESSAGE`, or a part of it.
    fileprivate init(_ error: EngineError) {
        name = nil
        message = error.description
        line = 0
        column = 0
        var parts = error.description.split(separator: ": ", maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.first?.split(separator: ":").suffix(2).map { Int($0) } ?? []
        if numbers.count == 2, let first = numbers[0], let second = numbers[1] {
            (line, column) = (first, second)
            parts.removeFirst()
        }
        if parts.count >= 2, parts[0].hasSuffix("Error") {
            name = String(parts[0])
            parts.removeFirst()
        }
        message = parts.joined(separator: ": ")
        if Self.withoutResult.contains(message) {
            message = "the script has no result: its document was left first, or JSON cannot express what it returned"
        }
    }

    /// The engine's messages in these two cases.
    private static let withoutResult: Set = [
        "Unsupported result type", "Completion handler for function call is no longer reachable",
    ]
}
