// Lines out of pieces of a stream. A piece may end in the middle of a line, or of a character: only whole lines are
// turned into text. A line beyond the bound is thrown away while it arrives; its beginning says whose callback it was.

const lineFeed = 0x0a;
/** How much of a line that is too long is looked at. */
const headBytes = 256;

export class LineSplitter {
    #maxBytes;
    #onLine;
    #onTooLong;
    #pieces = [];
    #bytes = 0;
    #isTooLong = false;

    /**
     * @param {number} maxBytes the longest line, its end not counted
     * @param {(text: string) => void} onLine
     * @param {(head: string) => void} onTooLong with the beginning of the line
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
