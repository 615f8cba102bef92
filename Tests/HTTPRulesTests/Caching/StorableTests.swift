import HTTPRules
import Testing

@Suite struct StorableTests {
    private func refusal(
        _ status: Int = 200, _ list: HeaderList = HeaderList(), to request: CacheRequest = get(),
        isContent: Bool = false
    ) -> Storable.Refusal? {
        Storable.refusal(of: response(status, list), to: request, isContentOfURL: isContent)
    }

    private func control(_ value: String) -> HeaderList { fields(("Cache-Control", value)) }

    @Test("A response to GET is stored if its status or a directive permits it")
    func permitted() {
        #expect(refusal() == nil && refusal(404) == nil)
        #expect(refusal(302) == .noPermission && refusal(503) == .noPermission)
        for value in ["public", "private", "max-age=0"] { #expect(refusal(503, control(value)) == nil) }
        #expect(refusal(302, fields(("Expires", "x"))) == nil)
        #expect(refusal(200, HeaderList(), to: get(fields(("Authorization", "Basic x")))) == nil)
    }

    @Test("no-store of either side forbids storing; must-understand overrides it for known statuses")
    func noStore() {
        #expect(refusal(200, control("no-store, max-age=5")) == .responseNoStore)
        #expect(refusal(to: get(control("no-store"))) == .requestNoStore)
        #expect(refusal(to: get(HeaderList(), .noStore)) == .requestNoStore)
        #expect(refusal(200, control("no-store, must-understand")) == nil)
        #expect(refusal(599, control("no-store, must-understand, max-age=5")) == .status)
    }

    @Test("Interim responses, 304, 412, 416, unknown statuses and Vary: * are not stored")
    func never() {
        #expect(refusal(103, control("max-age=5")) == .status && refusal(304) == .status)
        #expect(refusal(412, control("max-age=5")) == .status && refusal(416, control("max-age=5")) == .status)
        #expect(refusal(999, control("max-age=5")) == .status)
        #expect(refusal(200, fields(("Vary", "a, *"))) == .vary)
    }

    @Test("A partial response is stored if it has one valid range")
    func pieces() {
        #expect(refusal(206, fields(("Content-Range", "bytes 0-4/10"))) == nil)
        #expect(refusal(206, fields(("Content-Type", "multipart/byteranges; boundary=x"))) == .range)
        #expect(refusal(206, fields(("Content-Range", "bytes 0-4/3"))) == .range)
    }

    @Test("Of other methods only a fresh POST that declares itself the URL's content is stored")
    func methods() {
        let post = CacheRequest(method: "POST", fields: HeaderList())
        #expect(refusal(200, control("max-age=5"), to: post) == .method)
        #expect(refusal(200, HeaderList(), to: post, isContent: true) == .method)
        #expect(refusal(200, control("max-age=5"), to: post, isContent: true) == nil)
        #expect(
            refusal(200, control("max-age=5"), to: CacheRequest(method: "PUT", fields: HeaderList()), isContent: true)
                == .method)
        #expect(refusal(200, control("max-age=5"), to: CacheRequest(method: "HEAD", fields: HeaderList())) == .method)
    }

    @Test("Fields of one connection are not stored, but Connection cannot remove a field that the store reads")
    func hopByHop() {
        let all = fields(
            ("Connection", "a, cache-control"), ("a", "1"), ("Cache-Control", "no-cache"), ("Keep-Alive", "1"),
            ("Transfer-Encoding", "chunked"), ("B", "2"), ("Set-Cookie", "c=d"), ("TE", "x"), ("Upgrade", "y"),
            ("Proxy-Authenticate", "z"))
        let kept = fields(("Cache-Control", "no-cache"), ("B", "2"), ("Set-Cookie", "c=d"))
        #expect(StoredFields.storable(of: all) == kept)
    }

    @Test("A successful unsafe method invalidates the URL and the targets of Location and Content-Location")
    func invalidation() {
        let list = fields(("Location", "/a"), ("Content-Location", "b"))
        #expect(Invalidation(method: "POST", response: response(303, list))?.references == ["/a", "b"])
        #expect(Invalidation(method: "M-SEARCH", response: response(200, HeaderList()))?.references == [])
        #expect(Invalidation(method: "POST", response: response(500, list)) == nil)
        for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
            #expect(Invalidation(method: method, response: response(200, list)) == nil)
        }
    }
}
