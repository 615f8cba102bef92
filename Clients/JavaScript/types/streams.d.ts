// Streams: bytes of any size from one client or plugin to another.

/** What may be written to a stream: bytes, or text, which is written as UTF-8. */
export type StreamChunk = string | ArrayBuffer | ArrayBufferView;

/** What is written to a stream in one go. */
export type StreamSource =
    StreamChunk | Blob | ReadableStream<Uint8Array> | Iterable<StreamChunk> | AsyncIterable<StreamChunk>;

export interface MakeStreamSettings {
    /** A media type, for the reader. */
    type?: string;
    /** How many bytes there will be, for the reader. */
    bytes?: number;
}

/** Both of a bridge, and of a call that this end works on. A stream that is made by a call is for its caller. */
export interface StreamMaker {
    /**
     * Makes a stream and holds its writer's end. Options or a result carry `name` to the reader. Closing `writable`
     * resolves when the reader has every byte; an error of the reader ends it with `stream.closed`.
     */
    makeStream(
        settings?: MakeStreamSettings & { side?: "write" }
    ): Promise<{ name: string; writable: WritableStream<StreamChunk> }>;
    /** Makes a stream and holds its reader's end. */
    makeStream(
        settings: MakeStreamSettings & { side: "read" }
    ): Promise<{ name: string; readable: ReadableStream<Uint8Array> }>;
    /**
     * Makes a stream and writes all of a source to it. `done` resolves when the reader has it all, and rejects where it
     * has not; it need not be looked at.
     */
    sendStream(source: StreamSource, settings?: MakeStreamSettings): Promise<{ name: string; done: Promise<void> }>;
    /**
     * Reads the stream of this name. It ends well only where all bytes have come; otherwise it fails with
     * `stream.closed`, or `stream.not_found`. Cancelling it ends the stream for its writer.
     */
    readStream(name: string): ReadableStream<Uint8Array>;
    /** Writes to a stream that its reader made. */
    writeStream(name: string): WritableStream<StreamChunk>;
}
