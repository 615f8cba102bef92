extension [UInt8] {
    /// Calls `body` with a copy of the bytes that is readable for 64 bytes past their end, as the options of calls are.
    func withPadding(_ body: (UnsafeRawBufferPointer) -> Void) {
        let padded = self + repeatElement(0, count: 64)
        padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}
