# The targets: `make help` lists them. `swift build` and `swift test` also work without make.

.DEFAULT_GOAL := help
.PHONY: help setup page-script build test demo run bench bench-check fuzz soak test-soak test-leaks test-sanitize test-faults \
	install uninstall test-install deb test-service newcomer format generate lint docs web test-web demo-web \
	deb-web test-kiosk soak-web bench-web

# The destinations of `make install`; docs/operations.md describes them.
export PREFIX DESTDIR SYSCONFDIR UNITDIR USERUNITDIR SYSUSERSDIR ZSHDIR

# How many tests run at once. Without it all of them start together: each step of a test then waits for thousands of
# others, and a test that takes many steps exceeds its time limit on a busy machine.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 16

SWIFT_FILES = $(shell scripts/swift-files.sh)

help: ## Print this list
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## Check for Swift, install the Debian packages that are missing
	@scripts/setup.sh

page-script:
	@scripts/setup.sh node:nodejs
	@node Clients/JavaScript/scripts/build-classic.mjs

build: setup page-script ## Build daemon, command line and plugins for release, and the script for pages
	@scripts/quietly.sh swift build -c release

test: setup ## Run all tests; only failures and the last line are shown
	@scripts/quietly.sh swift build --build-tests
	@scripts/quietly.sh scripts/test-suite
	@scripts/quietly.sh swift test --package-path Examples/Greeter --scratch-path .build/examples --disable-xctest --quiet
	@scripts/quietly.sh swift test --package-path Examples/Clipboard --scratch-path .build/examples --disable-xctest --quiet
	@scripts/quietly.sh swift test --package-path Examples/Files --scratch-path .build/examples --disable-xctest --quiet
	@scripts/quietly.sh swift test --package-path Examples/Interceptors --scratch-path .build/examples --disable-xctest --quiet
	@scripts/test-clients
	@scripts/test-bridges
	@scripts/test-examples

web: ## Build trestle-web, the container of pages, for release, into Web/.build
	@scripts/setup.sh pkg-config:pkg-config libwebkitgtk-6.0-dev
	@scripts/quietly.sh swift build -c release --package-path Web --product trestle-web

demo-web: build web page-script ## Show a page that calls tasks; PICTURE=FILE writes a picture of it instead
	@scripts/setup.sh xvfb-run:xvfb
	@scripts/demo-web $(if $(PICTURE),--screenshot $(PICTURE))

deb-web: web ## Pack trestle-web as a Debian package, into .build/deb
	@scripts/setup.sh dpkg-shlibdeps:dpkg-dev lintian:lintian
	@scripts/deb-web

# Each test has a screen, a bus, a daemon, a container and the processes of its pages.
test-web: export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH = 3
test-web: setup page-script ## Run the tests of trestle-web, on a virtual screen
	@scripts/setup.sh pkg-config:pkg-config Xvfb:xvfb dbus-daemon:dbus-daemon libwebkitgtk-6.0-dev
	@scripts/quietly.sh swift build
	@scripts/quietly.sh swift build --package-path Web --product WebPackageTests
	@scripts/quietly.sh swift test --package-path Web --skip-build --disable-xctest --quiet

soak-web: build web page-script ## Crash, reload and navigate pages that call endlessly; TIME=10m, SEED=
	@scripts/setup.sh Xvfb:xvfb
	@python3 Web/Measuring/soak.py --time $(or $(TIME),10m) $(if $(SEED),--seed $(SEED))

bench-web: build web ## Measure calls of pages beside WebKitGTK alone; BENCH='--rounds 5' passes options
	@scripts/setup.sh Xvfb:xvfb pkg-config:pkg-config cc:gcc
	@python3 Web/Measuring/bench.py $(BENCH)

demo: build ## Run a daemon and clients, end to end, and print every message
	@scripts/demo

run: build ## Run the daemon in the foreground, on a socket of its own
	@scripts/run.sh

bench: build ## Measure the cost of calls; BENCH='--only echo' passes options
	@scripts/quietly.sh swift build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench $(BENCH)

bench-check: ## Measure, and fail if a limit is not met; as root with priority over all else on the machine
	@$(MAKE) --no-print-directory bench BENCH='--check $(if $(filter 0,$(shell id -u)),--first) $(BENCH)'

soak: build ## Run clients of every kind while the daemon is crashed, reloaded and restarted; TIME=1m, SEED=
	@python3 Tests/Soak/main.py --time $(or $(TIME),1m) $(if $(SEED),--seed $(SEED))

test-soak: build ## Test that the soak reports broken promises
	@cd Tests/Soak && python3 -W error -m unittest

test-leaks: build ## Compare valgrind's counts after some cycles with those after five times as many; CYCLES=10
	@scripts/setup.sh valgrind:valgrind
	@python3 Tests/Soak/leaks.py $(if $(CYCLES),--cycles $(CYCLES))

test-sanitize: setup ## Run all tests under sanitizers; SANITIZER=thread, FILTER=
	@scripts/test-sanitize $(SANITIZER)

fuzz: setup ## Fuzz for TIME=60 seconds each; TARGET=messages: one target
	@scripts/fuzz $(or $(TIME),60) $(or $(TARGET),messages runtime streams process configuration query package setcookie cookiefile cachecontrol cost)

install: ## Install what `make build` built; PREFIX=/usr/local, DESTDIR=
	@scripts/install

uninstall: ## Remove what `make install` installed, but no state and no changed configuration
	@scripts/uninstall

test-install: build ## Install into a folder, run from there, remove again
	@scripts/test-install

deb: build ## Pack a Debian package, into .build/deb
	@scripts/setup.sh dpkg-shlibdeps:dpkg-dev lintian:lintian
	@scripts/deb

test-service: build ## Test the package in a container with a real systemd (as root)
	@scripts/test-service

test-kiosk: build web ## Test the kiosk's unit in a container with a real systemd (as root)
	@scripts/setup.sh dpkg-shlibdeps:dpkg-dev
	@scripts/test-service --kiosk

newcomer: build ## Test the steps of a new user: commands of the pages, installation, package
	@scripts/newcomer

test-faults: build ## Test failing disks, kill -9, clocks, lack of descriptors, other users (as root)
	@scripts/test-faults

format: ## Format all Swift code
	@swift format --in-place --parallel --recursive $(SWIFT_FILES)

generate: ## Write sample, schema and reference of the configuration
	@scripts/quietly.sh swift build
	@scripts/generate.sh

docs: setup ## Write the pages and the Swift reference as HTML to .build/docs
	@scripts/setup.sh cmark-gfm:cmark-gfm
	@scripts/quietly.sh swift build
	@scripts/docs

lint: ## Check the format of all Swift code
	@swift format lint --strict --parallel --recursive $(SWIFT_FILES)
