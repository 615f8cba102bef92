import TestSupport

/// The PEM files of a certificate and its key.
struct TestCertificate {
    let file: String
    let key: String
}

/// A certificate authority for tests.
final class TestAuthority {
    static let openssl = "/usr/bin/openssl"
    static let isThere = exists(openssl)

    private let folder: TemporaryFolder
    /// The authority's own certificate.
    var file: String { folder.file("ca.pem") }

    init() throws {
        folder = try TemporaryFolder()
        try openSSL(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=Test authority", "-keyout", folder.file("ca.key"), "-out", file)
    }

    /// Creates a certificate for a name or an address.
    ///
    /// - Parameter isExpired: Whether the certificate was valid for only one day in 2020.
    func certificate(_ alternative: String, isExpired: Bool = false) throws -> TestCertificate {
        let name = alternative.filter { $0.isLetter || $0.isNumber } + (isExpired ? "-expired" : "")
        let (key, request, file) = (folder.file("\(name).key"), folder.file("\(name).csr"), folder.file("\(name).pem"))
        try openSSL(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test",
            "-keyout", key, "-out", request)
        let extensions = try folder.write("subjectAltName=\(alternative)\n", to: "\(name).ext")
        if isExpired {
            try signExpired(request, extensions, file)
        } else {
            try openSSL(
                "x509", "-req", "-in", request, "-CA", self.file, "-CAkey", folder.file("ca.key"), "-CAcreateserial",
                "-days", "2", "-extfile", extensions, "-out", file)
        }
        return TestCertificate(file: file, key: key)
    }

    /// Returns the SHA-256 hash of a certificate's public key, in base 64.
    func keyHash(of certificate: TestCertificate) throws -> String {
        let (key, hash) = (folder.file("key.der"), folder.file("hash.bin"))
        try openSSL("pkey", "-in", certificate.key, "-pubout", "-outform", "DER", "-out", key)
        try openSSL("dgst", "-sha256", "-binary", "-out", hash, key)
        let outcome = try run(Self.openssl, ["base64", "-A", "-in", hash])
        return outcome.output.filter { $0 != "\n" }
    }

    /// Signs an expired certificate. Uses `openssl ca`, because `x509` cannot set the dates.
    private func signExpired(_ request: String, _ extensions: String, _ file: String) throws {
        try folder.write("", to: "index.txt")
        let settings = """
            [ca]
            default_ca = test
            [test]
            database = \(folder.file("index.txt"))
            new_certs_dir = \(folder.path)
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """
        try openSSL(
            "ca", "-batch", "-config", try folder.write(settings, to: "ca.cnf"), "-in", request, "-cert", self.file,
            "-keyfile", folder.file("ca.key"), "-startdate", "20200101000000Z", "-enddate", "20200102000000Z",
            "-extfile", extensions, "-notext", "-out", file)
    }

    private func openSSL(_ arguments: String...) throws {
        let outcome = try run(Self.openssl, arguments)
        guard outcome.end == .exited(0) else { throw TestFailure("openssl failed: \(outcome.errors)") }
    }
}
