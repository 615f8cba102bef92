extension [UInt8] {
    /// The bytes, readable for 64 bytes past their end, as those of a call's options are.
    func withPadding(_ body: (UnsafeRawBufferPointer) -> Void) {
        let padded = self + repeatElement(0, count: 64)
        padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}
