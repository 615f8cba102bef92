import BridgeMessage
import Glibc

/// The callbackId of a call in flight, copied from its line. The memory is reused from call to call: only an id that is
/// longer than all before it allocates.
struct OwnedCallbackID: ~Copyable {
    /// The capacity for usual ids: counters, UUIDs. A power of two suits the allocator.
    private static let usualBytes = 64

    private var bytes = UnsafeMutableRawPointer.allocate(byteCount: usualBytes, alignment: 8)
    private var capacityBytes = usualBytes
    /// The length of the id as received; a string includes its quotes.
    private var textBytes = 0
    /// The length of the decoded id, which is stored after the text if the two differ; 0 if it is the text without its
    /// quotes.
    private var contentBytes = 0
    private(set) var isString = false

    deinit { bytes.deallocate() }

    /// Whether no callback is requested.
    var isEmpty: Bool { textBytes == 0 }

    /// The id as received, for the callback. Valid until the id is removed.
    var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: textBytes) }

    private var content: UnsafeRawBufferPointer {
        if contentBytes > 0 { return UnsafeRawBufferPointer(start: bytes + textBytes, count: contentBytes) }
        return isString ? UnsafeRawBufferPointer(start: bytes + 1, count: textBytes - 2) : text
    }

    /// The id as text, for logs and lists.
    var description: String { String(decoding: text, as: UTF8.self) }

    /// See ``CallbackID/hash``.
    var hash: UInt64 { CallbackID.hash(of: content, isString: isString) }

    func isSame(as id: CallbackID) -> Bool {
        let content = content
        guard id.isString == isString, id.content.count == content.count, let left = content.baseAddress,
            let right = id.content.baseAddress
        else { return false }
        return memcmp(left, right, content.count) == 0
    }

    /// Stores an id. Reads up to 32 bytes from its start, which a line's padding allows.
    @inline(__always)
    mutating func keep(_ id: CallbackID) {
        guard id.text.count <= 32, id.content.count == id.text.count - (id.isString ? 2 : 0),
            let text = id.text.baseAddress
        else { return keepLong(id) }
        isString = id.isString
        textBytes = id.text.count
        contentBytes = 0
        // A copy of a fixed size takes two instructions each way; a copy of the exact size is a function call.
        bytes.copyMemory(from: text, byteCount: 32)
    }

    private mutating func keepLong(_ id: CallbackID) {
        let isPlain = id.content.count == id.text.count - (id.isString ? 2 : 0)
        isString = id.isString
        textBytes = id.text.count
        contentBytes = isPlain ? 0 : id.content.count
        reserve(textBytes + contentBytes)
        // An id is never empty, so the address exists.
        memcpy(bytes, id.text.baseAddress.unsafelyUnwrapped, textBytes)
        if !isPlain { memcpy(bytes + textBytes, id.content.baseAddress.unsafelyUnwrapped, contentBytes) }
    }

    mutating func forget() {
        textBytes = 0
    }

    private mutating func reserve(_ neededBytes: Int) {
        guard neededBytes > capacityBytes else { return }
        bytes.deallocate()
        bytes = .allocate(byteCount: neededBytes, alignment: 8)
        capacityBytes = neededBytes
    }
}
