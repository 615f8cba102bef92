/// The bytes of a record's JSON text, wherever they lie.
protocol RecordText {
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: RecordText {}
extension ArraySlice<UInt8>: RecordText {}
