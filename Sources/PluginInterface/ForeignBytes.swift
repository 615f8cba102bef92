package import BridgeJSON
package import CTaskPlugin

// Conversions of bytes and errors for the plugin interface.

extension trestle_bytes {
    /// The bytes, borrowed as the interface specifies.
    package var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size) }
    /// The bytes as text; invalid UTF-8 is replaced.
    package var string: String { String(decoding: buffer, as: UTF8.self) }

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size: bytes.count)
    }
}

/// Returns the bytes of a literal, which exist as long as the process.
package func literal(_ text: StaticString) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
}

/// Calls `body` with the text as borrowed bytes.
package func withBytes<T>(_ text: String, _ body: (trestle_bytes) -> T) -> T {
    var text = text
    return text.withUTF8 { body(trestle_bytes(UnsafeRawBufferPointer($0))) }
}

extension BridgeError {
    /// The maximum length of each part of a plugin's error.
    package static var maximumForeignBytes: Int { 64 << 10 }

    /// The error of a plugin. Data that are not valid JSON are omitted, as the error is more important.
    package init(foreign error: UnsafePointer<trestle_error>?) {
        guard let error else {
            self.init(.replyInvalid, "the plugin failed without an error")
            return
        }
        // The error is read on the loop, and its parts are only valid together.
        let sizes = [error.pointee.code, error.pointee.message, error.pointee.data].map(\.buffer.count)
        guard sizes.allSatisfy({ $0 <= Self.maximumForeignBytes }) else {
            self.init(
                .replyInvalid, "the plugin failed with an error of more than \(Self.maximumForeignBytes) bytes")
            return
        }
        let code = error.pointee.code.string
        self.init(
            ErrorCode(rawValue: code.isEmpty ? "internal" : code), error.pointee.message.string,
            data: error.pointee.data.buffer.isEmpty ? nil : try? JSON(parsing: error.pointee.data.buffer),
            isTransient: error.pointee.flags & TRESTLE_ERROR_TRANSIENT != 0,
            retryAfter: error.pointee.retry_after_ns >= 0 ? .nanoseconds(error.pointee.retry_after_ns) : nil)
        isUnforeseen = error.pointee.flags & TRESTLE_ERROR_UNFORESEEN != 0
    }

    /// Calls `body` with the error in the form of the interface.
    package func withForeign(_ body: (UnsafePointer<trestle_error>) -> Void) {
        let data = data?.bytes ?? []
        data.withUnsafeBytes { data in
            withBytes(code.rawValue) { code in
                withBytes(message) { message in
                    var error = trestle_error(
                        size: UInt32(MemoryLayout<trestle_error>.size), abi: TRESTLE_ABI, code: code, message: message,
                        data: trestle_bytes(data),
                        retry_after_ns: retryAfter?.clampedNanoseconds ?? -1,
                        flags: isTransient ? TRESTLE_ERROR_TRANSIENT : 0, reserved: 0)
                    body(&error)
                }
            }
        }
    }
}
