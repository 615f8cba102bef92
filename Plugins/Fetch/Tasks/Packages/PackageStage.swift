import HTTPRules
import OfflinePackages
import Synchronization
import TaskKit

/// Answers GET and HEAD from the packages of the user.
struct PackageStage: HopStage {
    private static let chunkBytes = 64 << 10

    let packages: PackageStores

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool {
        (hop.method == "GET" || hop.method == "HEAD") && packages.mayHave(context.user)
    }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        guard let found = try await packages.find(hop.url, of: context.user) else {
            return try await next.load(hop, context)
        }
        var head = ResponseHead(status: 200, reason: "OK", version: "", headers: fields(of: found))
        let tags = hop.headers.members(named: "If-None-Match")
        let isKnown = tags.contains("*") || tags.contains { $0.hasSuffix(tag(of: found)) }
        if isKnown { (head.status, head.reason) = (304, "Not Modified") }
        guard hop.method == "GET", !isKnown else {
            let body = try LocalBody(HeaderList(), context.request) { () async throws(BridgeError) in [] }
            return HopResponse(head: head, body: body, from: "package")
        }
        return HopResponse(head: head, body: try body(of: found, head, context), from: "package")
    }

    private func fields(of found: PackageStores.Found) -> HeaderList {
        let fields = [
            ("Content-Type", found.file.type), ("Content-Length", "\(found.file.byteCount)"),
            ("ETag", tag(of: found)), ("Content-Security-Policy", found.package.manifest.head.csp ?? ""),
        ]
        return HeaderList(
            fields.compactMap { name, value in value.isEmpty ? nil : HeaderField(name: name, value: value) })
    }

    private func tag(of found: PackageStores.Found) -> String { "\"\(found.file.sha256)\"" }

    /// Returns the body of a file. The file is opened when the first bytes are read.
    private func body(
        of found: PackageStores.Found, _ head: ResponseHead, _ context: LoadContext
    ) throws(BridgeError) -> LocalBody {
        let reader = Mutex<PackageFileReader?>(nil)
        let call = context.call
        let read: @Sendable () async throws(BridgeError) -> [UInt8] = { () async throws(BridgeError) in
            do {
                return try await call.plugin.blocking {
                    try reader.withLock { reader in
                        if reader == nil { reader = try found.package.open(found.file) }
                        return try reader?.read(upTo: Self.chunkBytes) ?? []
                    }
                }
            } catch let fault as PackageFault {
                throw BridgeError(fault)
            } catch {
                throw .fetchCancelled
            }
        }
        return try LocalBody(head.headers, context.request, read: read)
    }
}
