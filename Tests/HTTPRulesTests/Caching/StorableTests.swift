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

    @Test("A response to GET is stored where its status or a directive permits it")
    func permitted() {
        #expect(refusal() == nil && refusal(404) == nil)
        #expect(refusal(302) == .noPermission && refusal(503) == .noPermission)
        for value in ["public", "private", "max-age=0"] { #expect(refusal(503, control(value)) == nil) }
        #expect(refusal(302, fields(("Expires", "x"))) == nil)
        #expect(refusal(200, HeaderList(), to: get(fields(("Authorization", "Basic x")))) == nil)
    }

    @Test("no-store forbids it, of either side; must-understand beats it for statuses that are known")
    func noStore() {
        #expect(refusal(200, control("no-store, max-age=5")) == .responseNoStore)
        #expect(refusal(to: get(control("no-store"))) == .requestNoStore)
        #expect(refusal(to: get(HeaderList(), .noStore)) == .requestNoStore)
        #expect(refusal(200, control("no-store, must-understand")) == nil)
        #expect(refusal(599, control("no-store, must-understand, max-age=5")) == .status)
    }

    @Test("Interim responses, those to conditions and ranges, and Vary: * are not stored")
    func never() {
        #expect(refusal(103, control("max-age=5")) == .status && refusal(304) == .status)
        #expect(refusal(412, control("max-age=5")) == .status && refusal(416, control("max-age=5")) == .status)
        #expect(refusal(999, control("max-age=5")) == .status)
        #expect(refusal(200, fields(("Vary", "a, *"))) == .vary)
    }

    @Test("Pieces are stored where they have one place")
    func pieces() {
        #expect(refusal(206, fields(("Content-Range", "bytes 0-4/10"))) == nil)
        #expect(refusal(206, fields(("Content-Type", "multipart/byteranges; boundary=x"))) == .range)
        #expect(refusal(206, fields(("Content-Range", "bytes 0-4/3"))) == .range)
    }

    @Test("Of other methods only a POST is stored that is fresh and says that it is the URL's content")
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

    @Test("Fields of one connection are not stored, and Connection takes none away that the store reads")
    func hopByHop() {
        let all = fields(
            ("Connection", "a, cache-control"), ("a", "1"), ("Cache-Control", "no-cache"), ("Keep-Alive", "1"),
            ("Transfer-Encoding", "chunked"), ("B", "2"), ("Set-Cookie", "c=d"), ("TE", "x"), ("Upgrade", "y"),
            ("Proxy-Authenticate", "z"))
        let kept = fields(("Cache-Control", "no-cache"), ("B", "2"), ("Set-Cookie", "c=d"))
        #expect(StoredFields.storable(of: all) == kept)
    }

    @Test("Unsafe methods that succeed make the URL wrong, and what Location and Content-Location name")
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
