// Splits a stream of bytes into lines. A chunk may end in the middle of a line or of a character, so only whole lines
// are decoded. A line that is too long is discarded while it arrives; its beginning contains the id of the call.

const lineFeed = 0x0a;
/** The number of bytes at the beginning of a too long line that are passed to `onTooLong`. */
const headBytes = 256;

export class LineSplitter {
    #maxBytes;
    #onLine;
    #onTooLong;
    #pieces = [];
    #bytes = 0;
    #isTooLong = false;

    /**
     * @param {number} maxBytes the maximum length of a line, without its line feed
     * @param {(text: string) => void} onLine
     * @param {(head: string) => void} onTooLong called with the beginning of the line
     */
    constructor(maxBytes, onLine, onTooLong) {
        this.#maxBytes = maxBytes;
        this.#onLine = onLine;
        this.#onTooLong = onTooLong;
    }

    /** @param {Buffer} piece */
    push(piece) {
        let start = 0;
        for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
            this.#append(piece.subarray(start, end));
            this.#endLine();
            start = end + 1;
        }
        if (start < piece.length) this.#append(piece.subarray(start));
    }

    #append(piece) {
        if (this.#isTooLong) return;
        this.#pieces.push(piece);
        this.#bytes += piece.length;
        if (this.#bytes <= this.#maxBytes) return;
        this.#isTooLong = true;
        this.#onTooLong(Buffer.concat(this.#pieces).subarray(0, headBytes).toString("utf8"));
        this.#pieces = [];
    }

    #endLine() {
        const wasTooLong = this.#isTooLong;
        const pieces = this.#pieces;
        this.#pieces = [];
        this.#bytes = 0;
        this.#isTooLong = false;
        if (wasTooLong) return;
        const line = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
        if (line.length === 0 || (line.length === 1 && line[0] === 0x0d)) return;
        this.#onLine(line.toString("utf8"));
    }
}
