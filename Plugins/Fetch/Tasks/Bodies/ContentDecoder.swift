import HTTPRules
import TaskKit

/// Undoes the codings of a body, the last one first, in bounded steps. One thread at a time.
final class ContentDecoder {
    /// What a step makes at most.
    static let stepBytes = 64 << 10
    /// No server needs more; each multiplies what a bomb can do.
    static let maximumCodings = 2
    /// A body that is decoded to less is no bomb.
    static let harmlessBytes: Int64 = 64 << 20
    /// How many times longer a decoded body may be than the coded one, beyond ``harmlessBytes``.
    static let maximumRatio: Int64 = 200

    private struct Stage {
        let coding: any CodingStage
        var input: ArraySlice<UInt8> = []
        /// The last step filled its buffer: there may be more without input.
        var mayHoldMore = false
        var hasBegun = false
        var madeBytes: Int64 = 0
    }

    private var stages: [Stage]
    private var wireBytes: Int64 = 0

    /// A decoder for a response; nil: its body is not coded, or has a coding that is not known and stays as it came
    /// (Fetch, "handle content codings").
    ///
    /// - Parameter headers: The fields of the response.
    /// - Throws: `http.decoding`, where there are too many.
    init?(_ headers: HeaderList) throws(BridgeError) {
        let names = headers.members(named: "Content-Encoding").filter { $0.lowercased() != "identity" }
        let codings = names.compactMap { ContentCoding(name: $0) }
        guard !names.isEmpty, codings.count == names.count else { return nil }
        guard names.count <= Self.maximumCodings else {
            throw .undecodable("the body has \(names.count) codings; at most \(Self.maximumCodings) are undone")
        }
        stages = []
        for coding in codings.reversed() { stages.append(Stage(coding: try coding.makeStage())) }
    }

    /// Takes coded bytes. What was taken before has been decoded: ``next()`` has returned nil.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        wireBytes += Int64(bytes.count)
        stages[0].input = Array(bytes)[...]
    }

    /// The next decoded bytes; nil: more coded bytes are needed.
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

    /// - Returns: Decoded bytes; nil: none came of this step.
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
            // The decoder makes nothing of what is left.
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

    /// The body has ended.
    ///
    /// - Throws: `http.decoding`, where a coding is not.
    func finish() throws(BridgeError) {
        for stage in stages where stage.hasBegun && !stage.coding.isComplete {
            throw .undecodable("the body ends before its coding does")
        }
    }
}
