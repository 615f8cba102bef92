internal import CWebKitGTK

/// The reply that a script's message waits for, sent once by ``answer(_:)``. If it is released without an answer, the
/// script's promise is rejected. Only on the main thread.
public struct ScriptReply: ~Copyable {
    private let reply: OpaquePointer
    private let context: OpaquePointer

    init(reply: OpaquePointer, context: OpaquePointer) {
        self.reply = webkit_script_message_reply_ref(reply)
        self.context = context
        g_object_ref(UnsafeMutableRawPointer(context))
    }

    /// Fulfils the script's promise with a text.
    ///
    /// - Parameter bytes: The text in UTF-8.
    public consuming func answer(_ bytes: [UInt8]) {
        let text = g_bytes_new(bytes, gsize(bytes.count))
        let value = jsc_value_new_string_from_bytes(context, text)
        webkit_script_message_reply_return_value(reply, value)
        g_bytes_unref(text)
        if let value { g_object_unref(UnsafeMutableRawPointer(value)) }
        release()
        discard self
    }

    deinit {
        webkit_script_message_reply_return_error_message(reply, "no answer")
        release()
    }

    private func release() {
        webkit_script_message_reply_unref(reply)
        g_object_unref(UnsafeMutableRawPointer(context))
    }
}

/// Returns the text of a value that a script posted, in UTF-8.
func scriptText(_ value: OpaquePointer) -> [UInt8] {
    guard let bytes = jsc_value_to_string_as_bytes(value) else { return [] }
    defer { g_bytes_unref(bytes) }
    var count: gsize = 0
    guard let start = g_bytes_get_data(bytes, &count) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
}
