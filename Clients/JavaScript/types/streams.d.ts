// Streams: bytes of any length from one client or plugin to another.

/** A value that can be written to a stream: bytes, or text, which is written as UTF-8. */
export type StreamChunk = string | ArrayBuffer | ArrayBufferView;

/** The complete content of a stream. */
export type StreamSource =
    StreamChunk | Blob | ReadableStream<Uint8Array> | Iterable<StreamChunk> | AsyncIterable<StreamChunk>;

export interface MakeStreamSettings {
    /** A media type, for the reader. */
    type?: string;
    /** The total number of bytes, for the reader. */
    totalBytes?: number;
}

/** The value that `stream` returns. It is used only in options and results. */
export interface StreamValue {
    readonly type: string | undefined;
    readonly totalBytes: number | undefined;
}

/**
 * Marks a source as a stream, at any place in the options of `call` or in the result of a provided task. The library
 * makes a stream, sends its name at that place, and writes the source while the call runs. If the call fails, the
 * stream ends with that error. A `ReadableStream` needs no `stream`. Convert a `Readable` of Node with
 * `Readable.toWeb(readable)`.
 *
 * Text, bytes, Blobs and arrays of them can be sent again. Any other source is sent once, and `retry` does not repeat
 * a call that contains it.
 */
export function stream(source: StreamSource, settings?: MakeStreamSettings): StreamValue;

/**
 * The stream functions of a bridge, and of an incoming call. A stream that an incoming call makes is for the caller.
 */
export interface StreamMaker {
    /**
     * Makes a stream and returns its writer's end. Send `name` to the reader in options or in a result. The promise of
     * `writable.close()` resolves when the reader has every byte. An error of the reader ends the stream with
     * `stream.closed`.
     */
    makeStream(
        settings?: MakeStreamSettings & { side?: "write" }
    ): Promise<{ name: string; writable: WritableStream<StreamChunk> }>;
    /** Makes a stream and returns its reader's end. */
    makeStream(
        settings: MakeStreamSettings & { side: "read" }
    ): Promise<{ name: string; readable: ReadableStream<Uint8Array> }>;
    /**
     * Makes a stream and writes the whole source to it. `done` resolves when the reader has every byte, and rejects if
     * the stream ends earlier. The program may ignore `done`.
     */
    sendStream(source: StreamSource, settings?: MakeStreamSettings): Promise<{ name: string; done: Promise<void> }>;
    /**
     * Returns the reader's end of the stream with this name. It ends without an error only if all bytes have arrived;
     * otherwise it fails, for example with `stream.closed` or `stream.not_found`. `cancel` ends the stream for its
     * writer.
     */
    readStream(name: string): ReadableStream<Uint8Array>;
    /** Returns the writer's end of a stream that its reader made. */
    writeStream(name: string): WritableStream<StreamChunk>;
}
