import OfflinePackages
import TaskKit

extension BridgeError {
    /// Creates the error that a caller receives for a fault of a package.
    init(_ fault: PackageFault) {
        let text = fault.description
        self =
            switch fault.reason {
            case .missing: BridgeError("package.not_found", text)
            case .busy: BridgeError(.busy, text, data: ["started": false], isTransient: true, retryAfter: .seconds(1))
            case .full: BridgeError("storage.full", text, isTransient: true)
            case .storage: BridgeError(.storageFailed, text)
            case .format, .manifest, .path, .signature, .key, .file, .limit:
                BridgeError("package.invalid", text, data: ["reason": .string(fault.reason.rawValue)])
            }
    }
}
