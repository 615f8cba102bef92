import CLibuv

/// What the process keeps of the memory that it has freed, instead of giving it back to the kernel at once.
///
/// The C library, left to itself, gives back every block of more than 128 KiB and takes it anew for the next one: with
/// each message of a megabyte, the kernel then clears and maps a thousand pages, which takes longer than all else that
/// is done with it.
public enum FreedMemory {
    /// Has the process keep up to that many bytes, of each heap that the C library has; at most 32 MiB. Any thread.
    public static func keep(upToBytes bytes: Int) {
        clibuv_keep_freed_memory(Int32(clamping: min(bytes, 32 << 20)))
    }

    /// Gives back all that is kept. Any thread; other threads that allocate may have to wait meanwhile.
    public static func trim() { clibuv_return_freed_memory() }
}
