import HTTPRules
import TaskKit

/// Decodes the codings of a body, the last one first, in bounded steps. One thread at a time.
final class ContentDecoder {
    /// The maximum number of decoded bytes in a step.
    static let stepBytes = 64 << 10
    /// The maximum number of codings. No server needs more, and each multiplies the effect of a decompression bomb.
    static let maximumCodings = 2
    /// The decoded length up to which ``maximumRatio`` does not apply.
    static let harmlessBytes: Int64 = 64 << 20
    /// The maximum ratio of the decoded length to the coded length beyond ``harmlessBytes``.
    static let maximumRatio: Int64 = 200

    private struct Stage {
        let coding: any CodingStage
        var input: ArraySlice<UInt8> = []
        /// Whether the last step filled its buffer, so that more bytes may follow without input.
        var mayHoldMore = false
        var hasBegun = false
        var madeBytes: Int64 = 0
    }

    private var stages: [Stage]
    private var wireBytes: Int64 = 0

    /// Creates a decoder for a response; `nil` if its body is not coded or has an unknown coding. A body with an
    /// unknown coding is not changed (Fetch, "handle content codings").
    ///
    /// - Parameter headers: The fields of the response.
    /// - Throws: `http.decoding`, if there are too many codings.
    init?(_ headers: HeaderList) throws(BridgeError) {
        let names = headers.members(named: "Content-Encoding").filter { $0.lowercased() != "identity" }
        let codings = names.compactMap { ContentCoding(name: $0) }
        guard !names.isEmpty, codings.count == names.count else { return nil }
        guard names.count <= Self.maximumCodings else {
            throw .undecodable("the body has \(names.count) codings; the maximum is \(Self.maximumCodings)")
        }
        stages = []
        for coding in codings.reversed() { stages.append(Stage(coding: try coding.makeStage())) }
    }

    /// Accepts coded bytes. ``next()`` must have returned `nil` before.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        wireBytes += Int64(bytes.count)
        stages[0].input = Array(bytes)[...]
    }

    /// Returns the next decoded bytes; `nil` if more coded bytes are needed.
    func next() throws(BridgeError) -> [UInt8]? { try next(of: stages.count - 1) }

    private func next(of index: Int) throws(BridgeError) -> [UInt8]? {
        while true {
            while !stages[index].input.isEmpty || stages[index].mayHoldMore {
                if let bytes = try step(index) { return bytes }
            }
            guard index > 0, let input = try next(of: index - 1) else { return nil }
            stages[index].input = input[...]
        }
    }

    /// Performs one step of a stage.
    ///
    /// - Returns: The decoded bytes; `nil` if the step produced none.
    private func step(_ index: Int) throws(BridgeError) -> [UInt8]? {
        stages[index].hasBegun = true
        let coding = stages[index].coding
        let outcome = stages[index].input.withUnsafeBytes { input in
            Result { () throws(BridgeError) in try coding.step(input) }
        }
        let (taken, bytes) = try outcome.get()
        stages[index].input = stages[index].input.dropFirst(taken)
        stages[index].mayHoldMore = bytes.count == Self.stepBytes
        if taken == 0, bytes.isEmpty {
            // The decoder cannot use the remaining bytes.
            guard stages[index].input.isEmpty else { throw .undecodable("the body cannot be decoded") }
            return nil
        }
        stages[index].madeBytes += Int64(bytes.count)
        let limit = max(Self.harmlessBytes, wireBytes * Self.maximumRatio)
        guard stages[index].madeBytes <= limit else {
            throw .tooLarge(.decoded, limit: limit, "the decoded body has more than \(limit) bytes")
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Checks that the codings are complete after the end of the body.
    ///
    /// - Throws: `http.decoding`, if a coding is incomplete.
    func finish() throws(BridgeError) {
        for stage in stages where stage.hasBegun && !stage.coding.isComplete {
            throw .undecodable("the encoded body is truncated")
        }
    }
}
