import TestSupport
import Testing

@testable import HTTPRules

@Suite("Authentication")
struct AuthenticationTests {
    private func headers(_ values: String...) -> HeaderList {
        HeaderList(values.compactMap { HeaderField(name: "WWW-Authenticate", value: $0) })
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(
        "MD5 produces the hashes of RFC 1321, section A.5",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a"
            ),
        ])
    func md5(text: String, hash: String) { #expect(hex(MD5.hash(Array(text.utf8))) == hash) }

    @Test(
        "Digest produces the responses of RFC 7616, section 3.9.1",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func digest(algorithm: String, response: String) throws {
        let challenge = try #require(
            AuthenticationChallenge.strongest(
                headers(
                    """
                    Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
                    nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
                    opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                    """)))
        #expect(challenge.realm == "http-auth@example.org")
        let answer = challenge.answer(
            .init(user: "Mufasa", password: "Circle of Life"), method: "GET",
            url: try WebURL("http://www.example.org/dir/index.html"),
            nonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(answer?.contains(#"response="\#(response)""#) == true, "\(answer ?? "")")
        #expect(answer?.hasPrefix(#"Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf"#) == true)
        #expect(answer?.contains(#"uri="/dir/index.html""#) == true)
        #expect(answer?.hasSuffix(#"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#) == true)
    }

    @Test("Basic encodes name and password in base 64; a name with a colon or a control character is refused")
    func basic() throws {
        let challenge = try #require(AuthenticationChallenge.strongest(headers("Basic realm=\"a, b\"")))
        #expect(challenge.realm == "a, b")
        func answer(_ user: String, _ password: String) throws -> String? {
            challenge.answer(
                .init(user: user, password: password), method: "GET", url: try WebURL("https://a.example/"), nonce: "")
        }
        #expect(try answer("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try answer("a", "é") == "Basic YTrDqQ==" && answer("a", "") == "Basic YTo=")
        #expect(try answer("a:b", "c") == nil && answer("a:\u{301}b", "c") == nil && answer("a", "b\r\nX: y") == nil)
    }

    @Test(
        "The strongest supported challenge is chosen, from one field or several",
        arguments: [
            (["Basic realm=x, Digest realm=y, nonce=n"], "y"), (["Basic realm=x", "Digest realm=y,nonce=n"], "y"),
            (["Digest realm=x, nonce=n, algorithm=MD5, Digest realm=y, nonce=n, algorithm=SHA-256"], "y"),
            (["Negotiate abc==, Basic realm=\"y\""], "y"),
            (["Digest realm=x, nonce=n, algorithm=SHA-3, Basic realm=y"], "y"),
            (["Digest realm=x, nonce=n, qop=auth-int", "basic realm=y"], "y"), (["Bearer realm=x"], nil),
            (["=,,\"", ""], nil),
            (["Digest realm=x"], nil),
        ] as [([String], String?)])
    func challenges(values: [String], realm: String?) {
        let list = HeaderList(values.compactMap { HeaderField(name: "WWW-Authenticate", value: $0) })
        #expect(AuthenticationChallenge.strongest(list)?.realm == realm)
    }

    @Test("Mutated challenges never trap, and each answer is a valid field value")
    func mutated() throws {
        let text = #"Digest realm="a\"b", nonce="n", qop="auth", algorithm=SHA-256-sess, charset=UTF-8, Basic realm=x"#
        var random = SeededGenerator(seed: 20_261_127)
        for _ in 0..<3_000 {
            let bytes = random.mutate(Array(text.utf8), alphabet: Array(text.utf8))
            let headers = HeaderList(
                [HeaderField(name: "WWW-Authenticate", value: FieldText.decode(bytes))].compactMap(\.self))
            guard let challenge = AuthenticationChallenge.strongest(headers) else { continue }
            let answer = challenge.answer(
                .init(user: "ü", password: "p"), method: "GET", url: try WebURL("https://a.example/"), nonce: "c")
            #expect(answer.map { HeaderField.isValue($0) } ?? true)
        }
    }
}
