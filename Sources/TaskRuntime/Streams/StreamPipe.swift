import BridgeJSON
package import BridgeMessage

/// The pipe of a stream, and the ends of it that were not given away. Loop thread only.
///
/// A holder's end is the holder's alone: the daemon reads and writes only the ends that it has not given away, so that
/// nobody can change how these behave. Those are closed when this goes.
package protocol StreamPipe: AnyObject {
    /// Gives away the end that a side uses: once.
    func giveEnd(to side: StreamSide) -> PassedDescriptor?
    /// Reads at most so many bytes that the writer has written; 0: none for now. They come later, never from within
    /// this.
    func read(_ maximumBytes: Int)
    /// Writes what fits.
    ///
    /// - Returns: how many bytes were taken. Where not all were, it is reported when there is room.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int
    /// Closes the ends that were not given away. Nothing is reported after that.
    func close()
}

/// What a pipe reports, never from within a call of it.
package struct StreamPipeEvents {
    /// Bytes have come from the writer; none: no more will come.
    package var bytes: ([UInt8]) -> Void
    /// The reader's end takes bytes again.
    package var room: () -> Void
    /// The reader has closed its end.
    package var broken: () -> Void
}

/// Makes a pipe, and reads and writes it in the turns of the clients of a uid.
///
/// - Throws: `busy` where no descriptor is left.
package typealias StreamPipeMaker = (_ uid: UInt32?, StreamPipeEvents) throws(BridgeError) -> any StreamPipe
