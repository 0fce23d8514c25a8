# Three commands to begin with: make run, make quick, make test.

# The toolchain is the one that go.mod names, fetched where it is not here, whatever
# the environment says; make GOTOOLCHAIN=local overrides it.
export GOTOOLCHAIN := auto
# The program has no C in it. Only the race detector needs cgo.
export CGO_ENABLED := 0

ARGS ?=
FUZZTIME ?= 10s
PACKAGES ?=
# Nodes that are killed and cut off have leases to keep: nothing else runs meanwhile.
CLUSTER = ./lab/clustertest
# What runs many goroutines over shared state.
RACE ?= $(addprefix ./protocol/,xmlrpc/... soap/... rsscloud/... websub/... weblogs/... cnws/...) \
	./internal/event/... ./internal/fetch/... ./internal/hub/... ./internal/limit/... ./internal/lease/... ./internal/cache/... ./internal/live/... ./internal/upstream/... ./internal/store/... ./internal/endpoint/... ./internal/sanitize/... ./internal/cli ./internal/cli/shell ./internal/cli/formatcli ./internal/cli/hubcli ./internal/cli/readcli \
	./internal/river/... ./internal/serve/... ./internal/syndicate/... ./internal/account/... ./internal/author/... ./internal/announce/...
# The embedded database is C that was translated, with locks of its own: watching each of
# its loads finds nothing and takes most of the time. What calls it is watched. (No debugger
# reads these programs: what would be for one is not written.)
RACE_FLAGS = -race -gcflags=all=-dwarf=false -gcflags='modernc.org/sqlite/lib=-race=false -dwarf=false' -gcflags='modernc.org/libc/...=-race=false -dwarf=false'
# Many tests build the program and start it, which go test does not see: no answer of an
# earlier run counts.
TEST_FLAGS ?= -timeout 60m -count 1
# What only reads and compiles takes a quarter less time where it seldom collects its garbage.
TOOLS = GOGC=400 GOMEMLIMIT=2500MiB
STATICCHECK = go tool -modfile=packaging/tools/go.mod staticcheck
LOOPBACK = 127.0.0.0/8,::1/128

.PHONY: help run build setup quick test test-packages test-all test-cluster format race fuzz bench lint cross reproduce check clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build and start a server to try, on http://127.0.0.1:5337, its store in ./data (more flags: ARGS=…)
	exec bin/cloudburst serve --listen 127.0.0.1:5337 --data data \
		--egress.allow-fetch $(LOOPBACK) --egress.allow-callback $(LOOPBACK) $(ARGS)

build: ## bin/cloudburst, and bin/cloudburst-lab, which measures it
	packaging/build.sh bin/cloudburst
	packaging/build.sh bin/cloudburst-lab ./cmd/cloudburst-lab

setup: ## install what the tests need, where it is missing (Debian; root or sudo)
	@packaging/setup-tests.sh

quick: format ## gofmt, go vet and the short tests, without services: after each change
	$(TOOLS) go vet ./...
	go test -short -vet=off -ldflags=-w ./...

test: setup ## every test, or those of PACKAGES, with a PostgreSQL server that runs as long as they do
	packaging/with-postgres.sh $(MAKE) --no-print-directory -k $(if $(PACKAGES),test-packages,test-all test-cluster)

test-packages:
	go test $(TEST_FLAGS) $(PACKAGES)
test-all:
	go test $(TEST_FLAGS) $$(go list ./... | grep -vxF "$$(go list $(CLUSTER))")
test-cluster:
	go test $(TEST_FLAGS) $(CLUSTER)

# Tests that have much data and one goroutine skip themselves under the race detector, and tests
# of many goroutines have fewer of them (internal/fulltest). test-all runs both in full.
race: setup ## the core's tests under the race detector
	$(TOOLS) CGO_ENABLED=1 go build $(RACE_FLAGS) $(RACE)
	CGO_ENABLED=1 packaging/with-postgres.sh go test $(RACE_FLAGS) $(TEST_FLAGS) $(RACE)

fuzz: ## every fuzz target for FUZZTIME each
	@packaging/fuzz.sh $(FUZZTIME)

bench: build ## the benchmarks, on this machine's loopback only
	go test -run '^$$' -bench . -benchmem $(or $(PACKAGES),./...)
	bin/cloudburst-lab bench fanout
	bin/cloudburst-lab bench fanout --via websub --size 2000
	bin/cloudburst-lab bench changes
	bin/cloudburst-lab bench ping
	bin/cloudburst-lab bench slow

format:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi

lint: format ## gofmt, go vet, staticcheck, import rule, citations, commit subjects
	$(TOOLS) go vet ./...
	$(TOOLS) $(STATICCHECK) ./...
	go test $(TEST_FLAGS) . ./spec
	packaging/subjects.sh

cross: ## does it build for the other systems that it runs on? (lint checks the types for them)
	GOOS=linux GOARCH=arm64 go build -o /dev/null ./cmd/cloudburst
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/cloudburst

reproduce: ## do two builds in two folders come out the same?
	packaging/reproduce.sh

# lint has run go vet on all packages.
check: export TEST_FLAGS += -vet=off
check: ## everything that a change must pass; .ci/run is this on a bare machine
	$(MAKE) --no-print-directory lint
	$(TOOLS) $(MAKE) --no-print-directory build reproduce
	$(MAKE) --no-print-directory race
	@# Tests wait much, so fuzzing runs at the same time.
	FUZZ_WITHOUT=modernc.org/sqlite FUZZ_WORKERS=1 packaging/with-postgres.sh $(MAKE) --no-print-directory -j2 --output-sync=target fuzz test-all FUZZTIME=1s
	packaging/with-postgres.sh $(MAKE) --no-print-directory test-cluster

clean: ## remove bin/
	rm -rf bin
