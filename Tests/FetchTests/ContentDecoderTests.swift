import CCompression
import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Content codings of bodies")
struct ContentDecoderTests {
    private func decoded(_ bytes: [UInt8], _ coding: String, piece: Int = .max) throws -> Int {
        let headers = HeaderList([HeaderField(name: "Content-Encoding", value: coding)].compactMap { $0 })
        let decoder = try #require(try ContentDecoder(headers))
        var count = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            rest.prefix(piece).withUnsafeBytes { decoder.feed($0) }
            rest = rest.dropFirst(piece)
            while let step = try decoder.next() {
                #expect(step.count <= ContentDecoder.stepBytes)
                count += step.count
            }
        }
        try decoder.finish()
        return count
    }

    /// Returns zeros compressed by zstd.
    private func zstd(_ count: Int) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: count)
        return [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(count)) { buffer, size in
            size = ZSTD_compress(buffer.baseAddress, buffer.count, zeros, count, 3)
        }
    }

    /// Returns zeros compressed by zlib, with its header.
    private func zlib(_ count: Int) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: count)
        var size = compressBound(UInt(count))
        var bytes = [UInt8](repeating: 0, count: Int(size))
        #expect(compress(&bytes, &size, zeros, UInt(count)) == Z_OK)
        return Array(bytes.prefix(Int(size)))
    }

    private func bytes(_ base64: String) -> [UInt8] {
        Array(base64.utf8).withUnsafeBytes { Base64Coding.decode($0) } ?? []
    }

    @Test("Each coding is decoded, for any size of the received pieces", arguments: [1, 7, 4096, Int.max])
    func codings(piece: Int) throws {
        #expect(try decoded(bytes("iwWAaGVsbG8gYnJvdGxpAw=="), "br", piece: piece) == 12)
        #expect(try decoded(bytes("KLUv/QRYUQAAaGVsbG8genN0ZM/bYJw="), "zstd", piece: piece) == 10)
        #expect(try decoded(zlib(1 << 20), "deflate", piece: piece) == 1 << 20)
        // Raw deflate, without zlib's header and checksum.
        #expect(try decoded(Array(zlib(1 << 20).dropFirst(2).dropLast(4)), "deflate", piece: piece) == 1 << 20)
        #expect(try decoded(zstd(1 << 20) + zstd(5), "ZSTD", piece: piece) == 1 << 20 + 5)
    }

    @Test("Two codings are decoded, three are refused, and a body with an unknown coding is not decoded")
    func chains() throws {
        #expect(try decoded(zstd(1 << 20), "identity, zstd") == 1 << 20)
        #expect(throws: BridgeError.undecodable("the body has 3 codings; the maximum is 2")) {
            try decoded([], "gzip, gzip, gzip")
        }
        for coding in ["lzma", "gzip, lzma", "lzma, gzip", "lzma, gzip, gzip, gzip"] {
            var headers = HeaderList()
            _ = headers.append(name: "Content-Encoding", value: coding)
            #expect(try ContentDecoder(headers) == nil, "\(coding)")
        }
    }

    @Test("A truncated, invalid or overlong coded body is an error")
    func broken() throws {
        for (coding, whole) in [
            ("br", bytes("iwWAaGVsbG8gYnJvdGxpAw==")), ("zstd", bytes("KLUv/QRYUQAAaGVsbG8genN0ZM/bYJw=")),
            ("deflate", zlib(1000)),
        ] {
            #expect(throws: BridgeError.self, "\(coding) cut") { try decoded(Array(whole.dropLast(3)), coding) }
            #expect(throws: BridgeError.self, "\(coding) followed") { try decoded(whole + [1, 2, 3, 4, 5], coding) }
        }
        #expect(throws: BridgeError.self) { try decoded(Array("plain text".utf8), "gzip") }
    }

    @Test("A zstd window above 8 MiB is refused")
    func window() {
        #expect(throws: BridgeError.self) { try decoded(bytes("KLUv/QSIGQAAaGkKND1Qkg=="), "zstd") }
    }

    @Test("A decompression bomb is stopped at 64 MiB", arguments: ["zstd", "deflate", "br"])
    func bombs(coding: String) throws {
        let bomb =
            switch coding {
            case "zstd": zstd(100 << 20)
            case "deflate": zlib(100 << 20)
            default: bytes(Self.brotliBomb)
            }
        let error = try #require(throws: BridgeError.self) { try decoded(bomb, coding, piece: 16 << 10) }
        #expect(error.code == "http.too_large")
        #expect(error.data?["what"] == "decoded")
    }

    /// 100 MiB of the letter a, compressed by brotli.
    private static let brotliBomb =
        "y///PwAkwuKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRh"
        + "Aeje//H//w8ACYA4LADd+z/+//8BIAEQhwWge//H//8/ACQA4rAAdO//+P//B4AEQBwWgO79H////wCQAIjDAtC9/+P//x8A"
        + "EgBxWAC693/5//8DQAIgDgtA9/4H"
}
