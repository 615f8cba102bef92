// EventLoop: the only importer of libuv. Everything that happens on the loop thread starts here.
