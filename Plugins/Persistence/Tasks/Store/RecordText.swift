/// The bytes of a record's JSON text in any storage.
protocol RecordText {
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: RecordText {}
extension ArraySlice<UInt8>: RecordText {}
