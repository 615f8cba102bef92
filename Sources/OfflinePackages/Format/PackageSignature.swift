import BridgeJSON
import Sodium

/// The signature of a manifest: the file `manifest.sig`, one line of JSON.
public struct PackageSignature: Sendable, Hashable {
    /// The key that signed.
    public let key: PackageKey
    private let signature: [UInt8]

    /// Signs a manifest.
    init(of manifest: [UInt8], by key: PackageSecretKey) {
        self.key = key.publicKey
        signature = key.key.sign(manifest)
    }

    /// Parses the file.
    ///
    /// - Throws: `signature` if it is not in the form of ``bytes``.
    init(parsing bytes: [UInt8]) throws(PackageFault) {
        let json = try? JSON(parsing: bytes)
        guard let key = json?["key"]?.stringValue.flatMap({ PackageKey($0) }),
            let signature = json?["signature"]?.stringValue.flatMap({ KeyText.bytes($0) })
        else {
            throw PackageFault(.signature, "\(PackagePath.signature) contains no ed25519 signature")
        }
        (self.key, self.signature) = (key, signature)
        guard self.bytes == bytes else {
            throw PackageFault(
                .signature, "\(PackagePath.signature) is not in the form that trestle package make writes")
        }
    }

    /// The contents of the file.
    var bytes: [UInt8] {
        let json: JSON = ["key": .string(key.description), "signature": .string(KeyText.base64(signature))]
        return Array("\(json.text)\n".utf8)
    }

    /// Checks that the signature is valid and the key trusted.
    ///
    /// - Parameters:
    ///   - manifest: The signed bytes.
    ///   - keys: The trusted keys; `nil` trusts every key.
    /// - Throws: `key`, `signature`.
    func check(_ manifest: [UInt8], _ keys: [PackageKey]?) throws(PackageFault) {
        guard keys?.contains(key) ?? true else {
            throw PackageFault(.key, "the package is signed by \(key), which is not a trusted key")
        }
        guard key.key.verifies(signature, of: manifest) else {
            throw PackageFault(.signature, "the signature does not fit the manifest")
        }
    }
}
