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
    totalBytes?: number;
}

/** What `stream` makes; only for options and results. */
export interface StreamValue {
    readonly type: string | undefined;
    readonly totalBytes: number | undefined;
}

/**
 * Bytes of any size, anywhere in the options of `call`, or in the result of a provided task. The library makes a
 * stream, sends its name in this place, and writes the source beside the call. Where the call fails, the stream ends
 * with that error. A `ReadableStream` may stand there as it is, a `Readable` of Node as `Readable.toWeb(readable)`.
 *
 * Text, bytes, Blobs and arrays of them may be sent again; any other source is sent once, and `retry` does not repeat
 * such a call.
 */
export function stream(source: StreamSource, settings?: MakeStreamSettings): StreamValue;

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
