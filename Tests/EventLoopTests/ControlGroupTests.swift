import Testing

@testable import EventLoop

@Suite("A process's own control group")
struct ControlGroupTests {
    private static let v1 = "36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
    private static let v2 = "41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
    private static let hybrid = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

    @Test(
        "is found wherever cgroup v2 is mounted",
        arguments: [
            ("0::/a.slice/b.service\n", v2, ["/sys/fs/cgroup/a.slice/b.service"]),
            ("0::/\n", v2, ["/sys/fs/cgroup"]),
            (
                "5:devices:/x\n1:name=systemd:/y\n0::/a.slice/b.service\n", v1 + hybrid,
                ["/sys/fs/cgroup/unified/a.slice/b.service"]
            ),
            // The mounts show parts of the hierarchy: one contains the group, one does not.
            (
                "0::/a/b/c\n",
                "1 2 0:38 /a/b /here rw - cgroup2 none rw\n3 2 0:38 /a/bb /there rw - cgroup2 none rw\n",
                ["/here/c"]
            ),
            ("0::/a/b\n", "1 2 0:38 /a/b /here rw - cgroup2 none rw\n", ["/here"]),
            (
                "0::/a\n", v2 + "1 2 0:38 /a /sys/fs/cgroup/a rw - cgroup2 none rw\n",
                ["/sys/fs/cgroup/a", "/sys/fs/cgroup/a"]
            ),
            ("0::/a\n", "1 2 0:38 / /with\\040space rw - cgroup2 none rw\n", []),
            ("0::/a\n", "1 2 0:38 /../.. /outside rw - cgroup2 none rw\n", []),
            ("0::/a\n", v1, []), ("5:devices:/x\n", v2, []), ("", "", []), ("0::/a\n", "no mounts\n-\n", []),
        ] as [(String, String, [String])])
    func directories(groups: String, mounts: String, found: [String]) {
        #expect(ControlGroup.directories(inGroups: groups, mounts: mounts) == found)
    }
}
