internal import OfflinePackages
internal import PageBridge
internal import WebKitViews
internal import WebPackages
internal import WebProfiles

/// Answers requests of pages to offline packages.
@MainActor
final class PackageServer {
    /// The error domain in failures of loads.
    nonisolated static let errorDomain = "trestle-package"

    private let library: PackageLibrary
    private let policy: String?
    /// The package versions with which the documents of a page were begun, by the page's number and the package's id.
    private var versions: [Int: [String: InstalledPackage]] = [:]
    /// The turns of the pages' requests to networks, by the page's number.
    private var turns: [Int: NetworkTurns] = [:]
    weak var container: Container?

    init(_ library: PackageLibrary, policy: String?) {
        self.library = library
        self.policy = policy
    }

    /// Notes that a page begins another document or is closed: the next requested file is of the current version.
    func leave(_ page: Int) {
        versions[page] = nil
        turns[page] = nil
    }

    /// Answers a request.
    func take(_ request: SchemeRequest) {
        guard case .package(let id)? = PageOrigin(ofURI: request.uri) else {
            return request.fail(Self.errorDomain, LoadProblem.PackageProblem.missing.rawValue, "it names no package")
        }
        let page = container?.pages.values.first { request.isOf($0.view) }
        let asked = PackageRequest(
            request.method, request.uri, fields: request.fields.map { PackageRequest.Field(name: $0.0, value: $0.1) })
        let calls = page.flatMap { $0.bridge.origin == .package(id) ? DocumentCalls($0.bridge) : nil }
        let (policy, library, number) = (policy, library, page?.number)
        let known = number.flatMap { versions[$0]?[id] }
        Task { [weak self] in
            switch await Self.find(asked, id, known, library, policy) {
            case .failure(let fault): Self.fail(request, fault)
            case .success(let found):
                if let number { self?.versions[number, default: [:]][id] = found.package }
                // Without a session of the package's page, the network cannot be used on its behalf.
                guard let question = found.answer.network, let number, let calls, let self else {
                    return Self.answer(request, found)
                }
                await turns(of: number).run {
                    await PackageNetwork(calls: calls, request: request).answer(question, fields: found.answer.fields)
                }
            }
        }
    }

    private func turns(of page: Int) -> NetworkTurns {
        let turns = turns[page] ?? NetworkTurns()
        self.turns[page] = turns
        return turns
    }

    private struct Found: Sendable {
        var package: InstalledPackage
        var answer: PackageAnswer
        /// The descriptor of the file; `nil` if there is none.
        var descriptor: Int32?
    }

    /// Finds the answer. Waits for the disk, on a thread of the pool.
    @concurrent
    private nonisolated static func find(
        _ request: PackageRequest, _ id: String, _ known: InstalledPackage?, _ library: PackageLibrary,
        _ policy: String?
    ) async -> Result<Found, PackageFault> {
        do throws(PackageFault) {
            let package = if let known { known } else { try library.current(id) }
            let answer = PackageAnswer(request, package.manifest, policy: policy)
            let descriptor: Int32? = if let file = answer.file { try package.open(file).descriptor() } else { nil }
            return .success(Found(package: package, answer: answer, descriptor: descriptor))
        } catch {
            return .failure(error)
        }
    }

    private static func answer(_ request: SchemeRequest, _ found: Found) {
        let body: SchemeRequest.Body =
            if let descriptor = found.descriptor, let file = found.answer.file {
                .descriptor(descriptor, byteCount: file.byteCount)
            } else {
                .none
            }
        request.answer(
            found.answer.status, type: found.answer.file?.type, fields: found.answer.fields.map { ($0.name, $0.value) },
            body)
    }

    private static func fail(_ request: SchemeRequest, _ fault: PackageFault) {
        let problem = LoadProblem.PackageProblem(fault.reason == .missing)
        request.fail(errorDomain, problem.rawValue, fault.description)
    }
}

extension LoadProblem {
    /// The problem of a package.
    public enum PackageProblem: Int, Sendable {
        /// It is not installed.
        case missing = 1
        /// It cannot be used.
        case invalid = 2

        init(_ isMissing: Bool) { self = isMissing ? .missing : .invalid }
    }
}

extension LoadProblem {
    /// Creates the problem from a failure of the engine.
    init(_ failure: LoadFailure) {
        if failure.domain == PackageServer.errorDomain, let problem = PackageProblem(rawValue: failure.number) {
            self = .package(problem, uri: failure.uri, message: failure.message)
        } else {
            self = .failed(uri: failure.uri, message: failure.message)
        }
    }
}
