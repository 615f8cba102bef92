"""Seeds of cookies and of header fields for caching."""

from .common import RECORD_END, Seeds, compact


def of_http(seeds: Seeds) -> None:
    """Adds seeds of cookies and of header fields for caching."""
    lines = [
        b"a=1", b"b=2; Domain=shop.example; Path=/a; Secure; HttpOnly; SameSite=Lax", b"a=; Max-Age=0",
        b"__Host-c=3; Path=/; Secure", b"__Secure-d=4; Secure; SameSite=None; Partitioned",
        b"e=5; Expires=Wed, 09 Jun 2027 10:18:14 GMT", b"f=6; Max-Age=99999999999999999999", b"\x01g=7; Max-Age=86400",
        b"=8", b"h", b"i=9; Domain=.example", b"j=\x7f", b"k=10; expires=Sunday, 06-Nov-94 08:49:37 GMT; path=a",
    ]
    for setter in range(6):
        seeds["setcookie"].append(bytes([setter]) + RECORD_END.join(lines))
    seeds["setcookie"] += [b"\x00" + line for line in lines]
    netscape = (b"# Netscape HTTP Cookie File\n#HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\tid\t7\r\n"
                b"b.example\tFALSE\t/x\tFALSE\t1900000000\tb\t1\tStrict\nnone\n\n[::1]\tFALSE\t/\tFALSE\t-1\t\tx\n"
                b"co.uk\tTRUE\t/\tFALSE\t0\tx\t1\n127.0.0.1\tTRUE\t/\tFALSE\t99999999999999999999\ta\tb")
    cookie = {"name": "a", "value": "1", "host": "a.example", "hostOnly": False, "path": "/", "sameSite": "none",
              "secure": True, "partition": "https://b.example", "expires": 1900000000, "persist": True}
    seeds["cookiefile"] += [
        b"\x00" + netscape, b"\x3f" + netscape, b"\x07" + compact(cookie).encode() + b"\n{}\n7\n",
        b"\x01" + compact({"nameBase64": "/w==", "valueBase64": "!", "host": "a..b", "created": -1}).encode(),
    ]

    def played(policy: int, status: int, request: list[str], response: list[str], following: list[str]) -> bytes:
        lists = [RECORD_END.join(field.encode() for field in fields) + RECORD_END
                 for fields in (request, response, following)]
        return bytes([policy, status, 60, 60]) + RECORD_END.join(lists)

    response = ['ETag: "a"', "Date: Fri, 15 Jan 2027 08:00:00 GMT", "Content-Length: 10"]
    for policy in range(7):
        seeds["cachecontrol"].append(
            played(policy, 0, ["Accept: */*"], response + ["Cache-Control: max-age=60"], ['ETag: "a"']))
    seeds["cachecontrol"] += [
        played(0, 0, ["Cache-Control: max-stale"], response + ["Cache-Control: max-age=0, must-revalidate"], []),
        played(0, 0, ["Cache-Control: only-if-cached, min-fresh=1"],
               response + ["Cache-Control: s-maxage=1, private=\"x\""], []),
        played(0, 0, ["Accept-Encoding: gzip, br", "Accept-Language: de"],
               response + ["Vary: Accept-Encoding, accept-language", "Expires: 0", "Age: 7, 8"], ["Vary: *"]),
        played(0, 2, ["Range: bytes=0-4"],
               ["Content-Range: bytes 0-4/10", "Cache-Control: public, max-age=9", 'ETag: W/"w"'], []),
        played(0, 3, ["If-None-Match: *", "If-Modified-Since: Sun Nov  6 08:49:37 1994"],
               ["Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT",
                "Cache-Control: stale-while-revalidate=9,stale-if-error=9"], []),
        played(6, 0, [],
               ["Cache-Control: no-store, must-understand, immutable", "Strict-Transport-Security: max-age=1"], []),
    ]
