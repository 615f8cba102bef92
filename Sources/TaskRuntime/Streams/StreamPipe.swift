import BridgeJSON
package import BridgeMessage

/// The pipe of a stream, and those of its ends that were not given away. Loop thread only.
///
/// A holder's end belongs to the holder alone. The daemon reads and writes only ends that it has not given away, so
/// that no other process can change their behaviour. They are closed when this object is released.
package protocol StreamPipe: AnyObject {
    /// Gives away the end for a side, once.
    func giveEnd(to side: StreamSide) -> PassedDescriptor?
    /// Requests at most this many of the bytes that the writer has written; 0 pauses reading. The bytes are reported
    /// later, never within this call.
    func read(_ maximumBytes: Int)
    /// Writes as many bytes as fit.
    ///
    /// - Returns: The number of accepted bytes. If it is not all, available room is reported later.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int
    /// Closes the ends that were not given away. No event is reported after that.
    func close()
}

/// The events of a pipe, never reported within a call of it.
package struct StreamPipeEvents {
    /// Bytes have arrived from the writer; an empty array means that no more will.
    package var bytes: ([UInt8]) -> Void
    /// The reader's end takes bytes again.
    package var room: () -> Void
    /// The reader has closed its end.
    package var broken: () -> Void
}

/// Creates a pipe, and reads and writes it in the turns of the clients of a uid.
///
/// - Throws: `busy` if no descriptor is left.
package typealias StreamPipeMaker = (_ uid: UInt32?, StreamPipeEvents) throws(BridgeError) -> any StreamPipe
