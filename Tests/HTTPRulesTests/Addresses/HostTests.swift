import Glibc
import HTTPRules
import TestSupport
import Testing

@Suite struct HostTests {
    @Test(
        "A name is in lower case, with A-labels and without a trailing dot",
        arguments: [
            ("example.com", "example.com"), ("EXAMPLE.Com.", "example.com"), ("a_b.example", "a_b.example"),
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
            ("faß.example", "xn--fa-hia.example"), ("食狮.中国", "xn--85x722f.xn--fiqs8s"),
            ("ｅｘａｍｐｌｅ.com", "example.com"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("0x.example", "0x.example"),
            ("1.2.3.4.example", "1.2.3.4.example"), ("r3---sn-x.example", "r3---sn-x.example"),
        ]) func names(text: String, canonical: String) throws
    { #expect(try Host(text).text == canonical) }

    @Test(
        "An address has one canonical form",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("[0:0:0:0:0:0:0:1]", "[::1]"),
            ("[2001:DB8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"), ("[::ffff:1.2.3.4]", "[::ffff:102:304]"),
            ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"), ("[::]", "[::]"), ("[1::]", "[1::]"),
            ("[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"),
        ]) func addresses(text: String, canonical: String) throws
    {
        let host = try Host(text)
        #expect(host.text == canonical && !host.isName)
    }

    @Test(
        "A name that another parser reads as an address is refused",
        arguments: [
            "0x7f.1", "2130706433", "127.1", "0177.0.0.1", "127.0.0.01", "127.0.0.1.", "0x7f000001", "1.2.3.4.5",
            "256.1.1.1",
            "a.1", "a.0x", "a.0xff", "127.0.0.0x1", "①②⑦.0.0.1", "１２７.0.0.1", "127。0。0。1", "0x7f。1", "1",
        ]) func numbers(text: String)
    { #expect(refusal { try Host(text) }?.reason == .address) }

    @Test(
        "Other invalid texts are refused, each with its reason",
        arguments: [
            ("", "host"), (".", "host"), ("a..b", "host"), (".a", "host"), ("a.example..", "host"),
            ("%31.example", "percent_encoding"), ("ü%41.example", "international_name"), ("a b", "character"),
            ("a/b", "character"), ("a℀.example", "character"), ("a\\b", "character"), ("a:1", "character"),
            ("*.example", "character"), ("[::1", "address"), ("[::1%25eth0]", "address"), ("[1::2::3]", "address"),
            ("[:1]", "address"), ("[1:]", "address"), ("[12345::]", "address"), ("[1:2:3:4:5:6:7:8:9]", "address"),
            ("[::127.0.0.01]", "address"), ("[v1.x]", "address"), ("::1", "character"),
            ("\u{AD}", "host"), ("ü\u{0}", "international_name"),
            (String(repeating: "a", count: 64), "host"), (String(repeating: "a.", count: 127) + "a", "too_long"),
            (String(repeating: "ü", count: 600), "too_long"),
            (String(repeating: "ü", count: 100), "international_name"),
        ]) func refusals(text: String, reason: String)
    { #expect(refusal { try Host(text) }?.reason.name == reason, "\(text)") }

    @Test("The ASCII initialiser requires A-labels") func ascii() throws {
        #expect(refusal { try Host(ascii: "bücher.example") }?.reason == .internationalName)
        #expect(try Host(ascii: "XN--bcher-kva.example").text == "xn--bcher-kva.example")
    }

    @Test("A name of the maximum length is accepted") func longest() throws {
        let name = Array(repeating: String(repeating: "a", count: 63), count: 3).joined(separator: ".")
        #expect(try Host("\(name).\(String(repeating: "b", count: 61))").text.utf8.count == Host.maximumNameBytes)
        #expect(try Host("\(name).\(String(repeating: "b", count: 61)).").text.utf8.count == Host.maximumNameBytes)
    }

    @Test("A name is below the domains of its trailing labels; an address is below nothing") func below() throws {
        let host = try Host("a.b.example")
        #expect(try host.isBelow(Host("b.example")) && host.isBelow(Host("example")))
        #expect(
            try !host.isBelow(host) && !host.isBelow(Host("xa.b.example"))
                && !Host("xb.example").isBelow(Host("b.example")))
        #expect(try !Host("1.2.3.4").isBelow(Host("x.4x")))
        #expect(try Host("localhost").isLocalhost && Host("a.localhost").isLocalhost && !Host("xlocalhost").isLocalhost)
    }

    @Test(
        "The C library finds the same address in an address, and none in a name", arguments: 0..<10 as Range<UInt64>)
    func agreement(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789.xXaf_-".utf8)
        for _ in 0..<5000 {
            let count = Int.random(in: 1...12, using: &random)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            guard let host = try? Host(ascii: String(decoding: bytes, as: UTF8.self)) else { continue }
            var address = in_addr()
            let isAddress = inet_aton(host.text, &address) != 0
            let bytesOfAddress = withUnsafeBytes(of: &address) { Array($0) }  // in network order
            #expect(host.address?.bytes == (isAddress ? bytesOfAddress : nil), "\(host.text)")
        }
        let text = (0..<8).map { _ in String(UInt16.random(in: 0...9, using: &random) & 6, radix: 16) }.joined(
            separator: ":")
        var address = in6_addr()
        #expect(inet_pton(AF_INET6, text, &address) == 1)
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        #expect(inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil)
        let written = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #expect(try Host("[\(text)]").text == "[\(written)]")
    }

    @Test("The text of every accepted host is read as the same host", arguments: 0..<20 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let seeds = ["bücher.example", "127.0.0.1", "[2001:db8::1:0:0:1]", "0x7f.1", "①②⑦.0.0.1", "a_b-c.example."]
        for _ in 0..<500 {
            let bytes = random.mutate(
                Array(seeds.randomElement(using: &random)!.utf8), alphabet: Array("[]:.%0x1fﬀ。①".utf8))
            guard let host = try? Host(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(try Host(ascii: host.text) == host)
            #expect(host.text.utf8.allSatisfy { $0 < 0x80 && $0 != 0x25 })
        }
    }
}
